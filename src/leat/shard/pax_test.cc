#include "leat/shard/pax.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace leat {
namespace {

using namespace std::string_view_literals;

std::string record(std::string_view key, std::string_view value) {
  std::string target;
  append_pax_record(target, key, value);
  return target;
}

ErrorCode error_of(std::string_view records) {
  for (;;) {
    const auto taken = take_pax_record(records);
    if (!taken.ok()) return taken.error().code();
    if (!taken->has_value()) return ErrorCode::kNotFound;
  }
}

TEST(Pax, RecordsHaveTheirOwnLengthInFront) {
  EXPECT_EQ(record("path", "x"), "9 path=x\n");
  EXPECT_EQ(record("p", "x"), "6 p=x\n");
  EXPECT_EQ(record("abcd", "xy"), "11 abcd=xy\n");  // nine bytes and a digit would be ten
}

TEST(Pax, EveryLengthSurvivesTheRoundTrip) {
  for (std::size_t length = 0; length < 1100; ++length) {
    const std::string value(length, 'v');
    const std::string encoded = record("path", value);
    EXPECT_EQ(std::stoul(encoded), encoded.size());
    std::string_view rest = encoded;
    const auto taken = take_pax_record(rest);
    ASSERT_TRUE(taken.ok() && taken->has_value()) << length;
    EXPECT_EQ((*taken)->key, "path");
    EXPECT_EQ((*taken)->value, value);
    EXPECT_TRUE(rest.empty());
  }
}

TEST(Pax, ValuesMayHoldAnyByte) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const std::string records = record("LEAT.blob", every_byte) + record("path", "a=b\nc");
  std::string_view rest = records;
  EXPECT_EQ((**take_pax_record(rest)).value, every_byte);
  EXPECT_EQ((**take_pax_record(rest)).value, "a=b\nc");
  EXPECT_FALSE(take_pax_record(rest)->has_value());
}

TEST(Pax, ANulWhereARecordWouldStartEndsTheList) {
  EXPECT_EQ(error_of("10 path=x\n\0\0\0"sv), ErrorCode::kNotFound);
}

TEST(Pax, HostileLengthsAreRefused) {
  for (const std::string_view bad :
       {"path=x\n"sv, " 10 path=x\n"sv, "-10 path=x\n"sv, "11 path=x\n"sv, "8 path=x\n"sv, "0 "sv,
        "3 \n"sv, "2 "sv, "10"sv, "10path=xy\n"sv, "99999999999999999999999 path=x\n"sv,
        "18446744073709551615 path=x\n"sv, "5 =x\n"sv, "7 path\n"sv, "10 path=x\0"sv, "1\n"sv}) {
    EXPECT_EQ(error_of(bad), ErrorCode::kCorrupted) << bad;
  }
}

TEST(Pax, SizesAreDecimal) {
  EXPECT_EQ(*parse_pax_size("0"), 0u);
  EXPECT_EQ(*parse_pax_size("9223372036854775807"), std::uint64_t{INT64_MAX});
  EXPECT_TRUE(parse_pax_size("9223372036854775808").failed_with(ErrorCode::kTooLarge));
  for (const std::string_view bad : {"", "-1", "+1", "1.5", "0x10", "1 ", " 1"}) {
    EXPECT_TRUE(parse_pax_size(bad).failed_with(ErrorCode::kCorrupted)) << bad;
  }
}

TEST(Pax, TimesHaveNanosecondsAndMayBeNegative) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  EXPECT_EQ(*parse_pax_time_ns("1700000000"), 1'700'000'000 * kSecond);
  EXPECT_EQ(*parse_pax_time_ns("1.5"), kSecond + kSecond / 2);
  EXPECT_EQ(*parse_pax_time_ns("1.000000001"), kSecond + 1);
  EXPECT_EQ(*parse_pax_time_ns("1.0000000019"), kSecond + 1);
  EXPECT_EQ(*parse_pax_time_ns("-1.5"), -kSecond - kSecond / 2);
  EXPECT_EQ(*parse_pax_time_ns("-0.0000000001"), -1);
  EXPECT_EQ(*parse_pax_time_ns("7."), 7 * kSecond);
  EXPECT_EQ(*parse_pax_time_ns("99999999999999999999"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(*parse_pax_time_ns("9223372036.999999999"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(*parse_pax_time_ns("-99999999999.5"), std::numeric_limits<std::int64_t>::min());
  for (const std::string_view bad : {"", "-", ".5", "1,5", "1.5.5", "1e9", "--1", "1.-5", "now"}) {
    EXPECT_TRUE(parse_pax_time_ns(bad).failed_with(ErrorCode::kCorrupted)) << bad;
  }
}

}  // namespace
}  // namespace leat
