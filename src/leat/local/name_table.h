// NameTable: from the hash of a key to the place of its newest record, in 16 bytes.
//
// This is what makes a GET of one object among millions one hash probe and one read. Keys are not
// kept: the record at the place holds its key, and whoever reads it compares. Two keys with the
// same hash are two entries, and both places are looked at.
//
// 256 sub-tables by the top bits of the hash grow one at a time, so that no operation ever waits
// for ten million entries to move. About 23 bytes an object on average.
//
// NOT thread-safe, except that marks may be set beside find(): the drive's lock guards it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "leat/local/location.h"

namespace leat::local {

class NameTable {
 public:
  // The places recorded under one hash: nearly always none or one.
  class Matches {
   public:
    std::size_t size() const noexcept { return count_; }
    const Place* begin() const noexcept { return places_.data(); }
    const Place* end() const noexcept { return places_.data() + count_; }

   private:
    friend class NameTable;
    // Beyond four equal 64-bit hashes the machine is broken, or someone forges them: CHECKed at
    // insertion, where the log can still refuse the name.
    static constexpr std::size_t kMost = 4;
    std::array<Place, kMost> places_{};
    std::size_t count_ = 0;
  };

  NameTable() = default;

  Matches find(std::uint64_t hash) const noexcept;
  // Brings the entry of `hash` into the processor's cache.
  void prefetch(std::uint64_t hash) const noexcept;
  // Whether insert() would refuse.
  bool is_full(std::uint64_t hash) const noexcept { return find(hash).size() == Matches::kMost; }
  // False when there are too many entries with this hash.
  [[nodiscard]] bool insert(std::uint64_t hash, Place place);
  // Replaces the entry at `from`'s location. REQUIRES: it is there.
  void replace(std::uint64_t hash, Place from, Place to);
  // REQUIRES: it is there.
  void erase(std::uint64_t hash, Place place);
  // Remembers what was learned of the record at this place; nothing happens if it has moved.
  void mark_learned(std::uint64_t hash, Place place) const noexcept;
  void unmark_verified(std::uint64_t hash, Place place) const noexcept;

  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Table& table : tables_) {
      for (std::uint64_t i = 0; i < table.capacity; ++i) {
        if (table.slots[i].place != 0) visit(Place::from_bits(table.slots[i].place));
      }
    }
  }

  void reserve(std::uint64_t entries);
  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t memory_bytes() const noexcept;

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint64_t place = 0;  // 0: empty
  };
  // Open addressing with linear probing; erasing shifts back, so there are no tombstones.
  struct Table {
    std::unique_ptr<Slot[]> slots;
    std::uint64_t capacity = 0;  // a power of two, or 0
    std::uint64_t used = 0;
  };
  static constexpr std::size_t kTables = 256;

  static std::size_t table_of(std::uint64_t hash) noexcept { return hash >> 56; }
  static void grow(Table& table, std::uint64_t capacity);
  Slot* slot_at(std::uint64_t hash, Place place) const noexcept;

  std::array<Table, kTables> tables_;
  std::uint64_t size_ = 0;
};

}  // namespace leat::local
