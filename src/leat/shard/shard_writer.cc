#include "leat/shard/shard_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "leat/shard/pax.h"
#include "leat/shard/tar_header.h"

namespace leat {
namespace {

constexpr std::size_t kWriteBufferBytes = 1 << 20;
// What a tar that knows no pax would call the extended header.
constexpr std::string_view kPaxMemberName = "PaxHeaders/path";
constexpr std::array<std::byte, kShardEndBytes> kZeros{};

std::string pax_path(std::string_view name) {
  std::string record;
  append_pax_record(record, "path", name);
  return record;
}

}  // namespace

ShardWriter::ShardWriter(std::unique_ptr<ObjectWriter> target)
    : target_(std::move(target)), buffer_(kWriteBufferBytes) {}

template <typename Operation>
Status ShardWriter::remember(Operation operation) {
  if (failure_) return *failure_;
  Status status = operation();
  if (!status.ok()) failure_ = status.error();
  return status;
}

Status ShardWriter::add(const ShardEntry& entry, std::span<const std::byte> bytes,
                        const Context& context) {
  RETURN_IF_ERROR(check_member_name(entry.name));
  return remember([&]() -> Status {
    RETURN_IF_ERROR(write_headers(entry, bytes.size(), context));
    RETURN_IF_ERROR(write(bytes, context));
    return write_padding(bytes.size(), context);
  });
}

Status ShardWriter::add(const ShardEntry& entry, ObjectReader& source, const Context& context) {
  RETURN_IF_ERROR(check_member_name(entry.name));
  return remember([&]() -> Status {
    RETURN_IF_ERROR(write_headers(entry, source.info().size_bytes, context));
    RETURN_IF_ERROR(write_from(source, context));
    return write_padding(source.info().size_bytes, context);
  });
}

Result<ObjectInfo> ShardWriter::finish(const Context& context) {
  Status ended = remember([&]() -> Status {
    RETURN_IF_ERROR(write(kZeros, context));
    return flush(context);
  });
  if (!ended.ok()) return std::move(ended).error();
  return target_->commit({}, context);
}

Status ShardWriter::write_headers(const ShardEntry& entry, std::uint64_t member_bytes,
                                  const Context& context) {
  RETURN_IF_ERROR(context.check());
  std::array<std::byte, kTarBlockBytes> block;
  TarHeader header;
  const auto split = split_name(entry.name);
  if (!split) {
    const std::string record = pax_path(entry.name);
    header.name = kPaxMemberName;
    header.size_bytes = record.size();
    header.type = TarType::kPaxHeader;
    format_header(block, header);
    finish_checksum(block);
    RETURN_IF_ERROR(write(block, context));
    RETURN_IF_ERROR(write(std::as_bytes(std::span(record)), context));
    RETURN_IF_ERROR(write_padding(record.size(), context));
  }
  header = TarHeader{};
  header.name = split ? split->name : entry.name;
  header.prefix = split ? split->prefix : std::string_view();
  header.size_bytes = member_bytes;
  header.mtime_s = entry.mtime_s;
  header.mode = entry.mode;
  format_header(block, header);
  finish_checksum(block);
  return write(block, context);
}

Status ShardWriter::write(std::span<const std::byte> bytes, const Context& context) {
  size_bytes_ += bytes.size();
  if (bytes.size() > buffer_.size() - buffer_fill_) RETURN_IF_ERROR(flush(context));
  if (bytes.size() >= buffer_.size()) return target_->append(bytes, context);
  if (!bytes.empty()) std::memcpy(buffer_.data() + buffer_fill_, bytes.data(), bytes.size());
  buffer_fill_ += bytes.size();
  return ok_status();
}

Status ShardWriter::write_from(ObjectReader& source, const Context& context) {
  const std::uint64_t total = source.info().size_bytes;
  for (std::uint64_t offset = 0; offset < total;) {
    RETURN_IF_ERROR(context.check());
    if (buffer_fill_ == buffer_.size()) RETURN_IF_ERROR(flush(context));
    const std::span<std::byte> free = std::span(buffer_).subspan(buffer_fill_);
    const auto wanted = free.first(std::min<std::uint64_t>(free.size(), total - offset));
    auto count = source.read_at(offset, wanted, context);
    source_failed_ = !count.ok() || *count < wanted.size();
    if (!count.ok()) return std::move(count).error();
    if (source_failed_) {
      return Error(ErrorCode::kCorrupted,
                   fmt::format("the source ended at byte {} of {}", offset + *count, total));
    }
    buffer_fill_ += *count;
    size_bytes_ += *count;
    offset += *count;
  }
  return ok_status();
}

Status ShardWriter::write_padding(std::uint64_t member_bytes, const Context& context) {
  return write(std::span(kZeros).first(padded_size(member_bytes) - member_bytes), context);
}

Status ShardWriter::flush(const Context& context) {
  if (buffer_fill_ == 0) return ok_status();
  RETURN_IF_ERROR(target_->append(std::span(buffer_).first(buffer_fill_), context));
  buffer_fill_ = 0;
  return ok_status();
}

Status check_member_name(std::string_view name) {
  if (name.empty() || name.find('\0') != std::string_view::npos) {
    return Error(ErrorCode::kInvalidArgument, "a member of a shard needs a name without NUL bytes");
  }
  if (name.ends_with('/')) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: a tar takes a name that ends in '/' for a directory", name));
  }
  return ok_status();
}

std::uint64_t shard_member_bytes(std::string_view name, std::uint64_t size_bytes) {
  const std::uint64_t member = kTarBlockBytes + padded_size(size_bytes);
  if (split_name(name)) return member;
  return member + kTarBlockBytes + padded_size(pax_path(name).size());
}

}  // namespace leat
