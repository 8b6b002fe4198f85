// EmbeddedFile: a file of the source tree that is part of the program; leat_embed() in
// cmake/leat.cmake makes them. A value; lives as long as the program.
#pragma once

#include <span>
#include <string_view>

namespace leat {

struct EmbeddedFile {
  std::string_view name;    // without folders
  std::string_view digest;  // SHA-256, hexadecimal
  std::string_view text;
};

}  // namespace leat
