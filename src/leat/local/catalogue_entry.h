// CatalogueEntry: what the catalogue knows of a key: enough to list it, and where its record is.
#pragma once

#include <cstdint>
#include <string>

#include "leat/local/location.h"
#include "leat/store/object_store.h"

namespace leat::local {

struct CatalogueEntry {
  std::uint64_t generation = 0;
  Place place;     // of the newest record; empty when the key is to be forgotten altogether
  Place previous;  // of the record that it replaced in an older run; empty when there was none
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  std::uint32_t crc32c = 0;
  std::uint8_t flags = 0;
  std::string etag;  // empty when derived

  static constexpr std::uint8_t kReference = 1;  // the bytes are in files of their own
  static constexpr std::uint8_t kBucket = 2;

  bool is_forgotten() const noexcept { return place.bits() == 0; }
  bool is_tombstone() const noexcept { return place.is_tombstone(); }
  bool is_visible() const noexcept { return !is_forgotten() && !is_tombstone(); }
  bool has(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }
};

// What listings say of an object.
ObjectInfo info_of(const CatalogueEntry& entry);

}  // namespace leat::local
