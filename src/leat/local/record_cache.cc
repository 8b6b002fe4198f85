#include "leat/local/record_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace leat::local {
namespace {

constexpr std::uint64_t kHugePageBytes = 2 << 20;
constexpr std::uint64_t kLineBytes = 64;
// A slot for so many bytes of arena: objects of this size and longer fill the arena first.
constexpr std::uint64_t kBytesPerSlot = 512;
constexpr std::uint64_t kMostProbes = 8;
// The cache starts anew when, for so many misses an entry, ...
constexpr std::uint64_t kMissesPerEntry = 16;
// ... fewer than one in so many were found.
constexpr std::uint64_t kLeastHitShare = 32;

constexpr std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

RecordCache::RecordCache(std::uint64_t capacity_bytes) noexcept
    : capacity_bytes_(capacity_bytes / kHugePageBytes * kHugePageBytes),
      slot_bits_(std::bit_width(capacity_bytes_ / kBytesPerSlot)),
      takes_more_(capacity_bytes_ > 0) {}

RecordCache::~RecordCache() {
  if (arena_ != nullptr) munmap(arena_, capacity_bytes_);
}

bool RecordCache::allocate() {
  // One huge page more than needed, so that the arena can start at the beginning of one.
  const std::uint64_t mapped_bytes = capacity_bytes_ + kHugePageBytes;
  void* mapped = mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return false;
  auto* start = static_cast<std::byte*>(mapped);
  const std::uint64_t before = rounded_up(reinterpret_cast<std::uintptr_t>(start), kHugePageBytes) -
                               reinterpret_cast<std::uintptr_t>(start);
  if (before > 0) munmap(start, before);
  if (before < kHugePageBytes) munmap(start + before + capacity_bytes_, kHugePageBytes - before);
  arena_ = start + before;
  (void)madvise(arena_, capacity_bytes_, MADV_HUGEPAGE);
  clear();
  return true;
}

void RecordCache::clear() {
  const std::uint64_t slots = slot_count() + kMostProbes;  // probing never wraps around
  std::fill_n(reinterpret_cast<Slot*>(arena_), slots, Slot{});
  used_bytes_ = rounded_up(slots * sizeof(Slot), kLineBytes);
  entries_ = 0;
  is_full_ = false;
}

RecordCache::Slot* RecordCache::first_slot(std::uint64_t place) const {
  // The top bits of the product depend on all bits of the place.
  return reinterpret_cast<Slot*>(arena_) + (place * 0x9e3779b97f4a7c15 >> (64 - slot_bits_));
}

std::span<const std::byte> RecordCache::bytes_of(const Slot& slot) const {
  return {arena_ + slot.line * kLineBytes, slot.size_bytes};
}

std::string_view RecordCache::name_of(const Slot& slot) const {
  const std::byte* name = arena_ + slot.line * kLineBytes + slot.size_bytes;
  return {reinterpret_cast<const char*>(name), slot.name_bytes};
}

// In three passes, so that the memory brings many lines at a time.
std::vector<const RecordCache::Slot*> RecordCache::find_slots(std::span<const Key> keys) {
  std::vector<const Slot*> found;
  if (arena_ == nullptr) return found;
  found.reserve(keys.size());
  for (const Key& key : keys) __builtin_prefetch(first_slot(key.place.unverified().bits()));
  for (const Key& key : keys) {
    const std::uint64_t place = key.place.unverified().bits();
    const Slot* slot = first_slot(place);
    const Slot* const end = slot + kMostProbes;
    while (slot != end && slot->place != place && slot->place != 0) ++slot;
    const bool is_here = slot != end && slot->place == place;
    found.push_back(is_here ? slot : nullptr);
    if (!is_here) continue;
    const std::byte* bytes = arena_ + slot->line * kLineBytes;
    for (std::uint64_t i = 0; i < slot->size_bytes + slot->name_bytes; i += kLineBytes) {
      __builtin_prefetch(bytes + i);
    }
  }
  std::uint64_t hits = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (found[i] != nullptr && name_of(*found[i]) != keys[i].name) found[i] = nullptr;
    hits += found[i] != nullptr;
  }
  count(hits, keys.size() - hits);
  return found;
}

// Once in a while, when the cache is full, decides whether it is still good for anything.
void RecordCache::count(std::uint64_t hits, std::uint64_t misses) noexcept {
  if (takes_more()) return;
  hits_.fetch_add(hits, std::memory_order_relaxed);
  const std::uint64_t missed = misses_.fetch_add(misses, std::memory_order_relaxed) + misses;
  if (missed <= kMissesPerEntry * full_entries_.load(std::memory_order_relaxed)) return;
  misses_.store(0, std::memory_order_relaxed);
  const std::uint64_t found = hits_.exchange(0, std::memory_order_relaxed);
  if (found < missed / kLeastHitShare) takes_more_.store(true, std::memory_order_relaxed);
}

void RecordCache::insert(std::span<const Entry> entries) {
  WriterLock lock(mutex_);
  if (!takes_more()) return;
  if (is_full_) clear();
  if (arena_ == nullptr && !allocate()) return takes_more_.store(false);
  for (const Entry& entry : entries) {
    if (insert_one(entry)) continue;
    is_full_ = true;
    full_entries_.store(entries_, std::memory_order_relaxed);
    return takes_more_.store(false, std::memory_order_relaxed);
  }
}

bool RecordCache::insert_one(const Entry& entry) {
  if (entry.bytes.size() > kMostObjectBytes) return true;
  const std::uint64_t length = entry.bytes.size() + entry.key.name.size();
  if (used_bytes_ + length > capacity_bytes_ || entries_ > slot_count() / 8 * 7) return false;
  const std::uint64_t place = entry.key.place.unverified().bits();
  Slot* slot = first_slot(place);
  Slot* const end = slot + kMostProbes;
  while (slot != end && slot->place != 0 && slot->place != place) ++slot;
  if (slot == end || slot->place == place) return true;  // here already, or unlucky
  *slot = {place, static_cast<std::uint32_t>(used_bytes_ / kLineBytes),
           static_cast<std::uint32_t>(entry.bytes.size()), entry.key.name.size()};
  std::byte* target = arena_ + used_bytes_;
  if (!entry.bytes.empty()) std::memcpy(target, entry.bytes.data(), entry.bytes.size());
  std::memcpy(target + entry.bytes.size(), entry.key.name.data(), entry.key.name.size());
  used_bytes_ += rounded_up(length, kLineBytes);
  ++entries_;
  return true;
}

}  // namespace leat::local
