#include "leat/store/object_store.h"

#include <algorithm>
#include <cstring>

namespace leat {
namespace {

constexpr std::size_t kCopyBufferBytes = 1 << 20;

Result<Slice> read_one(ObjectStore& store, const BatchRead& read, const Context& context) {
  ASSIGN_OR_RETURN(auto reader, store.open(read.name, {}, context));
  const ByteRange range = read.wanted_of(reader->info().size_bytes);
  if (!read.target.empty()) {
    ASSIGN_OR_RETURN(auto count,
                     reader->read_at(range.offset, read.target.first(range.length), context));
    return Slice{read.target.first(count), nullptr};
  }
  auto bytes = std::make_shared<std::vector<std::byte>>(range.length);
  ASSIGN_OR_RETURN(auto count, reader->read_at(range.offset, *bytes, context));
  const std::span<const std::byte> view(bytes->data(), count);
  return Slice{view, std::move(bytes)};
}

}  // namespace

Result<std::vector<LocalExtent>> ObjectReader::local_extents(ByteRange, const Context&) {
  return ErrorCode::kUnsupported;
}

Status Precondition::check(const ObjectInfo* current) const {
  switch (kind) {
    case Kind::kNone:
      return ok_status();
    case Kind::kAbsent:
      if (current == nullptr) return ok_status();
      return Error(ErrorCode::kPreconditionFailed, "the object exists already");
    case Kind::kPresent:
      if (current != nullptr) return ok_status();
      return Error(ErrorCode::kPreconditionFailed, "the object does not exist");
    case Kind::kEtag:
      if (current != nullptr && current->etag == etag) return ok_status();
      return Error(
          ErrorCode::kPreconditionFailed,
          "the object's etag is " + (current ? current->etag : "absent") + ", not " + etag);
    case Kind::kGeneration:
      if (current != nullptr && current->generation == generation) return ok_status();
      return Error(ErrorCode::kPreconditionFailed,
                   "the object's generation is not " + std::to_string(generation));
  }
  return ErrorCode::kInvalidArgument;
}

ByteRange BatchRead::wanted_of(std::uint64_t size_bytes) const noexcept {
  ByteRange wanted = range.within(size_bytes);
  if (!target.empty()) wanted.length = std::min<std::uint64_t>(wanted.length, target.size());
  return wanted;
}

void BatchRead::deliver(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  if (target.empty()) {
    result = Slice{bytes, std::move(owner)};
    return;
  }
  if (!bytes.empty()) std::memcpy(target.data(), bytes.data(), bytes.size());
  result = Slice{target.first(bytes.size()), nullptr};
}

std::optional<std::span<const std::byte>> ObjectStore::read_now(std::string_view /*name*/,
                                                                std::span<std::byte> /*space*/,
                                                                ObjectInfo& /*info*/) {
  return std::nullopt;
}

bool ObjectStore::read_batch_now(std::span<BatchRead> reads) {
  for (BatchRead& read : reads) read.result = ErrorCode::kCancelled;
  return reads.empty();
}

std::shared_ptr<ObjectReader> ObjectStore::open_now(std::string_view /*name*/) {
  return nullptr;
}

bool ObjectReader::local_extents_now(ByteRange /*range*/, std::vector<LocalExtent>& /*extents*/) {
  return false;
}

std::vector<std::string> ObjectStore::directories(std::string_view /*prefix*/) const {
  return {};
}

void ObjectStore::read_batch(std::span<BatchRead> reads, const Context& context) {
  for (BatchRead& read : reads) {
    if (auto status = context.check(); !status.ok()) {
      read.result = std::move(status).error();
    } else {
      read.result = read_one(*this, read, context);
    }
  }
}

Result<ObjectInfo> ObjectStore::copy(std::string_view source, std::string_view target,
                                     const CreateOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(auto reader, open(source, {}, context));
  CreateOptions create_options = options;
  create_options.expected_size_bytes = reader->info().size_bytes;
  if (options.metadata.empty() && reader->info().metadata) {
    create_options.metadata = *reader->info().metadata;
  }
  ASSIGN_OR_RETURN(auto writer, create(target, create_options, context));
  RETURN_IF_ERROR(read_pieces(
      *reader, {}, [&](std::span<const std::byte> piece) { return writer->append(piece, context); },
      context));
  return writer->commit({}, context);
}

Result<std::vector<std::byte>> read_object(ObjectStore& store, std::string_view name,
                                           const Context& context) {
  ASSIGN_OR_RETURN(auto reader, store.open(name, {}, context));
  std::vector<std::byte> bytes(reader->info().size_bytes);
  ASSIGN_OR_RETURN(auto count, reader->read_at(0, bytes, context));
  bytes.resize(count);
  return bytes;
}

Status read_pieces(ObjectReader& reader, ByteRange range,
                   const std::function<Status(std::span<const std::byte>)>& take,
                   const Context& context) {
  range = range.within(reader.info().size_bytes);
  std::vector<std::byte> buffer(std::min<std::uint64_t>(kCopyBufferBytes, range.length));
  while (range.length > 0) {
    const auto piece =
        std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), range.length));
    ASSIGN_OR_RETURN(const auto count, reader.read_at(range.offset, piece, context));
    if (count == 0) return Error(ErrorCode::kIoError, "the object ended early");
    RETURN_IF_ERROR(take(piece.first(count)));
    range.offset += count;
    range.length -= count;
  }
  return ok_status();
}

Result<ObjectInfo> write_object(ObjectStore& store, std::string_view name,
                                std::span<const std::byte> bytes, const CreateOptions& options,
                                const Context& context) {
  CreateOptions create_options = options;
  create_options.expected_size_bytes = bytes.size();
  ASSIGN_OR_RETURN(auto writer, store.create(name, create_options, context));
  RETURN_IF_ERROR(writer->append(bytes, context));
  return writer->commit({}, context);
}

Status check_name(std::string_view name, std::size_t max_name_bytes) {
  if (name.empty()) return Error(ErrorCode::kInvalidArgument, "the name is empty");
  if (name.size() > max_name_bytes) {
    return Error(ErrorCode::kInvalidArgument, "the name has " + std::to_string(name.size()) +
                                                  " bytes; at most " +
                                                  std::to_string(max_name_bytes) + " are allowed");
  }
  if (name.find('\0') != std::string_view::npos) {
    return Error(ErrorCode::kInvalidArgument, "the name holds a NUL byte");
  }
  return ok_status();
}

}  // namespace leat
