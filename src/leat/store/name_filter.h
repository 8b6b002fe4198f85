// NameFilter: which names a command is about, by the patterns that people know from shells.
//
//   *      any bytes but '/'              ?      one byte but '/'
//   **     any bytes                      [a-z]  one of these bytes, [!a-z] one of the others
//   \x     x itself
//
// A pattern without '/' is compared with the last component of a name ("*.jpg" finds "a/b/1.jpg"),
// one with '/' with the whole name; a '/' in front says "the whole name" and is no part of it. A
// name passes when it matches some include pattern, or there is none, and no exclude pattern.
//
// Matching takes time proportional to pattern times name, whatever the pattern. Immutable after it
// was made, hence thread-safe.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"

namespace leat {

class NamePattern {
 public:
  // kInvalidArgument for an empty pattern, an open '[' or a '\' at the end.
  static Result<NamePattern> parse(std::string_view text);
  bool matches(std::string_view name) const;

 private:
  struct Token {
    enum class Kind : std::uint8_t { kByte, kStar, kStarStar };
    Kind kind = Kind::kByte;
    std::bitset<256> bytes;  // of kByte
  };

  static Result<Token> parse_class(std::string_view& rest);
  // Adds the states that are reached from `states` without a byte.
  void close(std::vector<bool>& states) const;

  std::vector<Token> tokens_;
  bool whole_name_ = false;
};

class NameFilter {
 public:
  // Lets everything pass.
  NameFilter() = default;
  static Result<NameFilter> parse(const std::vector<std::string>& include,
                                  const std::vector<std::string>& exclude);
  bool passes(std::string_view name) const;

 private:
  std::vector<NamePattern> include_;
  std::vector<NamePattern> exclude_;
};

}  // namespace leat
