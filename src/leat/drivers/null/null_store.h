// `null:`: every object of every size exists, and nothing is ever stored.
//
// The ceiling of every benchmark: what a reader measures on it is the cost of everything but
// storage. Reading costs one memory copy, or none in a batch that leaves the buffer to the store;
// writing costs nothing and is counted.
//
// `null:?size=1MiB&count=1000000`
//   size    the size of an object whose name does not say it (default 1MiB). A name says it by a
//           suffix after its last ',' or '@': "x@4KiB", "train/7,784".
//   count   listings show the names 000000000 to count-1, nine digits each; without it, none.
//
// Bytes are a function of name and offset: a fixed block of random bytes, repeated, that begins at
// a place that the name decides. The same on every machine and in every version. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "leat/store/object_store.h"
#include "leat/store/registry.h"

namespace leat {

struct NullStoreOptions {
  std::uint64_t size_bytes = 1 << 20;
  std::uint64_t count = 0;  // at most kMaxNullStoreCount
};
inline constexpr std::uint64_t kMaxNullStoreCount = 1'000'000'000;

// What was thrown away.
struct NullStoreCounts {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  std::uint64_t removals = 0;
};

class NullStore : public ObjectStore {
 public:
  virtual NullStoreCounts counts() const noexcept = 0;
};

std::shared_ptr<NullStore> make_null_store(const NullStoreOptions& options);

// The scheme "null"; what follows the colon is a name.
void register_null(Registry& registry);

}  // namespace leat
