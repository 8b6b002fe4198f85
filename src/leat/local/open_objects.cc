#include "leat/local/open_objects.h"

#include <algorithm>
#include <utility>

namespace leat::local {

OpenObjects::OpenObjects(std::size_t capacity)
    : count_((capacity + std::tuple_size_v<decltype(Set::entries)> - 1) /
             std::tuple_size_v<decltype(Set::entries)>),
      sets_(std::make_unique<Set[]>(count_)) {}

std::shared_ptr<ObjectReader> OpenObjects::find(std::uint64_t hash, std::string_view key,
                                                Place place) {
  Set* const set = set_of(hash);
  if (set == nullptr) return nullptr;
  MutexLock lock(set->mutex);
  for (Entry& entry : set->entries) {
    const bool is_same = entry.place.location() == place.location() &&
                         entry.place.is_verified() == place.is_verified();
    if (!entry.reader || !is_same || entry.key != key) continue;
    entry.used = ++set->time;
    return entry.reader;
  }
  return nullptr;
}

void OpenObjects::put(std::uint64_t hash, std::string_view key, Place place,
                      std::shared_ptr<ObjectReader> reader) {
  Set* const set = set_of(hash);
  if (set == nullptr) return;
  Entry entry{std::string(key), place, 0, std::move(reader)};
  // What is replaced closes its file when `entry` goes, after the lock.
  MutexLock lock(set->mutex);
  entry.used = ++set->time;
  auto slot = std::find_if(set->entries.begin(), set->entries.end(),
                           [&](const Entry& other) { return other.reader && other.key == key; });
  if (slot == set->entries.end()) {
    slot = std::min_element(set->entries.begin(), set->entries.end(),
                            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  }
  std::swap(*slot, entry);
}

void OpenObjects::drop(std::uint64_t hash, std::string_view key) {
  Set* const set = set_of(hash);
  if (set == nullptr) return;
  Entry dropped;
  MutexLock lock(set->mutex);
  for (Entry& entry : set->entries) {
    if (entry.reader && entry.key == key) std::swap(entry, dropped);
  }
}

void OpenObjects::clear() {
  for (std::size_t i = 0; i < count_; ++i) {
    decltype(Set::entries) dropped;
    MutexLock lock(sets_[i].mutex);
    std::swap(sets_[i].entries, dropped);
  }
}

}  // namespace leat::local
