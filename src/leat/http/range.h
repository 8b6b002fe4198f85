// Range headers: "bytes=0-99", "bytes=100-", "bytes=-100".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace leat::http {

struct Range {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // 0: not satisfiable
  bool operator==(const Range&) const = default;
};

// What of `size_bytes` a header asks for. Nothing: it is no range that is served, so all of it.
std::optional<Range> parse_range(std::string_view text, std::uint64_t size_bytes);

}  // namespace leat::http
