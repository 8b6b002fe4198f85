#include "leat/wire/batch.h"

#include <bit>
#include <cstring>

namespace leat::wire {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kListMagic = "LEATBRQ1";
constexpr std::string_view kFramesMagic = "LEATBAN1";
constexpr std::size_t kListHeadBytes = 16;
constexpr std::size_t kItemBytes = 20;  // before the name

template <typename T>
T load(const char* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <typename T>
void append(std::string& target, T value) {
  target.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

Error malformed() {
  return Error(ErrorCode::kInvalidArgument, "the list of the batch is malformed");
}

// Takes the buckets off the front of `rest`.
Status take_buckets(std::string_view& rest, std::size_t count, BatchList& list) {
  if (count > kMaxBatchBuckets) return Error(ErrorCode::kTooLarge, "too many buckets in a batch");
  for (std::size_t i = 0; i < count; ++i) {
    if (rest.empty()) return malformed();
    const std::size_t length = static_cast<unsigned char>(rest.front());
    if (rest.size() < 1 + length) return malformed();
    list.buckets.push_back(rest.substr(1, length));
    rest.remove_prefix(1 + length);
  }
  return ok_status();
}

}  // namespace

Result<BatchList> parse_batch_list(std::string_view bytes) {
  if (bytes.size() > kMaxBatchBytes) return Error(ErrorCode::kTooLarge, "the batch is too long");
  if (bytes.size() < kListHeadBytes || !bytes.starts_with(kListMagic)) return malformed();
  const std::size_t count = load<std::uint32_t>(bytes.data() + 8);
  const std::size_t bucket_count = load<std::uint32_t>(bytes.data() + 12);
  if (count > kMaxBatchItems) return Error(ErrorCode::kTooLarge, "too many items in a batch");
  BatchList list;
  std::string_view rest = bytes.substr(kListHeadBytes);
  RETURN_IF_ERROR(take_buckets(rest, bucket_count, list));
  if (rest.size() / kItemBytes < count) return malformed();
  list.items.resize(count);
  for (BatchItem& item : list.items) {
    if (rest.size() < kItemBytes) return malformed();
    item.bucket = load<std::uint16_t>(rest.data());
    const std::size_t length = load<std::uint16_t>(rest.data() + 2);
    item.range.offset = load<std::uint64_t>(rest.data() + 4);
    item.range.length = load<std::uint64_t>(rest.data() + 12);
    if (item.bucket >= bucket_count || rest.size() - kItemBytes < length) return malformed();
    item.name = rest.substr(kItemBytes, length);
    rest.remove_prefix(kItemBytes + length);
  }
  if (!rest.empty()) return malformed();
  return list;
}

void begin_batch_list(std::string& target, std::size_t item_count,
                      std::span<const std::string_view> buckets) {
  target += kListMagic;
  append(target, static_cast<std::uint32_t>(item_count));
  append(target, static_cast<std::uint32_t>(buckets.size()));
  for (const std::string_view bucket : buckets) {
    append(target, static_cast<std::uint8_t>(bucket.size()));
    target += bucket;
  }
}

void append_batch_item(std::string& target, const BatchItem& item) {
  append(target, item.bucket);
  append(target, static_cast<std::uint16_t>(item.name.size()));
  append(target, item.range.offset);
  append(target, item.range.length);
  target += item.name;
}

void append_frames_head(std::string& target, std::size_t item_count) {
  target += kFramesMagic;
  append(target, static_cast<std::uint32_t>(item_count));
  append(target, std::uint32_t{0});
}

void append_frame_head(std::string& target, std::uint64_t length) {
  append(target, std::uint64_t{0});
  append(target, length);
}

void append_frame(std::string& target, std::span<const std::byte> bytes) {
  append_frame_head(target, bytes.size());
  target.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void append_error_frame(std::string& target, ErrorCode code, std::string_view message) {
  append(target, std::uint64_t{1} + static_cast<std::uint64_t>(code));
  append(target, static_cast<std::uint64_t>(message.size()));
  target += message;
}

Result<std::size_t> parse_frames_head(std::span<const std::byte, kFramesHeadBytes> bytes) {
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  if (std::string_view(text, kFramesMagic.size()) != kFramesMagic) {
    return Error(ErrorCode::kCorrupted, "the answer to the batch is malformed");
  }
  return load<std::uint32_t>(text + 8);
}

Result<Frame> parse_frame(std::span<const std::byte, kFrameBytes> bytes) {
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  const auto status = load<std::uint64_t>(text);
  if (status > kErrorCodeCount) {
    return Error(ErrorCode::kCorrupted, "the answer to the batch is malformed");
  }
  Frame frame;
  frame.length = load<std::uint64_t>(text + 8);
  if (status > 0) frame.error = static_cast<ErrorCode>(status - 1);
  return frame;
}

}  // namespace leat::wire
