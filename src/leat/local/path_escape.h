// How a key becomes a path: in the tar headers of packs, and in the tree of large objects.
//
// A plain key is its own path, so that familiar tools show what is stored. What a path cannot hold
// is escaped, reversibly, component by component (docs/formats.md):
//   '%' and '~'            %25 and %7E          NUL                     %00
//   an empty component     %                    "." and ".."            %2E and %2E%2E
//   more than 200 bytes    pieces of at most 200 bytes; each but the last ends in "~c"
//
// "~" therefore never stands for itself; "~d" and "~g…" at the end of a component are tags that
// keep a directory from meeting a file, and a version from meeting an older one. They are not part
// of the key. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "leat/base/result.h"

namespace leat::local {

// Whether escape_path(key) == key. Cheap; true for nearly every key.
bool is_plain_path(std::string_view key) noexcept;

std::string escape_path(std::string_view key);

// The inverse, tags dropped. kInvalidArgument for a path that no key and tags lead to.
Result<std::string> unescape_path(std::string_view path);

// `path` with the tag of a version at its end: "a/b" -> "a/b~g2f".
std::string tag_version(std::string_view path, std::uint64_t generation);
// `path` with every directory tagged: "a/b/c" -> "a~d/b~d/c", for a path whose plain directories
// are taken by files.
std::string tag_directories(std::string_view path);

}  // namespace leat::local
