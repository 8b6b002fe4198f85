#include "leat/base/hex.h"

#include <array>
#include <utility>

namespace leat {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}
constexpr std::array<std::uint8_t, 256> kValues = make_values();

std::uint8_t digit_value(char digit) noexcept {
  return kValues[static_cast<unsigned char>(digit)];
}

template <typename Integer, std::size_t width>
void write_digits(Integer value, std::span<char, width> target) noexcept {
  for (std::size_t i = width; i-- > 0; value >>= 4) target[i] = kDigits[value & 15];
}

template <typename Integer>
Result<Integer> parse_digits(std::string_view text) {
  constexpr std::size_t kWidth = sizeof(Integer) * 2;
  Integer value = 0;
  std::uint8_t seen = 0;
  for (const char digit : text.substr(0, kWidth)) {
    seen |= digit_value(digit);
    value = static_cast<Integer>(value << 4) | (digit_value(digit) & 15);
  }
  if (text.size() != kWidth || seen > 15) {
    return Error(ErrorCode::kInvalidArgument,
                 "expected " + std::to_string(kWidth) + " lower-case hexadecimal digits");
  }
  return value;
}

}  // namespace

void write_hex(std::uint32_t value, std::span<char, 8> target) noexcept {
  write_digits(value, target);
}

void write_hex(std::uint64_t value, std::span<char, 16> target) noexcept {
  write_digits(value, target);
}

std::string to_hex(std::uint32_t value) {
  std::string text(8, '0');
  write_digits(value, std::span<char, 8>(text));
  return text;
}

std::string to_hex(std::uint64_t value) {
  std::string text(16, '0');
  write_digits(value, std::span<char, 16>(text));
  return text;
}

std::string to_hex(std::span<const std::byte> bytes) {
  std::string text(bytes.size() * 2, '0');
  char* position = text.data();
  for (const std::byte byte : bytes) {
    *position++ = kDigits[std::to_integer<std::size_t>(byte) >> 4];
    *position++ = kDigits[std::to_integer<std::size_t>(byte) & 15];
  }
  return text;
}

Result<std::uint32_t> parse_hex_u32(std::string_view text) {
  return parse_digits<std::uint32_t>(text);
}

Result<std::uint64_t> parse_hex_u64(std::string_view text) {
  return parse_digits<std::uint64_t>(text);
}

Result<std::vector<std::byte>> parse_hex_bytes(std::string_view text) {
  if (text.size() % 2 != 0) {
    return Error(ErrorCode::kInvalidArgument, "an odd number of hexadecimal digits");
  }
  std::vector<std::byte> bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint8_t high = digit_value(text[2 * i]);
    const std::uint8_t low = digit_value(text[2 * i + 1]);
    if ((high | low) > 15) {
      return Error(ErrorCode::kInvalidArgument, "expected lower-case hexadecimal digits");
    }
    bytes[i] = static_cast<std::byte>(high << 4 | low);
  }
  return bytes;
}

}  // namespace leat
