#include "leat/base/units.h"

#include <gtest/gtest.h>

#include <limits>

#include "leat/base/random.h"

namespace leat {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr std::uint64_t kMiB = 1 << 20;

TEST(Size, Parses) {
  EXPECT_EQ(*parse_size("512"), 512u);
  EXPECT_EQ(*parse_size("0"), 0u);
  EXPECT_EQ(*parse_size("7B"), 7u);
  EXPECT_EQ(*parse_size("4k"), 4096u);
  EXPECT_EQ(*parse_size("4K"), 4096u);
  EXPECT_EQ(*parse_size("4KiB"), 4096u);
  EXPECT_EQ(*parse_size("4kB"), 4000u);
  EXPECT_EQ(*parse_size("4KB"), 4000u);
  EXPECT_EQ(*parse_size("64MiB"), 64 * kMiB);
  EXPECT_EQ(*parse_size(" 1.5 GB "), 1'500'000'000u);
  EXPECT_EQ(*parse_size("1.5KiB"), 1536u);
  EXPECT_EQ(*parse_size("0.3KiB"), 307u);
  EXPECT_EQ(*parse_size("15.999EiB"), 18'445'591'152'204'944'769u);
  EXPECT_EQ(*parse_size("18446744073709551615"), UINT64_MAX);
}

TEST(Size, RefusesJunkAndOverflow) {
  for (const char* text : {"",
                           " ",
                           "-1",
                           "+1",
                           "1.",
                           ".5",
                           "1.5",
                           "0.5B",
                           "1..5K",
                           "1e3",
                           "0x10",
                           "12x",
                           "K",
                           "1 K B",
                           "1,5K",
                           "1KiBs",
                           "16EiB",
                           "18446744073709551616",
                           "99999999999999999999999999",
                           "1.0000000000000000000001K",
                           "1K 1K",
                           "\xff",
                           "1Kibibyte"}) {
    const Result<std::uint64_t> size = parse_size(text);
    EXPECT_TRUE(size.failed_with(ErrorCode::kInvalidArgument)) << text;
    EXPECT_NE(size.error().message().find("64MiB"), std::string_view::npos) << text;
  }
  const Result<std::uint64_t> huge = parse_size(std::string(1 << 20, 'x'));
  ASSERT_FALSE(huge.ok());
  EXPECT_LT(huge.error().message().size(), 200u);
}

TEST(Size, FormatsExactly) {
  EXPECT_EQ(format_size(0), "0B");
  EXPECT_EQ(format_size(64 * kMiB), "64MiB");
  EXPECT_EQ(format_size(1536), "1536B");
  EXPECT_EQ(format_size(3 * kMiB / 2), "1536KiB");
  EXPECT_EQ(format_size(10'000), "10KB");
  EXPECT_EQ(format_size(12'345), "12345B");
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t size = random.next() >> random.uniform(64) << random.uniform(20);
    ASSERT_EQ(*parse_size(format_size(size)), size);
  }
}

TEST(Size, RoundsForPeople) {
  EXPECT_EQ(format_size_rounded(0), "0B");
  EXPECT_EQ(format_size_rounded(999), "999B");
  EXPECT_EQ(format_size_rounded(1023), "1023B");
  EXPECT_EQ(format_size_rounded(1024), "1.00KiB");
  EXPECT_EQ(format_size_rounded(1536), "1.50KiB");
  EXPECT_EQ(format_size_rounded(12'345'678), "11.8MiB");
  EXPECT_EQ(format_size_rounded(kMiB - 1), "1.00MiB");
  EXPECT_EQ(format_size_rounded(1000 * kMiB), "1000MiB");
  EXPECT_EQ(format_size_rounded(UINT64_MAX), "16.0EiB");
}

TEST(Duration, Parses) {
  EXPECT_EQ(*parse_duration("375us"), 375us);
  EXPECT_EQ(*parse_duration("375µs"), 375us);
  EXPECT_EQ(*parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(*parse_duration("2m"), 2min);
  EXPECT_EQ(*parse_duration("2min"), 2min);
  EXPECT_EQ(*parse_duration("1h30m"), 90min);
  EXPECT_EQ(*parse_duration("1h 30m 0.5s"), 90min + 500ms);
  EXPECT_EQ(*parse_duration("3d"), 72h);
  EXPECT_EQ(*parse_duration("0"), 0ns);
  EXPECT_EQ(*parse_duration("0s"), 0ns);
  EXPECT_EQ(*parse_duration("1 ms"), 1ms);
  EXPECT_EQ(*parse_duration("9223372036854775807ns"), nanoseconds::max());
}

TEST(Duration, RefusesJunkAndOverflow) {
  for (const char* text : {"", "5", "-1s", "1.5", "s", "1x", "30m1h", "1s1s", "1.5h30m", "0.5ns",
                           "9223372036854775808ns", "400000d", "1h30", "1e3s", "1 s s"}) {
    const Result<nanoseconds> duration = parse_duration(text);
    EXPECT_TRUE(duration.failed_with(ErrorCode::kInvalidArgument)) << text;
    EXPECT_NE(duration.error().message().find("375us"), std::string_view::npos) << text;
  }
}

TEST(Duration, FormatsExactly) {
  EXPECT_EQ(format_duration(0ns), "0s");
  EXPECT_EQ(format_duration(375us), "375us");
  EXPECT_EQ(format_duration(1500ms), "1.5s");
  EXPECT_EQ(format_duration(90min), "1h30m");
  EXPECT_EQ(format_duration(1h + 1ns), "1h1ns");
  EXPECT_EQ(format_duration(60250ms), "1m250ms");
  EXPECT_EQ(format_duration(-1500ms), "-1.5s");
  EXPECT_EQ(format_duration(nanoseconds::min()), "-2562047h47m16.854775808s");
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    const auto duration = nanoseconds(random.next() >> (1 + random.uniform(62)));
    ASSERT_EQ(*parse_duration(format_duration(duration)), duration) << duration.count();
  }
}

TEST(Duration, RoundsForPeople) {
  EXPECT_EQ(format_duration_rounded(0ns), "0s");
  EXPECT_EQ(format_duration_rounded(17ns), "17ns");
  EXPECT_EQ(format_duration_rounded(1234ns), "1.23us");
  EXPECT_EQ(format_duration_rounded(999'700ns), "1.00ms");
  EXPECT_EQ(format_duration_rounded(45'600ms), "45.6s");
  EXPECT_EQ(format_duration_rounded(59'970ms), "1m");
  EXPECT_EQ(format_duration_rounded(90s), "1m30s");
  EXPECT_EQ(format_duration_rounded(3599s), "59m59s");
  EXPECT_EQ(format_duration_rounded(3'599'900ms), "1h");
  EXPECT_EQ(format_duration_rounded(2h + 5min + 10s), "2h5m");
  EXPECT_EQ(format_duration_rounded(23h + 59min + 40s), "1d");
  EXPECT_EQ(format_duration_rounded(51h), "2d3h");
  EXPECT_EQ(format_duration_rounded(-90s), "-1m30s");
}

}  // namespace
}  // namespace leat
