#include "leat/base/hash.h"

#include <isa-l/crc.h>
#include <xxhash.h>

#include <algorithm>
#include <array>

namespace leat {
namespace {

// CRC values are polynomials over GF(2) modulo the Castagnoli polynomial, in reflected order: the
// top bit is the coefficient of x^0. Appending n bytes to a message multiplies its CRC by x^(8n).
constexpr std::uint32_t kPolynomial = 0x82F63B78;
constexpr std::uint32_t kOne = 0x80000000;
constexpr std::uint32_t kXToThe8 = kOne >> 8;

constexpr std::uint32_t times_x(std::uint32_t a) {
  return (a >> 1) ^ ((a & 1) != 0 ? kPolynomial : 0);
}

// What the four coefficients that fall off the end come back as, when multiplying by x^4.
constexpr std::array<std::uint32_t, 16> make_carries() {
  std::array<std::uint32_t, 16> carries{};
  for (std::uint32_t i = 0; i < carries.size(); ++i) {
    carries[i] = times_x(times_x(times_x(times_x(i))));
  }
  return carries;
}
constexpr std::array<std::uint32_t, 16> kCarries = make_carries();

// Horner's rule over the eight digits of b, highest powers (lowest bits) first.
constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::array<std::uint32_t, 16> multiples{};
  multiples[8] = a;
  multiples[4] = times_x(a);
  multiples[2] = times_x(multiples[4]);
  multiples[1] = times_x(multiples[2]);
  for (const std::size_t bit : {std::size_t{2}, std::size_t{4}, std::size_t{8}}) {
    for (std::size_t rest = 1; rest < bit; ++rest) {
      multiples[bit + rest] = multiples[bit] ^ multiples[rest];
    }
  }
  std::uint32_t product = 0;
  for (int digit = 0; digit < 8; ++digit, b >>= 4) {
    product = (product >> 4) ^ kCarries[product & 15] ^ multiples[b & 15];
  }
  return product;
}

// kPowers[i][d] is x^(8 · d · 256^i): one factor for each byte of a length. 8 KiB.
using PowerRow = std::array<std::uint32_t, 256>;
constexpr std::array<PowerRow, 8> make_powers() {
  std::array<PowerRow, 8> powers{};
  std::uint32_t base = kXToThe8;
  for (PowerRow& row : powers) {
    row[0] = kOne;
    for (std::size_t d = 1; d < row.size(); ++d) row[d] = multiply(row[d - 1], base);
    base = multiply(row[255], base);
  }
  return powers;
}
constexpr std::array<PowerRow, 8> kPowers = make_powers();

}  // namespace

std::uint64_t xxh3_64(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t xxh3_64(std::string_view bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint32_t crc32c(std::uint32_t crc, std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t kMaxPieceBytes = std::size_t{1} << 30;  // ISA-L counts in an int
  std::uint32_t state = ~crc;  // ISA-L leaves both inversions to us
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kMaxPieceBytes));
    // The parameter lacks a const; ISA-L only reads.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(piece.data()));
    state = crc32_iscsi(data, static_cast<int>(piece.size()), state);
    bytes = bytes.subspan(piece.size());
  }
  return ~state;
}

std::uint32_t crc32c_combine(std::uint32_t crc_a, std::uint32_t crc_b,
                             std::uint64_t length_b) noexcept {
  for (std::size_t i = 0; length_b != 0; ++i, length_b >>= 8) {
    const std::size_t digit = length_b & 255;
    if (digit != 0) crc_a = multiply(kPowers[i][digit], crc_a);
  }
  return crc_a ^ crc_b;
}

}  // namespace leat
