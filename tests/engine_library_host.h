// What the shared library of engine_library_test exports: a store behind a C interface that knows
// nothing of C++, as bindings and preloaded libraries have it. Handles may be used by many threads.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Opens the store in a directory, or makes one there. Null when that fails.
void* leat_host_open(const char* directory);
// 0, or -1 when it fails.
int leat_host_put(void* store, const char* name, const void* bytes, size_t size);
// The size of the object, of which at most `size` bytes are given; -1 when it fails.
long leat_host_get(void* store, const char* name, void* buffer, size_t size);
// 0, or -1 when closing fails. The handle is gone in any case.
int leat_host_close(void* store);

#ifdef __cplusplus
}
#endif
