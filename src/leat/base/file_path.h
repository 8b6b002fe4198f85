// What a path of the file seam may look like; shared by every FileSystem, so that all refuse alike.
//
// A path is "." (the root) or names joined by single slashes. There is no way to write a path that
// leaves the root: a FileSystem need not understand "..", "a//b" or "/a", it never sees them.
#pragma once

#include <cstddef>
#include <string_view>

#include "leat/base/result.h"

namespace leat {

inline constexpr std::size_t kMaxPathBytes = 4095;
inline constexpr std::size_t kMaxFileNameBytes = 255;

// kInvalidArgument for an absolute path, an empty, "." or ".." component, a NUL byte, or a name or
// a path that is too long.
Status check_path(std::string_view path);

// "a/b/c" -> "c".
std::string_view file_name(std::string_view path) noexcept;

}  // namespace leat
