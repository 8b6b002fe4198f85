// copy_object(): one object from any store to any other, verified end to end.
//
// The crc32c of the bytes that were read must be the one that the source states, before the target
// is committed, and the one that the target states afterwards; what a store does not state is not
// compared. Memory is one buffer. Functions without state, thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/store/object_store.h"

namespace leat {

struct CopyOptions {
  Durability durability = Durability::kDefault;
  // Called with the bytes of each piece that was copied; may be empty.
  std::function<void(std::uint64_t)> on_bytes;
};

struct CopiedObject {
  ObjectInfo info;                // in the target
  bool metadata_dropped = false;  // the source had some, and the target keeps none
};

// Whether two handles are of one store: they are the same, or have the same URL with a place in it.
// Every mem: store is one of its own.
bool is_same_store(const ObjectStore& a, const ObjectStore& b);

// Copies one object. Within one store this is ObjectStore::copy(). kCorrupted when a checksum does
// not match; a target that stored other bytes than it was given is removed.
Result<CopiedObject> copy_object(ObjectStore& source, std::string_view source_name,
                                 ObjectStore& target, std::string_view target_name,
                                 const CopyOptions& options, const Context& context);

// The crc32c of an object's bytes, read from the store.
Result<std::uint32_t> read_crc32c(ObjectStore& store, std::string_view name,
                                  const Context& context);

}  // namespace leat
