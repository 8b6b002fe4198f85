// A TOML text as a tree, free of the types, exceptions and surprises of the library that parses it.
//
// Texts come from users and may be hostile: whatever the bytes, the answer is a tree or the line
// and the reason why there is none, and the depth of the tree is bounded. Beyond TOML's own rules,
// a line has at most 32 dots outside of strings. A pure function, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace leat {

// Monostate: a table, or a value of a kind that we have no use for (dates, mixed arrays).
using TomlValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>>;

struct TomlNode {
  std::string key;       // "" at the root
  std::size_t line = 0;  // where the key stands, from 1
  std::string_view kind = "a table";
  TomlValue value;
  bool is_table = false;
  std::vector<TomlNode> children;  // of a table, in byte order of their keys
};

struct TomlProblem {
  std::size_t line = 0;
  std::string text;
};

std::variant<TomlNode, TomlProblem> parse_toml(std::string_view text);

}  // namespace leat
