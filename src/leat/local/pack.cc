#include "leat/local/pack.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "leat/base/hash.h"
#include "leat/local/layout.h"

namespace leat::local {
namespace {

constexpr std::uint64_t kWindowBytes = 256 << 10;
constexpr std::string_view kPackSuffix = ".tar";

// A moving window over a pack, so that a walk costs few reads.
class Window {
 public:
  Window(const Pack& pack, std::uint64_t size_bytes) : pack_(pack), size_bytes_(size_bytes) {}

  // The bytes from `offset` on: `length` of them, fewer only at the end of the file.
  Result<std::span<const std::byte>> view(std::uint64_t offset, std::uint64_t length) {
    if (offset >= size_bytes_) return std::span<const std::byte>();
    length = std::min(length, size_bytes_ - offset);
    if (offset < start_ || offset + length > start_ + bytes_.size()) {
      bytes_.resize(std::min(std::max(length, kWindowBytes), size_bytes_ - offset));
      start_ = offset;
      ASSIGN_OR_RETURN(auto count, pack_.file().read_at(offset, bytes_));
      bytes_.resize(count);
      length = std::min<std::uint64_t>(length, count);
    }
    return std::span<const std::byte>(bytes_).subspan(offset - start_, length);
  }

 private:
  const Pack& pack_;
  const std::uint64_t size_bytes_;
  std::uint64_t start_ = 0;
  std::vector<std::byte> bytes_;
};

Result<Pack::Head> read_head_at(const Pack& pack, Window& window, std::uint64_t offset) {
  ASSIGN_OR_RETURN(auto block, window.view(offset, kBlockBytes));
  if (block.size() < kBlockBytes) return ErrorCode::kNotFound;
  ASSIGN_OR_RETURN(auto shape,
                   parse_shape(ConstTarBlock(block.data(), kBlockBytes), pack.position(offset)));
  ASSIGN_OR_RETURN(auto bytes, window.view(offset, shape.head_bytes));
  Pack::Head head;
  head.head_bytes = shape.head_bytes;
  head.durable_block = shape.durable_block;
  ASSIGN_OR_RETURN(head.record, parse_record(bytes, pack.position(offset), &head.length_bytes));
  return head;
}

struct Resume {
  std::uint64_t offset = 0;  // of the next readable header
  bool was_durable = false;  // a record after it proves that the unreadable one was durable
};

// Looks for a readable header after `lost`; nothing when there is none.
Result<std::optional<Resume>> find_next(const Pack& pack, Window& window, std::uint64_t lost,
                                        std::uint64_t size_bytes) {
  std::optional<Resume> found;
  for (std::uint64_t at = lost + kBlockBytes; at + kBlockBytes <= size_bytes; at += kBlockBytes) {
    ASSIGN_OR_RETURN(auto block, window.view(at, kBlockBytes));
    if (block.size() < kBlockBytes) break;
    const auto stamp = parse_stamp(ConstTarBlock(block.data(), kBlockBytes), pack.position(at));
    if (!stamp.ok()) continue;
    if (!found && !stamp->is_extended) found = Resume{at, false};
    if (found && stamp->durable_block * kBlockBytes > lost) {
      found->was_durable = true;
      break;
    }
  }
  return found;
}

}  // namespace

std::string pack_path(std::uint32_t id) {
  return fmt::format("{}/{:08x}{}", kPackDirectory, id, kPackSuffix);
}

std::optional<std::uint32_t> pack_id_of(std::string_view file_name) {
  std::uint32_t id = 0;
  if (file_name.size() != 8 + kPackSuffix.size() || !file_name.ends_with(kPackSuffix)) return {};
  for (const char c : file_name.substr(0, 8)) {
    const std::size_t digit = std::string_view("0123456789abcdef").find(c);
    if (digit == std::string_view::npos) return {};
    id = id << 4 | static_cast<std::uint32_t>(digit);
  }
  if (id == 0 || id > kMaxPacks) return {};
  return id;
}

Pack::~Pack() {
  MutexLock lock(mutex_);
  for (const Mapping& old : mappings_) munmap(const_cast<std::byte*>(old.data), old.length);
}

Pack::Mapping Pack::mapping(std::uint64_t at_least_bytes) {
  // The address is stored before the length, so a length that is seen has its address.
  if (const std::uint64_t length = mapped_bytes_.load(std::memory_order_acquire);
      length >= at_least_bytes && length > 0) {
    return {mapped_.load(std::memory_order_relaxed), length};
  }
  if (file_->descriptor() < 0) return {};
  MutexLock lock(mutex_);
  if (!mappings_.empty() && mappings_.back().length >= at_least_bytes) return mappings_.back();
  const auto status = file_->status();
  if (!status.ok() || status->size_bytes < at_least_bytes) return {};
  // Past the end of a pack that still grows, so that it is mapped a few times and not at each step.
  const std::uint64_t length = std::bit_ceil(status->size_bytes);
  void* address = mmap(nullptr, length, PROT_READ, MAP_SHARED, file_->descriptor(), 0);
  if (address == MAP_FAILED) return {};
  // Reads are random: what the kernel would read around a fault is not wanted.
  (void)madvise(address, length, MADV_RANDOM);
  mappings_.push_back({static_cast<const std::byte*>(address), length});
  mapped_.store(mappings_.back().data, std::memory_order_relaxed);
  mapped_bytes_.store(mappings_.back().length, std::memory_order_release);
  return mappings_.back();
}

Result<Pack::Head> Pack::read_head(std::uint64_t offset) const {
  std::vector<std::byte> bytes(kBlockBytes);
  ASSIGN_OR_RETURN(auto count, file_->read_at(offset, bytes));
  if (count < kBlockBytes)
    return Error(ErrorCode::kCorrupted, "a record lies past the end of its pack");
  auto shape = parse_shape(ConstTarBlock(bytes.data(), kBlockBytes), position(offset));
  if (!shape.ok()) {
    if (shape.failed_with(ErrorCode::kNotFound)) {
      return Error(ErrorCode::kCorrupted, "zeros where a record should be");
    }
    return std::move(shape).error();
  }
  if (shape->head_bytes > kBlockBytes) {
    bytes.resize(shape->head_bytes);
    ASSIGN_OR_RETURN(count, file_->read_at(offset, bytes));
    bytes.resize(count);
  }
  Head head;
  head.head_bytes = shape->head_bytes;
  head.durable_block = shape->durable_block;
  ASSIGN_OR_RETURN(head.record, parse_record(bytes, position(offset), &head.length_bytes));
  return head;
}

Result<std::vector<std::byte>> Pack::read_whole(std::uint64_t offset, const Head& head) const {
  if (head.length_bytes > kMaxPackBytes) {
    return Error(ErrorCode::kCorrupted, "a record is longer than any pack");
  }
  std::vector<std::byte> bytes(head.length_bytes);
  ASSIGN_OR_RETURN(auto count, file_->read_at(offset, bytes));
  if (count != bytes.size()) return Error(ErrorCode::kCorrupted, "a record is cut short");
  if (head.record.kind == RecordKind::kObject) {
    const auto data = std::span(bytes).subspan(head.head_bytes, head.record.size_bytes);
    if (crc32c(0, data) != head.record.crc32c) {
      return Error(ErrorCode::kCorrupted, "the checksum of the bytes is wrong");
    }
  }
  return bytes;
}

Result<std::uint64_t> walk_pack(const Pack& pack, std::uint64_t from_bytes,
                                std::uint64_t durable_bytes, const PackWalk& walk) {
  ASSIGN_OR_RETURN(auto status, pack.file().status());
  const std::uint64_t size_bytes = status.size_bytes;
  Window window(pack, size_bytes);
  std::uint64_t at = from_bytes;
  for (;;) {
    auto head = read_head_at(pack, window, at);
    if (head.ok()) {
      RETURN_IF_ERROR(walk.record(at, *head));
      at += head->length_bytes;
      continue;
    }
    if (head.error().code() != ErrorCode::kCorrupted &&
        head.error().code() != ErrorCode::kNotFound) {
      return std::move(head).error();  // the disk does not answer: no time for conclusions
    }
    ASSIGN_OR_RETURN(auto next, find_next(pack, window, at, size_bytes));
    const bool was_durable = at < durable_bytes || (next && next->was_durable);
    if (!was_durable) return at;
    const std::uint64_t resume = next ? next->offset : std::max(at + kBlockBytes, durable_bytes);
    RETURN_IF_ERROR(walk.damage(at, resume - at, std::string(head.error().message())));
    at = resume;
  }
}

}  // namespace leat::local
