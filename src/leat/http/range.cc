#include "leat/http/range.h"

#include <algorithm>
#include <charconv>

namespace leat::http {
namespace {

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Range> parse_range(std::string_view text, std::uint64_t size_bytes) {
  constexpr std::string_view kUnit = "bytes=";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  const std::size_t dash = text.find('-');
  if (dash == text.npos) return std::nullopt;
  const auto first = number(text.substr(0, dash));
  const auto last = number(text.substr(dash + 1));
  if (dash == 0) {  // the last so many bytes
    if (!last) return std::nullopt;
    const std::uint64_t length = std::min(*last, size_bytes);
    return Range{size_bytes - length, length};
  }
  const bool is_open = dash + 1 == text.size();
  if (!first || (!is_open && (!last || *last < *first))) return std::nullopt;
  if (*first >= size_bytes) return Range{*first, 0};
  const std::uint64_t end = is_open || *last >= size_bytes ? size_bytes : *last + 1;
  return Range{*first, end - *first};
}

}  // namespace leat::http
