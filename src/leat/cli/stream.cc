#include "leat/cli/stream.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "leat/base/hash.h"

namespace leat::cli {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;
// What a pipe that reports room for writing takes without blocking.
constexpr std::size_t kPipeBytes = 4096;
constexpr int kStepMs = 50;

Status wait_for(int descriptor, short event, const Context& context) {
  for (;;) {
    RETURN_IF_ERROR(context.check());
    pollfd events{descriptor, event, 0};
    const int ready = poll(&events, 1, kStepMs);
    if (ready > 0) return ok_status();
    if (ready < 0 && errno != EINTR) return Error::from_errno(errno, "poll");
  }
}

Status write_all(int descriptor, std::span<const std::byte> bytes, const Context& context) {
  const bool is_pipe = lseek(descriptor, 0, SEEK_CUR) < 0;
  while (!bytes.empty()) {
    RETURN_IF_ERROR(wait_for(descriptor, POLLOUT, context));
    const std::size_t count = is_pipe ? std::min(bytes.size(), kPipeBytes) : bytes.size();
    const ssize_t written = write(descriptor, bytes.data(), count);
    if (written < 0 && errno != EINTR && errno != EAGAIN) {
      return Error::from_errno(errno, "write to standard output");
    }
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return ok_status();
}

// Bytes that were there; 0 at the end.
Result<std::size_t> read_some(int descriptor, std::span<std::byte> target, const Context& context) {
  for (;;) {
    RETURN_IF_ERROR(wait_for(descriptor, POLLIN, context));
    const ssize_t count = read(descriptor, target.data(), target.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR && errno != EAGAIN) {
      return Error::from_errno(errno, "read standard input");
    }
  }
}

}  // namespace

Result<ObjectInfo> write_from_descriptor(int descriptor, ObjectStore& store, std::string_view name,
                                         const CreateOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const auto writer, store.create(name, options, context));
  std::vector<std::byte> buffer(kPieceBytes);
  std::uint32_t crc = 0;
  for (;;) {
    ASSIGN_OR_RETURN(const std::size_t count, read_some(descriptor, buffer, context));
    if (count == 0) break;
    const auto piece = std::span<const std::byte>(buffer).first(count);
    crc = crc32c(crc, piece);
    RETURN_IF_ERROR(writer->append(piece, context));
  }
  ASSIGN_OR_RETURN(ObjectInfo info, writer->commit({}, context));
  if (info.crc32c && *info.crc32c != crc) {
    return Error(ErrorCode::kCorrupted, "the store holds other bytes than it was given");
  }
  return info;
}

Status read_to_descriptor(ObjectReader& reader, int descriptor, const Context& context) {
  const ObjectInfo& info = reader.info();
  std::vector<std::byte> buffer(std::min<std::uint64_t>(kPieceBytes, info.size_bytes));
  std::uint32_t crc = 0;
  for (std::uint64_t offset = 0; offset < info.size_bytes;) {
    ASSIGN_OR_RETURN(const std::size_t count, reader.read_at(offset, buffer, context));
    if (count == 0) return Error(ErrorCode::kIoError, "the object ended early");
    const auto piece = std::span<const std::byte>(buffer).first(count);
    crc = crc32c(crc, piece);
    RETURN_IF_ERROR(write_all(descriptor, piece, context));
    offset += count;
  }
  if (info.crc32c && *info.crc32c != crc) {
    return Error(ErrorCode::kCorrupted, "the bytes do not match the object's checksum");
  }
  return ok_status();
}

}  // namespace leat::cli
