#include "leat/base/hex.h"

#include <gtest/gtest.h>

#include <array>

namespace leat {
namespace {

TEST(Hex, IntegersHaveFixedWidth) {
  EXPECT_EQ(to_hex(std::uint32_t{0}), "00000000");
  EXPECT_EQ(to_hex(std::uint32_t{0xDEADBEEF}), "deadbeef");
  EXPECT_EQ(to_hex(std::uint64_t{0x0123456789ABCDEF}), "0123456789abcdef");
  std::array<char, 16> buffer{};
  write_hex(UINT64_MAX, buffer);
  EXPECT_EQ(std::string_view(buffer.data(), buffer.size()), "ffffffffffffffff");
}

TEST(Hex, RoundTrips) {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{UINT64_MAX},
                                    std::uint64_t{0x8000000000000000}}) {
    EXPECT_EQ(*parse_hex_u64(to_hex(value)), value);
  }
  EXPECT_EQ(*parse_hex_u32("89abcdef"), 0x89ABCDEFu);
  std::vector<std::byte> all(256);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i);
  EXPECT_EQ(to_hex(all).size(), 512u);
  EXPECT_EQ(*parse_hex_bytes(to_hex(all)), all);
  EXPECT_TRUE(parse_hex_bytes("")->empty());
}

TEST(Hex, AcceptsOneTextPerValue) {
  for (const char* text : {"", "0", "0000000", "000000000", "0000000G", "DEADBEEF", "0x000000",
                           " 0000000", "-0000001", "0000000\xff"}) {
    EXPECT_TRUE(parse_hex_u32(text).failed_with(ErrorCode::kInvalidArgument)) << text;
  }
  EXPECT_TRUE(parse_hex_u64("00000000").failed_with(ErrorCode::kInvalidArgument));
  for (const char* text : {"0", "0g", "AB", "abc"}) {
    EXPECT_TRUE(parse_hex_bytes(text).failed_with(ErrorCode::kInvalidArgument)) << text;
  }
}

}  // namespace
}  // namespace leat
