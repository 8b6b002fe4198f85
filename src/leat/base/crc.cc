#include "leat/base/crc.h"

#include <isa-l/crc.h>

#include <array>
#include <bit>
#include <climits>
#include <cstring>

namespace leat {
namespace {

constexpr std::uint32_t kCrc32Polynomial = 0xEDB88320;
constexpr std::uint64_t kNvmePolynomial = 0x9A6C9329AC4BC9B5;

// Values are polynomials over GF(2), in reflected order: the top bit is the coefficient of x^0.
template <typename Value>
constexpr Value times_x(Value a, Value polynomial) {
  return (a >> 1) ^ ((a & 1) != 0 ? polynomial : 0);
}

template <typename Value>
Value multiply(Value a, Value b, Value polynomial) {
  Value product = 0;
  for (std::size_t bit = sizeof(Value) * CHAR_BIT; bit-- > 0; a = times_x(a, polynomial)) {
    if (((b >> bit) & 1) != 0) product ^= a;
  }
  return product;
}

// Appending n bytes multiplies by x^(8n), which squaring reaches in as many steps as n has bits.
template <typename Value>
Value combine(Value crc_a, Value crc_b, std::uint64_t length_b, Value polynomial) {
  constexpr Value kXToThe8 = (Value{1} << (sizeof(Value) * CHAR_BIT - 1)) >> 8;
  for (Value power = kXToThe8; length_b != 0; length_b >>= 1) {
    if ((length_b & 1) != 0) crc_a = multiply(power, crc_a, polynomial);
    power = multiply(power, power, polynomial);
  }
  return crc_a ^ crc_b;
}

// kTables[k][b]: what byte b does to the checksum when k more bytes follow it. With eight of them
// eight bytes are taken in one step; ISA-L of this age has no CRC-64/NVME.
using Table = std::array<std::uint64_t, 256>;
constexpr std::array<Table, 8> make_tables() {
  std::array<Table, 8> tables{};
  for (std::uint64_t byte = 0; byte < 256; ++byte) {
    std::uint64_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = times_x(value, kNvmePolynomial);
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint64_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 255];
    }
  }
  return tables;
}
constexpr std::array<Table, 8> kTables = make_tables();

}  // namespace

std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes) noexcept {
  return crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::uint64_t crc64nvme(std::uint64_t crc, std::span<const std::byte> bytes) noexcept {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t state = ~crc;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof(word));
    state ^= word;
    std::uint64_t next = 0;
    for (std::size_t k = 0; k < 8; ++k) next ^= kTables[7 - k][(state >> (8 * k)) & 255];
    state = next;
  }
  for (const std::byte byte : bytes) {
    state = (state >> 8) ^ kTables[0][(state ^ std::to_integer<std::uint64_t>(byte)) & 255];
  }
  return ~state;
}

std::uint32_t crc32_combine(std::uint32_t crc_a, std::uint32_t crc_b,
                            std::uint64_t length_b) noexcept {
  return combine(crc_a, crc_b, length_b, kCrc32Polynomial);
}

std::uint64_t crc64nvme_combine(std::uint64_t crc_a, std::uint64_t crc_b,
                                std::uint64_t length_b) noexcept {
  return combine(crc_a, crc_b, length_b, kNvmePolynomial);
}

}  // namespace leat
