#include "leat/store/copy_object.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "leat/base/hash.h"

namespace leat {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;

// Hands every byte of an object to `take`, in order; returns their crc32c.
Result<std::uint32_t> read_through(ObjectReader& reader, const Context& context,
                                   const std::function<Status(std::span<const std::byte>)>& take) {
  const std::uint64_t size_bytes = reader.info().size_bytes;
  std::vector<std::byte> buffer(std::min<std::uint64_t>(kPieceBytes, size_bytes));
  std::uint32_t crc = 0;
  for (std::uint64_t offset = 0; offset < size_bytes;) {
    RETURN_IF_ERROR(context.check());
    const std::uint64_t wanted = std::min<std::uint64_t>(buffer.size(), size_bytes - offset);
    ASSIGN_OR_RETURN(const std::size_t count,
                     reader.read_at(offset, std::span(buffer).first(wanted), context));
    if (count == 0) return Error(ErrorCode::kIoError, "the source ended early");
    const auto piece = std::span<const std::byte>(buffer).first(count);
    crc = crc32c(crc, piece);
    RETURN_IF_ERROR(take(piece));
    offset += count;
  }
  return crc;
}

CreateOptions create_options_for(const ObjectInfo& source, const ObjectStore& target,
                                 Durability durability) {
  CreateOptions options;
  options.expected_size_bytes = source.size_bytes;
  options.durability = durability;
  if (source.metadata && target.capabilities().metadata) options.metadata = *source.metadata;
  return options;
}

bool is_copy_of(const ObjectInfo& copy, std::uint64_t size_bytes,
                std::optional<std::uint32_t> crc) {
  const bool crc_differs = crc && copy.crc32c && *copy.crc32c != *crc;
  return copy.size_bytes == size_bytes && !crc_differs;
}

// What a target says of a fresh copy must be what was copied. A bad copy is removed: it would look
// unchanged to the next transfer.
Status check_copy(ObjectStore& target, std::string_view name, const ObjectInfo& copy,
                  std::uint64_t size_bytes, std::optional<std::uint32_t> crc,
                  const Context& context) {
  if (is_copy_of(copy, size_bytes, crc)) return ok_status();
  RemoveOptions remove_options;
  if (target.capabilities().preconditions) {
    remove_options.precondition = Precondition::has_etag(copy.etag);
  }
  std::string message = "the target stored other bytes than it was given";
  if (!target.remove(name, remove_options, context)) message += ", and they could not be removed";
  return Error(ErrorCode::kCorrupted, std::move(message));
}

Result<ObjectInfo> copy_between(ObjectReader& reader, ObjectStore& target,
                                std::string_view target_name, const CopyOptions& options,
                                const Context& context) {
  const ObjectInfo& info = reader.info();
  ASSIGN_OR_RETURN(
      const auto writer,
      target.create(target_name, create_options_for(info, target, options.durability), context));
  ASSIGN_OR_RETURN(const std::uint32_t crc,
                   read_through(reader, context, [&](std::span<const std::byte> piece) -> Status {
                     RETURN_IF_ERROR(writer->append(piece, context));
                     if (options.on_bytes) options.on_bytes(piece.size());
                     return ok_status();
                   }));
  if (info.crc32c && *info.crc32c != crc) {
    return Error(ErrorCode::kCorrupted, "the source's bytes do not match its checksum");
  }
  ASSIGN_OR_RETURN(ObjectInfo copy, writer->commit({}, context));
  RETURN_IF_ERROR(check_copy(target, target_name, copy, info.size_bytes, crc, context));
  return copy;
}

// Lets the store copy. Nothing when the source was replaced meanwhile: then nobody knows which of
// the two was copied.
Result<std::optional<ObjectInfo>> copy_within(ObjectStore& source, std::string_view source_name,
                                              ObjectStore& target, std::string_view target_name,
                                              const CopyOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const ObjectInfo info, source.stat(source_name, context));
  CreateOptions create_options;
  create_options.durability = options.durability;
  ASSIGN_OR_RETURN(ObjectInfo copy, target.copy(source_name, target_name, create_options, context));
  if (!is_copy_of(copy, info.size_bytes, info.crc32c)) {
    ASSIGN_OR_RETURN(const ObjectInfo now, source.stat(source_name, context));
    if (now.etag != info.etag) return std::optional<ObjectInfo>();
  }
  RETURN_IF_ERROR(check_copy(target, target_name, copy, info.size_bytes, info.crc32c, context));
  if (options.on_bytes) options.on_bytes(info.size_bytes);
  return std::optional(std::move(copy));
}

}  // namespace

bool is_same_store(const ObjectStore& a, const ObjectStore& b) {
  if (&a == &b) return true;
  return a.url() == b.url() && a.url().find("://") != std::string_view::npos;
}

Result<CopiedObject> copy_object(ObjectStore& source, std::string_view source_name,
                                 ObjectStore& target, std::string_view target_name,
                                 const CopyOptions& options, const Context& context) {
  CopiedObject copied;
  if (is_same_store(source, target)) {
    ASSIGN_OR_RETURN(auto copy,
                     copy_within(source, source_name, target, target_name, options, context));
    if (copy) {
      copied.info = *std::move(copy);
      return copied;
    }
  }
  // One that was replaced while it was read is read again: the copy is younger than the new
  // version, and would be taken for it from now on.
  constexpr int kAttempts = 3;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    ASSIGN_OR_RETURN(const auto reader, source.open(source_name, {}, context));
    const ObjectInfo& info = reader->info();
    copied.metadata_dropped =
        info.metadata && !info.metadata->empty() && !target.capabilities().metadata;
    ASSIGN_OR_RETURN(copied.info, copy_between(*reader, target, target_name, options, context));
    const auto now = source.stat(source_name, context);
    if (!now.ok() || now->etag == info.etag) return copied;
  }
  return Error(ErrorCode::kBusy,
               "it changes while it is read, again and again; copy it when it is at rest");
}

Result<std::uint32_t> read_crc32c(ObjectStore& store, std::string_view name,
                                  const Context& context) {
  ASSIGN_OR_RETURN(const auto reader, store.open(name, {}, context));
  return read_through(*reader, context, [](std::span<const std::byte>) { return ok_status(); });
}

}  // namespace leat
