#include "leat/base/crc.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "leat/base/random.h"

namespace leat {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::vector<std::byte> random_bytes(std::size_t size) {
  Random random(1);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

// One bit at a time, from the definition.
template <typename Value>
Value slow_crc(std::span<const std::byte> bytes, Value polynomial) {
  Value state = ~Value{0};
  for (const std::byte byte : bytes) {
    state ^= std::to_integer<Value>(byte);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? polynomial : 0);
  }
  return ~state;
}

TEST(Crc, StandardVectors) {
  EXPECT_EQ(crc32(0, {}), 0u);
  EXPECT_EQ(crc32(0, bytes_of("123456789")), 0xCBF43926u);
  EXPECT_EQ(crc64nvme(0, {}), 0u);
  EXPECT_EQ(crc64nvme(0, bytes_of("123456789")), 0xAE8B14860A799888u);
}

TEST(Crc, AgreesWithTheDefinitionForEveryShortLengthAndAlignment) {
  const auto bytes = random_bytes(300);
  for (std::size_t start = 0; start < 16; ++start) {
    for (std::size_t size = 0; size + start <= bytes.size(); size += 1 + size / 8) {
      const auto piece = std::span(bytes).subspan(start, size);
      ASSERT_EQ(crc32(0, piece), slow_crc<std::uint32_t>(piece, 0xEDB88320));
      ASSERT_EQ(crc64nvme(0, piece), slow_crc<std::uint64_t>(piece, 0x9A6C9329AC4BC9B5));
    }
  }
}

TEST(Crc, GoesOnFromAnEarlierValueAndCombines) {
  const auto bytes = random_bytes(70'000);
  for (const std::size_t cut : {0u, 1u, 255u, 4096u, 65'536u, 69'999u, 70'000u}) {
    const auto head = std::span(bytes).first(cut);
    const auto tail = std::span(bytes).subspan(cut);
    EXPECT_EQ(crc32(crc32(0, head), tail), crc32(0, bytes)) << cut;
    EXPECT_EQ(crc64nvme(crc64nvme(0, head), tail), crc64nvme(0, bytes)) << cut;
    EXPECT_EQ(crc32_combine(crc32(0, head), crc32(0, tail), tail.size()), crc32(0, bytes)) << cut;
    EXPECT_EQ(crc64nvme_combine(crc64nvme(0, head), crc64nvme(0, tail), tail.size()),
              crc64nvme(0, bytes))
        << cut;
  }
}

}  // namespace
}  // namespace leat
