#include "leat/local/checked_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "leat/base/hash.h"
#include "leat/base/hex.h"

namespace leat::local {
namespace {

constexpr std::string_view kLabel = "crc ";
constexpr std::size_t kDigits = 8;

std::uint32_t checksum(std::string_view text) {
  return crc32c(0, std::as_bytes(std::span(text)));
}

}  // namespace

std::string with_checksum(std::string text) {
  text += fmt::format("{}{:08x}\n", kLabel, checksum(text));
  return text;
}

std::optional<std::vector<std::string_view>> checked_lines(std::string_view text) {
  const std::size_t last = text.rfind(kLabel);
  if (last == text.npos || text.size() != last + kLabel.size() + kDigits + 1 ||
      !text.ends_with('\n')) {
    return std::nullopt;
  }
  const auto expected = parse_hex_u32(text.substr(last + kLabel.size(), kDigits));
  std::string_view rest = text.substr(0, last);
  if (!expected.ok() || *expected != checksum(rest)) return std::nullopt;
  std::vector<std::string_view> lines;
  while (!rest.empty()) {
    lines.push_back(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), lines.back().size() + 1));
  }
  return lines;
}

}  // namespace leat::local
