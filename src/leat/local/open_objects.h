// OpenObjects: objects that were opened lately, kept open for those who ask next and may not wait.
//
// An entry belongs to one place of the log and is given out only while the name table says that the
// object is still there, so it needs no notice of changes to be right. Changes drop it all the
// same, since an open file keeps its space. Bounded; in each small set the one that was used least
// lately goes first. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "leat/base/mutex.h"
#include "leat/local/location.h"
#include "leat/store/object_store.h"

namespace leat::local {

class OpenObjects {
 public:
  // Rounded up to a whole number of sets; 0: keeps nothing.
  explicit OpenObjects(std::size_t capacity);

  // `hash` is hash_key(key). Null when it is not here.
  std::shared_ptr<ObjectReader> find(std::uint64_t hash, std::string_view key, Place place);
  void put(std::uint64_t hash, std::string_view key, Place place,
           std::shared_ptr<ObjectReader> reader);
  void drop(std::uint64_t hash, std::string_view key);
  void clear();

 private:
  struct Entry {
    std::string key;
    Place place;
    std::uint64_t used = 0;
    std::shared_ptr<ObjectReader> reader;
  };
  struct Set {
    Mutex mutex;
    std::uint64_t time GUARDED_BY(mutex) = 0;
    std::array<Entry, 8> entries GUARDED_BY(mutex);
  };

  Set* set_of(std::uint64_t hash) { return count_ == 0 ? nullptr : &sets_[hash % count_]; }

  const std::size_t count_;
  const std::unique_ptr<Set[]> sets_;
};

}  // namespace leat::local
