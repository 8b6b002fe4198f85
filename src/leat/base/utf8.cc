#include "leat/base/utf8.h"

#include <algorithm>
#include <cstdint>

namespace leat {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t i) noexcept {
  return static_cast<std::uint8_t>(text[i]);
}

bool is_continuation(std::uint8_t byte) noexcept {
  return (byte & 0xC0) == 0x80;
}

// Which second bytes may follow a lead byte: the bounds exclude overlong forms, surrogates and
// what lies above U+10FFFF.
bool second_byte_fits(std::uint8_t lead, std::uint8_t second) noexcept {
  const std::uint8_t lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  return second >= lowest && second <= highest;
}

}  // namespace

std::size_t utf8_character_bytes(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const std::uint8_t lead = byte_at(text, 0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < bytes || !second_byte_fits(lead, byte_at(text, 1))) return 0;
  for (std::size_t i = 2; i < bytes; ++i) {
    if (!is_continuation(byte_at(text, i))) return 0;
  }
  return bytes;
}

std::string to_valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = utf8_character_bytes(text);
    valid += bytes == 0 ? std::string_view("\uFFFD") : text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return valid;
}

std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes) noexcept {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  constexpr std::size_t kMostContinuations = 3;
  const std::size_t lowest = end > kMostContinuations ? end - kMostContinuations : 0;
  while (end > lowest && is_continuation(byte_at(text, end))) --end;
  return text.substr(0, end);
}

}  // namespace leat
