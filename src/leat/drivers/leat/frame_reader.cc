#include "leat/drivers/leat/frame_reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "leat/wire/batch.h"

namespace leat::leat_driver {
namespace {

constexpr std::uint64_t kTrustedBytes = 1 << 20;  // allocated at once
constexpr std::uint64_t kMaxMessageBytes = 64 << 10;

Error malformed() {
  return Error(ErrorCode::kCorrupted, "the answer to the batch is malformed");
}

}  // namespace

Status FrameReader::begin(std::size_t item_count) {
  std::array<std::byte, wire::kFramesHeadBytes> head;
  RETURN_IF_ERROR(source_(head));
  ASSIGN_OR_RETURN(const std::size_t count, wire::parse_frames_head(head));
  return count == item_count ? ok_status() : malformed();
}

Status FrameReader::next(BatchRead& read) {
  std::array<std::byte, wire::kFrameBytes> head;
  RETURN_IF_ERROR(source_(head));
  ASSIGN_OR_RETURN(const wire::Frame frame, wire::parse_frame(head));
  return frame.error ? take_error(read, *frame.error, frame.length)
                     : take_bytes(read, frame.length);
}

Status FrameReader::take_error(BatchRead& read, ErrorCode code, std::uint64_t length) {
  if (length > kMaxMessageBytes) return malformed();
  std::string message(length, '\0');
  RETURN_IF_ERROR(source_(std::as_writable_bytes(std::span(message))));
  // A miss is normal; its message says no more than its code.
  read.result = message.empty() || message == error_traits(code).name
                    ? Error(code)
                    : Error(code, std::move(message));
  return ok_status();
}

Status FrameReader::take_bytes(BatchRead& read, std::uint64_t length) {
  if (length > read.range.length) return malformed();
  if (!read.target.empty()) {
    if (length > read.target.size()) return malformed();
    const auto target = read.target.first(static_cast<std::size_t>(length));
    RETURN_IF_ERROR(source_(target));
    read.result = Slice{target, nullptr};
    return ok_status();
  }
  if (length <= kTrustedBytes) {
    const auto size = static_cast<std::size_t>(length);
    auto bytes = std::make_shared_for_overwrite<std::byte[]>(size);
    RETURN_IF_ERROR(source_({bytes.get(), size}));
    const std::span<const std::byte> view(bytes.get(), size);
    read.result = Slice{view, std::move(bytes)};
    return ok_status();
  }
  auto bytes = std::make_shared<std::vector<std::byte>>();
  while (bytes->size() < length) {
    const std::size_t old = bytes->size();
    const std::uint64_t step = std::max<std::uint64_t>(kTrustedBytes, old);
    bytes->resize(old + static_cast<std::size_t>(std::min(step, length - old)));
    RETURN_IF_ERROR(source_(std::span(*bytes).subspan(old)));
  }
  const std::span<const std::byte> view(*bytes);
  read.result = Slice{view, std::move(bytes)};
  return ok_status();
}

}  // namespace leat::leat_driver
