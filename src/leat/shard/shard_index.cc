#include "leat/shard/shard_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "leat/base/hash.h"

namespace leat {
namespace {

static_assert(std::endian::native == std::endian::little, "the blob is read where it lies");

constexpr std::string_view kMagic = "LEATSIDX";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kKnownFeatures = 0;

constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kFeaturesAt = 12;
constexpr std::size_t kShardBytesAt = 16;
constexpr std::size_t kCountAt = 24;
constexpr std::size_t kNamesBytesAt = 32;
constexpr std::size_t kTableCrcAt = 40;
constexpr std::size_t kNamesCrcAt = 44;
constexpr std::size_t kReservedAt = 48;
constexpr std::size_t kHeaderCrcAt = 60;

constexpr std::size_t kEntryBytes = 32;
constexpr std::size_t kDataOffsetAt = 0;
constexpr std::size_t kSizeAt = 8;
constexpr std::size_t kMtimeAt = 16;
constexpr std::size_t kCrcAt = 24;
constexpr std::size_t kNameAt = 28;

template <typename T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void store(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof value);
}

Error corrupted(std::string_view why) {
  return Error(ErrorCode::kCorrupted, fmt::format("shard index: {}", why));
}

}  // namespace

Result<ShardIndex> ShardIndex::decode(std::vector<std::byte> blob) {
  ShardIndex index(std::move(blob));
  RETURN_IF_ERROR(index.read_header());
  RETURN_IF_ERROR(index.check_members());
  return index;
}

Status ShardIndex::read_header() {
  const std::byte* const header = blob_.data();
  if (blob_.size() < kHeaderBytes) return corrupted("shorter than its header");
  if (std::memcmp(header, kMagic.data(), kMagic.size()) != 0) return corrupted("no magic");
  if (crc32c(0, std::span(blob_).first(kHeaderCrcAt)) !=
      load<std::uint32_t>(header + kHeaderCrcAt)) {
    return corrupted("the checksum of the header is wrong");
  }
  const auto version = load<std::uint32_t>(header + kVersionAt);
  const auto features = load<std::uint32_t>(header + kFeaturesAt);
  if (version != kVersion || (features & ~kKnownFeatures) != 0) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("shard index: version {} with features {:#x} is not known here",
                             version, features));
  }
  const std::span<const std::byte> reserved(header + kReservedAt, kHeaderCrcAt - kReservedAt);
  if (std::ranges::any_of(reserved, [](std::byte byte) { return byte != std::byte{0}; })) {
    return corrupted("reserved bytes are set");
  }
  shard_bytes_ = load<std::uint64_t>(header + kShardBytesAt);
  const auto count = load<std::uint64_t>(header + kCountAt);
  const auto names_bytes = load<std::uint64_t>(header + kNamesBytesAt);
  // The limits first: they keep the sum from overflowing.
  if (count > kMaxShardMembers || names_bytes > kMaxShardNameBytes ||
      blob_.size() != kHeaderBytes + count * kEntryBytes + names_bytes) {
    return corrupted("its length is not what its header says");
  }
  count_ = count;
  names_bytes_ = names_bytes;
  const auto table = std::span(blob_).subspan(kHeaderBytes, count_ * kEntryBytes);
  const auto names = std::span(blob_).subspan(kHeaderBytes + table.size());
  if (crc32c(0, table) != load<std::uint32_t>(header + kTableCrcAt) ||
      crc32c(0, names) != load<std::uint32_t>(header + kNamesCrcAt)) {
    return corrupted("the checksum of its members is wrong");
  }
  return ok_status();
}

Status ShardIndex::check_members() const {
  const char* const names =
      reinterpret_cast<const char*>(blob_.data()) + kHeaderBytes + count_ * kEntryBytes;
  if (count_ == 0) return names_bytes_ == 0 ? ok_status() : corrupted("names without members");
  if (std::memchr(names, '\0', names_bytes_) != nullptr) return corrupted("a name holds a NUL");
  if (load<std::uint32_t>(entry(0) + kNameAt) != 0) return corrupted("a gap before the names");
  std::string_view previous;
  for (std::size_t position = 0; position < count_; ++position) {
    const std::byte* const at = entry(position);
    const std::uint64_t begin = load<std::uint32_t>(at + kNameAt);
    const std::uint64_t end =
        position + 1 == count_ ? names_bytes_ : load<std::uint32_t>(at + kEntryBytes + kNameAt);
    if (begin >= end || end > names_bytes_) return corrupted("a name is out of bounds");
    const std::string_view name(names + begin, end - begin);
    if (position != 0 && name <= previous) return corrupted("the names are not in order");
    previous = name;
    const auto offset = load<std::uint64_t>(at + kDataOffsetAt);
    const auto size = load<std::uint64_t>(at + kSizeAt);
    if (offset < kTarBlockBytes || offset % kTarBlockBytes != 0 || offset > shard_bytes_ ||
        size > shard_bytes_ - offset) {
      return corrupted("a member is out of bounds");
    }
  }
  return ok_status();
}

const std::byte* ShardIndex::entry(std::size_t position) const noexcept {
  return blob_.data() + kHeaderBytes + position * kEntryBytes;
}

std::string_view ShardIndex::name(std::size_t position) const noexcept {
  const std::byte* const at = entry(position);
  const std::size_t begin = load<std::uint32_t>(at + kNameAt);
  const std::size_t end =
      position + 1 == count_ ? names_bytes_ : load<std::uint32_t>(at + kEntryBytes + kNameAt);
  return {reinterpret_cast<const char*>(entry(count_)) + begin, end - begin};
}

ShardMember ShardIndex::member(std::size_t position) const noexcept {
  const std::byte* const at = entry(position);
  return {name(position), load<std::uint64_t>(at + kDataOffsetAt),
          load<std::uint64_t>(at + kSizeAt), load<std::int64_t>(at + kMtimeAt),
          load<std::uint32_t>(at + kCrcAt)};
}

std::size_t ShardIndex::seek(std::string_view name_sought) const noexcept {
  std::size_t low = 0;
  std::size_t high = count_;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (name(middle) < name_sought) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::optional<ShardMember> ShardIndex::find(std::string_view name_sought) const noexcept {
  const std::size_t position = seek(name_sought);
  if (position == count_ || name(position) != name_sought) return std::nullopt;
  return member(position);
}

Status ShardIndexBuilder::add(const ShardMember& member) {
  if (entries_.size() >= kMaxShardMembers ||
      member.name.size() > kMaxShardNameBytes - names_.size()) {
    return Error(ErrorCode::kTooLarge,
                 fmt::format("shard index: more than {} members or {} bytes of names",
                             kMaxShardMembers, kMaxShardNameBytes));
  }
  entries_.push_back({member.data_offset, member.size_bytes, member.mtime_ns, member.crc32c,
                      static_cast<std::uint32_t>(names_.size()),
                      static_cast<std::uint32_t>(member.name.size())});
  names_ += member.name;
  return ok_status();
}

Status ShardIndexBuilder::end_member(const TarEntry& entry) {
  return add({entry.name, entry.data_offset, entry.size_bytes, entry.mtime_ns, entry.crc32c});
}

std::string_view ShardIndexBuilder::name_of(const Entry& entry) const noexcept {
  return std::string_view(names_).substr(entry.name_begin, entry.name_bytes);
}

std::vector<std::byte> ShardIndexBuilder::finish(std::uint64_t shard_bytes) && {
  // Latest first among equals, so that removing duplicates keeps the latest.
  std::ranges::sort(entries_, [this](const Entry& a, const Entry& b) {
    const int order = name_of(a).compare(name_of(b));
    return order != 0 ? order < 0 : a.data_offset > b.data_offset;
  });
  entries_.erase(
      std::unique(entries_.begin(), entries_.end(),
                  [this](const Entry& a, const Entry& b) { return name_of(a) == name_of(b); }),
      entries_.end());

  const std::size_t table_bytes = entries_.size() * kEntryBytes;
  const std::size_t names_bytes =
      std::accumulate(entries_.begin(), entries_.end(), std::size_t{0},
                      [](std::size_t sum, const Entry& entry) { return sum + entry.name_bytes; });
  std::vector<std::byte> blob(kHeaderBytes + table_bytes + names_bytes);
  std::byte* at = blob.data() + kHeaderBytes;
  std::byte* const names = at + table_bytes;
  std::size_t name_begin = 0;
  for (const Entry& entry : entries_) {
    store(at + kDataOffsetAt, entry.data_offset);
    store(at + kSizeAt, entry.size_bytes);
    store(at + kMtimeAt, entry.mtime_ns);
    store(at + kCrcAt, entry.crc32c);
    store(at + kNameAt, static_cast<std::uint32_t>(name_begin));
    std::memcpy(names + name_begin, name_of(entry).data(), entry.name_bytes);
    name_begin += entry.name_bytes;
    at += kEntryBytes;
  }
  std::byte* const header = blob.data();
  std::memcpy(header, kMagic.data(), kMagic.size());
  store(header + kVersionAt, kVersion);
  store(header + kFeaturesAt, kKnownFeatures);
  store(header + kShardBytesAt, shard_bytes);
  store(header + kCountAt, std::uint64_t{entries_.size()});
  store(header + kNamesBytesAt, std::uint64_t{names_bytes});
  store(header + kTableCrcAt, crc32c(0, {header + kHeaderBytes, table_bytes}));
  store(header + kNamesCrcAt, crc32c(0, {names, names_bytes}));
  store(header + kHeaderCrcAt, crc32c(0, {header, kHeaderCrcAt}));
  return blob;
}

Result<IndexedShard> index_shard(ObjectReader& shard, const Context& context) {
  ShardIndexBuilder builder;
  ASSIGN_OR_RETURN(const TarSummary summary, scan_tar(shard, builder, context));
  return IndexedShard{std::move(builder).finish(summary.stream_bytes), summary};
}

}  // namespace leat
