#include "leat/base/hash.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "leat/base/random.h"

namespace leat {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::vector<std::byte> random_bytes(Random& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

// One bit at a time, from the definition.
std::uint32_t slow_crc32c(std::span<const std::byte> bytes) {
  std::uint32_t state = 0xFFFFFFFF;
  for (const std::byte byte : bytes) {
    state ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0x82F63B78 : 0);
  }
  return ~state;
}

TEST(Xxh3, IsPinned) {
  EXPECT_EQ(xxh3_64(std::string_view()), 0x2d06800538d394c2u);
  EXPECT_EQ(xxh3_64("leat"), 0xed715a3ae124e62du);
  EXPECT_EQ(xxh3_64("leat", 42), 0x026f5d744482424bu);
  EXPECT_EQ(xxh3_64(bytes_of("leat"), 42), xxh3_64("leat", 42));
}

TEST(Crc32c, StandardVectors) {
  EXPECT_EQ(crc32c(0, {}), 0u);
  EXPECT_EQ(crc32c(0, bytes_of("123456789")), 0xE3069283u);
  // RFC 3720, B.4.
  EXPECT_EQ(crc32c(0, std::vector<std::byte>(32)), 0x8A9136AAu);
  EXPECT_EQ(crc32c(0, std::vector<std::byte>(32, std::byte{0xFF})), 0x62A8AB43u);
  std::vector<std::byte> ascending(32);
  for (std::size_t i = 0; i < ascending.size(); ++i) ascending[i] = static_cast<std::byte>(i);
  EXPECT_EQ(crc32c(0, ascending), 0x46DD794Eu);
}

TEST(Crc32c, AgreesWithTheDefinitionForEveryShortLengthAndAlignment) {
  Random random(1);
  const std::vector<std::byte> bytes = random_bytes(random, 600);
  for (std::size_t start = 0; start < 16; ++start) {
    for (std::size_t size = 0; size + start <= bytes.size(); size += 1 + size / 8) {
      const auto piece = std::span(bytes).subspan(start, size);
      ASSERT_EQ(crc32c(0, piece), slow_crc32c(piece)) << start << " " << size;
    }
  }
}

TEST(Crc32c, GoesOnFromAnEarlierValueAndCombines) {
  Random random(2);
  const std::vector<std::byte> bytes = random_bytes(random, 70'000);
  const std::uint32_t whole = crc32c(0, bytes);
  for (const std::size_t cut : {0u, 1u, 255u, 256u, 4096u, 65'536u, 69'999u, 70'000u}) {
    const auto head = std::span(bytes).first(cut);
    const auto tail = std::span(bytes).subspan(cut);
    EXPECT_EQ(crc32c(crc32c(0, head), tail), whole) << cut;
    EXPECT_EQ(crc32c_combine(crc32c(0, head), crc32c(0, tail), tail.size()), whole) << cut;
  }
}

// Beyond what can be hashed in a test: appending n zeros twice is appending 2n.
TEST(Crc32c, CombineIsAdditiveInHugeLengths) {
  const std::uint32_t crc = crc32c(0, bytes_of("leat"));
  const auto shifted = [](std::uint32_t value, std::uint64_t length) {
    return crc32c_combine(value, 0, length);
  };
  for (int bit = 0; bit < 63; ++bit) {
    const std::uint64_t length = (std::uint64_t{1} << bit) + 12'345;
    EXPECT_EQ(shifted(shifted(crc, length), length), shifted(crc, 2 * length)) << bit;
  }
  // Multiplying by x comes round after 2^31 - 1 steps.
  EXPECT_EQ(shifted(crc, 0x7FFFFFFF), crc);
  EXPECT_EQ(shifted(crc, std::uint64_t{0x7FFFFFFF} << 32), crc);
}

}  // namespace
}  // namespace leat
