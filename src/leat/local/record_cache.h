// RecordCache: the bytes of small objects that batches read lately, in huge pages.
//
// The page cache holds them, too. What this saves is the way there: the system call, the kernel's
// copy and the misses of the TLB cost more than the bytes of a small sample (bench/batch.cc).
//
// A record never changes at its place, so nothing ever has to be invalidated. The cache is filled
// and then kept: when every epoch is a random permutation, no policy finds more. Only when hardly
// anything is found any more, because other data is read now, does it start anew.
//
// Thread-safe. Takes no memory before the first insert().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "leat/base/mutex.h"
#include "leat/local/location.h"

namespace leat::local {

class RecordCache {
 public:
  // Longer objects are not kept: reading them is not dominated by the way there.
  static constexpr std::size_t kMostObjectBytes = 4096;

  explicit RecordCache(std::uint64_t capacity_bytes) noexcept;
  ~RecordCache();
  RecordCache(const RecordCache&) = delete;
  RecordCache& operator=(const RecordCache&) = delete;

  struct Key {
    Place place;
    std::string_view name;
  };
  // Calls use(i, bytes) for each keys[i] that is here, while nothing can move.
  template <typename Use>
  void find(std::span<const Key> keys, const Use& use) EXCLUDES(mutex_) {
    ReaderLock lock(mutex_);
    const std::vector<const Slot*> slots = find_slots(keys);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i] != nullptr) use(i, bytes_of(*slots[i]));
    }
  }

  struct Entry {
    Key key;
    std::span<const std::byte> bytes;
  };
  // Keeps those entries for which there is room.
  void insert(std::span<const Entry> entries) EXCLUDES(mutex_);
  // Whether insert() may keep anything: saves callers the work of offering.
  bool takes_more() const noexcept { return takes_more_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    std::uint64_t place = 0;  // 0: empty
    std::uint32_t line = 0;   // of the bytes, which the name follows
    std::uint32_t size_bytes = 0;
    std::uint64_t name_bytes = 0;
  };

  std::uint64_t slot_count() const noexcept { return std::uint64_t{1} << slot_bits_; }
  bool allocate() REQUIRES(mutex_);
  void clear() REQUIRES(mutex_);
  Slot* first_slot(std::uint64_t place) const REQUIRES_SHARED(mutex_);
  std::vector<const Slot*> find_slots(std::span<const Key> keys) REQUIRES_SHARED(mutex_);
  void count(std::uint64_t hits, std::uint64_t misses) noexcept;
  // False when there is no room.
  bool insert_one(const Entry& entry) REQUIRES(mutex_);
  std::span<const std::byte> bytes_of(const Slot& slot) const REQUIRES_SHARED(mutex_);
  std::string_view name_of(const Slot& slot) const REQUIRES_SHARED(mutex_);

  const std::uint64_t capacity_bytes_;
  const int slot_bits_;
  std::atomic<bool> takes_more_;
  // Since the cache was full, and how many entries it had then.
  std::atomic<std::uint64_t> hits_{0};
  std::atomic<std::uint64_t> misses_{0};
  std::atomic<std::uint64_t> full_entries_{0};

  mutable SharedMutex mutex_;
  std::byte* arena_ GUARDED_BY(mutex_) = nullptr;  // the slots, then the bytes
  std::uint64_t used_bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t entries_ GUARDED_BY(mutex_) = 0;
  bool is_full_ GUARDED_BY(mutex_) = false;
};

}  // namespace leat::local
