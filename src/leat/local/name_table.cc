#include "leat/local/name_table.h"

#include "leat/base/check.h"

namespace leat::local {
namespace {

constexpr std::uint64_t kSmallestTable = 16;

// At most 4/5 full: linear probing stays short.
bool is_crowded(std::uint64_t used, std::uint64_t capacity) {
  return used * 5 >= capacity * 4;
}

std::uint64_t load_place(const std::uint64_t& place) noexcept {
  return std::atomic_ref(const_cast<std::uint64_t&>(place)).load(std::memory_order_relaxed);
}

}  // namespace

NameTable::Matches NameTable::find(std::uint64_t hash) const noexcept {
  Matches matches;
  const Table& table = tables_[table_of(hash)];
  if (table.capacity == 0) return matches;
  const std::uint64_t mask = table.capacity - 1;
  for (std::uint64_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = table.slots[i];
    const std::uint64_t place = load_place(slot.place);
    if (place == 0) return matches;
    if (slot.hash == hash) matches.places_[matches.count_++] = Place::from_bits(place);
  }
}

void NameTable::prefetch(std::uint64_t hash) const noexcept {
  const Table& table = tables_[table_of(hash)];
  if (table.capacity != 0) __builtin_prefetch(&table.slots[hash & (table.capacity - 1)]);
}

bool NameTable::insert(std::uint64_t hash, Place place) {
  if (is_full(hash)) return false;
  Table& table = tables_[table_of(hash)];
  if (is_crowded(table.used + 1, table.capacity)) {
    grow(table, table.capacity == 0 ? kSmallestTable : table.capacity * 2);
  }
  const std::uint64_t mask = table.capacity - 1;
  std::uint64_t i = hash & mask;
  while (table.slots[i].place != 0) i = (i + 1) & mask;
  table.slots[i] = {hash, place.bits()};
  ++table.used;
  ++size_;
  return true;
}

void NameTable::replace(std::uint64_t hash, Place from, Place to) {
  Slot* slot = slot_at(hash, from);
  CHECK(slot != nullptr);
  slot->place = to.bits();
}

void NameTable::erase(std::uint64_t hash, Place place) {
  Slot* slot = slot_at(hash, place);
  CHECK(slot != nullptr);
  Table& table = tables_[table_of(hash)];
  const std::uint64_t mask = table.capacity - 1;
  // Moves later entries of the same run back over the hole, as long as that brings them no nearer
  // than their home.
  std::uint64_t hole = static_cast<std::uint64_t>(slot - table.slots.get());
  for (std::uint64_t i = (hole + 1) & mask; table.slots[i].place != 0; i = (i + 1) & mask) {
    const std::uint64_t home = table.slots[i].hash & mask;
    if (((i - home) & mask) < ((i - hole) & mask)) continue;
    table.slots[hole] = table.slots[i];
    hole = i;
  }
  table.slots[hole] = {};
  --table.used;
  --size_;
}

void NameTable::mark_learned(std::uint64_t hash, Place place) const noexcept {
  if (Slot* slot = slot_at(hash, place); slot != nullptr) {
    const std::uint64_t learned = place.bits() & Place::kLearnedBits;
    std::atomic_ref(slot->place).fetch_or(learned, std::memory_order_relaxed);
  }
}

void NameTable::unmark_verified(std::uint64_t hash, Place place) const noexcept {
  if (Slot* slot = slot_at(hash, place); slot != nullptr) {
    std::atomic_ref(slot->place).fetch_and(~Place::kVerifiedBit, std::memory_order_relaxed);
  }
}

void NameTable::reserve(std::uint64_t entries) {
  const std::uint64_t each =
      entries / kTables + entries / kTables / 8;  // hashes are not quite even
  std::uint64_t capacity = kSmallestTable;
  while (is_crowded(each, capacity)) capacity *= 2;
  for (Table& table : tables_) {
    if (capacity > table.capacity) grow(table, capacity);
  }
}

std::uint64_t NameTable::memory_bytes() const noexcept {
  std::uint64_t total = 0;
  for (const Table& table : tables_) total += table.capacity * sizeof(Slot);
  return total;
}

void NameTable::grow(Table& table, std::uint64_t capacity) {
  Table bigger{std::make_unique<Slot[]>(capacity), capacity, table.used};
  const std::uint64_t mask = capacity - 1;
  for (std::uint64_t i = 0; i < table.capacity; ++i) {
    if (table.slots[i].place == 0) continue;
    std::uint64_t to = table.slots[i].hash & mask;
    while (bigger.slots[to].place != 0) to = (to + 1) & mask;
    bigger.slots[to] = table.slots[i];
  }
  table = std::move(bigger);
}

NameTable::Slot* NameTable::slot_at(std::uint64_t hash, Place place) const noexcept {
  const Table& table = tables_[table_of(hash)];
  if (table.capacity == 0) return nullptr;
  const std::uint64_t mask = table.capacity - 1;
  for (std::uint64_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& slot = table.slots[i];
    const std::uint64_t bits = load_place(slot.place);
    if (bits == 0) return nullptr;
    if (slot.hash == hash && Place::from_bits(bits).location() == place.location()) return &slot;
  }
}

}  // namespace leat::local
