// A TOML 1.0 text as a tree.
//
// Texts come from users and may be hostile: whatever the bytes, the answer is a tree or the line
// and the reason why there is none. Beyond TOML's own rules, a key has at most 32 parts and values
// are nested at most 32 deep. Dates and times are recognised by their form, not computed. A pure
// function, thread-safe.
//
// Our own, because the library that Debian has (toml++ 3.3) reaches undefined behaviour and
// terminates the process on texts that `fuzz_config` finds within a minute.
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
  std::size_t line = 0;  // where the key stands first, from 1
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
