// `mem:`: objects in the memory of this process.
//
// For tests, for benchmarks of what stands above a store, and as the model of the interface: it has
// every capability. Each opening of the URL is a new, empty store, since a library in other
// people's processes keeps no global state. What is acknowledged lives as long as the store,
// whatever Durability was asked for.
//
// Bytes are immutable once committed and shared: readers, slices of read_batch() and copies refer
// to them and copy nothing. Generations count the changes of the whole store. Thread-safe.
#pragma once

#include <memory>

#include "leat/base/clock.h"
#include "leat/store/object_store.h"
#include "leat/store/registry.h"

namespace leat {

// `clock` gives modification times and must outlive the store.
std::shared_ptr<ObjectStore> make_memory_store(const Clock& clock = Clock::system());

// The scheme "mem"; what follows the colon is a name in the new store.
void register_memory(Registry& registry);

}  // namespace leat
