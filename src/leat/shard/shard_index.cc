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
constexpr std::size_t kSlotsCrcAt = 48;
constexpr std::size_t kReservedAt = 52;
constexpr std::size_t kHeaderCrcAt = 60;

constexpr std::size_t kEntryBytes = 32;
constexpr std::size_t kDataOffsetAt = 0;
constexpr std::size_t kSizeAt = 8;
constexpr std::size_t kMtimeAt = 16;
constexpr std::size_t kCrcAt = 24;
constexpr std::size_t kNameAt = 28;

constexpr std::size_t kSlotBytes = 4;
constexpr std::uint32_t kFreeSlot = UINT32_MAX;
constexpr std::uint32_t kPositionBits = 25;
constexpr std::uint32_t kPositionMask = (1U << kPositionBits) - 1;
// Bounds what a blob can make a lookup do; two thirds full, runs this long are very rare.
constexpr std::size_t kMaxProbes = 64;
static_assert(kMaxShardMembers <= kPositionMask);

constexpr std::size_t slot_count(std::size_t members) {
  return members + members / 2 + 1;
}

// Where a name is looked for first, and how its slot is told from others.
struct SlotKey {
  std::size_t first;
  std::uint32_t tag;

  SlotKey(std::string_view name, std::size_t slots) noexcept {
    const std::uint64_t hash = xxh3_64(name);
    first = (hash >> 32) * slots >> 32;
    tag = static_cast<std::uint32_t>(hash) << kPositionBits;
  }
};

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
  RETURN_IF_ERROR(index.check_checksums());
  RETURN_IF_ERROR(index.check_members());
  RETURN_IF_ERROR(index.check_slots());
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
  if (count > kMaxShardMembers || names_bytes > kMaxShardNameBytes) {
    return corrupted("more members than there can be");
  }
  count_ = count;
  slots_at_ = kHeaderBytes + count * kEntryBytes;
  names_at_ = slots_at_ + slot_count(count) * kSlotBytes;
  if (blob_.size() != names_at_ + names_bytes) {
    return corrupted("its length is not what its header says");
  }
  return ok_status();
}

Status ShardIndex::check_checksums() const {
  const std::span<const std::byte> all(blob_);
  const auto matches = [&](std::size_t begin, std::size_t end, std::size_t crc_at) {
    return crc32c(0, all.subspan(begin, end - begin)) == load<std::uint32_t>(all.data() + crc_at);
  };
  if (matches(kHeaderBytes, slots_at_, kTableCrcAt) && matches(slots_at_, names_at_, kSlotsCrcAt) &&
      matches(names_at_, all.size(), kNamesCrcAt)) {
    return ok_status();
  }
  return corrupted("the checksum of its members is wrong");
}

Status ShardIndex::check_members() const {
  const char* const names = reinterpret_cast<const char*>(blob_.data()) + names_at_;
  const std::size_t names_bytes = blob_.size() - names_at_;
  if (count_ == 0) return names_bytes == 0 ? ok_status() : corrupted("names without members");
  if (std::memchr(names, '\0', names_bytes) != nullptr) return corrupted("a name holds a NUL");
  if (load<std::uint32_t>(entry(0) + kNameAt) != 0) return corrupted("a gap before the names");
  std::string_view previous;
  for (std::size_t position = 0; position < count_; ++position) {
    const std::byte* const at = entry(position);
    const std::uint64_t begin = load<std::uint32_t>(at + kNameAt);
    const std::uint64_t end =
        position + 1 == count_ ? names_bytes : load<std::uint32_t>(at + kEntryBytes + kNameAt);
    if (begin >= end || end > names_bytes) return corrupted("a name is out of bounds");
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

// That a slot leads to the right member is not checked: find() compares the name.
Status ShardIndex::check_slots() const {
  std::size_t bad = 0;
  for (std::size_t at = slots_at_; at < names_at_; at += kSlotBytes) {
    const auto slot = load<std::uint32_t>(blob_.data() + at);
    bad += slot != kFreeSlot && (slot & kPositionMask) >= count_;
  }
  return bad == 0 ? ok_status() : corrupted("a slot leads to no member");
}

const std::byte* ShardIndex::entry(std::size_t position) const noexcept {
  return blob_.data() + kHeaderBytes + position * kEntryBytes;
}

std::string_view ShardIndex::name(std::size_t position) const noexcept {
  const std::byte* const at = entry(position);
  const std::size_t begin = load<std::uint32_t>(at + kNameAt);
  const std::size_t end = position + 1 == count_ ? blob_.size() - names_at_
                                                 : load<std::uint32_t>(at + kEntryBytes + kNameAt);
  return {reinterpret_cast<const char*>(blob_.data()) + names_at_ + begin, end - begin};
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
  const std::size_t slots = slot_count(count_);
  const SlotKey key(name_sought, slots);
  std::size_t place = key.first;
  for (std::size_t probe = 0; probe < std::min(kMaxProbes, slots); ++probe) {
    const auto slot = load<std::uint32_t>(blob_.data() + slots_at_ + place * kSlotBytes);
    if (slot == kFreeSlot) return std::nullopt;
    const std::size_t position = slot & kPositionMask;
    if ((slot & ~kPositionMask) == key.tag && name(position) == name_sought) {
      return member(position);
    }
    place = place + 1 == slots ? 0 : place + 1;
  }
  return find_by_search(name_sought);
}

std::optional<ShardMember> ShardIndex::find_by_search(std::string_view name_sought) const noexcept {
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

void ShardIndexBuilder::settle_entries() {
  // Latest first among equals, so that removing duplicates keeps the latest.
  std::ranges::sort(entries_, [this](const Entry& a, const Entry& b) {
    const int order = name_of(a).compare(name_of(b));
    return order != 0 ? order < 0 : a.data_offset > b.data_offset;
  });
  entries_.erase(
      std::unique(entries_.begin(), entries_.end(),
                  [this](const Entry& a, const Entry& b) { return name_of(a) == name_of(b); }),
      entries_.end());
}

void ShardIndexBuilder::write_members(std::byte* table, std::byte* names) const {
  std::size_t name_begin = 0;
  for (const Entry& entry : entries_) {
    store(table + kDataOffsetAt, entry.data_offset);
    store(table + kSizeAt, entry.size_bytes);
    store(table + kMtimeAt, entry.mtime_ns);
    store(table + kCrcAt, entry.crc32c);
    store(table + kNameAt, static_cast<std::uint32_t>(name_begin));
    std::memcpy(names + name_begin, name_of(entry).data(), entry.name_bytes);
    name_begin += entry.name_bytes;
    table += kEntryBytes;
  }
}

void ShardIndexBuilder::write_slots(std::span<std::uint32_t> slots) const {
  std::ranges::fill(slots, kFreeSlot);
  for (std::uint32_t position = 0; position < entries_.size(); ++position) {
    const SlotKey key(name_of(entries_[position]), slots.size());
    std::size_t place = key.first;
    std::size_t probe = 0;
    for (; probe < kMaxProbes && slots[place] != kFreeSlot; ++probe) {
      place = place + 1 == slots.size() ? 0 : place + 1;
    }
    if (probe < kMaxProbes) slots[place] = key.tag | position;
  }
}

std::vector<std::byte> ShardIndexBuilder::finish(std::uint64_t shard_bytes) && {
  settle_entries();
  const std::size_t names_bytes =
      std::accumulate(entries_.begin(), entries_.end(), std::size_t{0},
                      [](std::size_t sum, const Entry& entry) { return sum + entry.name_bytes; });
  const std::size_t slots_at = kHeaderBytes + entries_.size() * kEntryBytes;
  const std::size_t names_at = slots_at + slot_count(entries_.size()) * kSlotBytes;
  std::vector<std::byte> blob(names_at + names_bytes);
  std::byte* const begin = blob.data();
  write_members(begin + kHeaderBytes, begin + names_at);
  std::vector<std::uint32_t> slots(slot_count(entries_.size()));
  write_slots(slots);
  std::memcpy(begin + slots_at, slots.data(), slots.size() * kSlotBytes);

  std::memcpy(begin, kMagic.data(), kMagic.size());
  store(begin + kVersionAt, kVersion);
  store(begin + kFeaturesAt, kKnownFeatures);
  store(begin + kShardBytesAt, shard_bytes);
  store(begin + kCountAt, std::uint64_t{entries_.size()});
  store(begin + kNamesBytesAt, std::uint64_t{names_bytes});
  store(begin + kTableCrcAt, crc32c(0, {begin + kHeaderBytes, slots_at - kHeaderBytes}));
  store(begin + kSlotsCrcAt, crc32c(0, {begin + slots_at, names_at - slots_at}));
  store(begin + kNamesCrcAt, crc32c(0, {begin + names_at, names_bytes}));
  store(begin + kHeaderCrcAt, crc32c(0, {begin, kHeaderCrcAt}));
  return blob;
}

Result<IndexedShard> index_shard(ObjectReader& shard, const Context& context) {
  ShardIndexBuilder builder;
  ASSIGN_OR_RETURN(const TarSummary summary, scan_tar(shard, builder, context));
  return IndexedShard{std::move(builder).finish(summary.stream_bytes), summary};
}

}  // namespace leat
