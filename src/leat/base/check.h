// CHECK(condition): aborts the process when an invariant of ours is broken.
//
// For bugs only, never for bad input or failed I/O. It stays on in release builds: a store that
// goes on after a broken invariant can lose data.
#pragma once

namespace leat {
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;
}

#define CHECK(condition)                                    \
  do {                                                      \
    if (!(condition)) [[unlikely]]                          \
      ::leat::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
