#include "leat/doors/http/s3/request.h"

#include <charconv>

namespace leat::doors::http::s3 {

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace leat::doors::http::s3
