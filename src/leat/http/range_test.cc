#include "leat/http/range.h"

#include <gtest/gtest.h>

namespace leat::http {
namespace {

TEST(Range, IsCutToTheObject) {
  EXPECT_EQ(parse_range("bytes=2-4", 10), (Range{2, 3}));
  EXPECT_EQ(parse_range("bytes=7-", 10), (Range{7, 3}));
  EXPECT_EQ(parse_range("bytes=7-99", 10), (Range{7, 3}));
  EXPECT_EQ(parse_range("bytes=0-18446744073709551615", 10), (Range{0, 10}));
  EXPECT_EQ(parse_range("bytes=-3", 10), (Range{7, 3}));
  EXPECT_EQ(parse_range("bytes=-99", 10), (Range{0, 10}));
}

TEST(Range, MayAskForNothing) {
  EXPECT_EQ(parse_range("bytes=10-", 10)->length, 0u);
  EXPECT_EQ(parse_range("bytes=-0", 10)->length, 0u);
  EXPECT_EQ(parse_range("bytes=0-", 0)->length, 0u);
}

TEST(Range, IsIgnoredWhenItIsNone) {
  for (const char* text : {"", "bytes=", "lines=1-2", "bytes=4-2", "bytes=x-", "bytes=0-1,3-4",
                           "bytes=-", "bytes=1 -2", "bytes=99999999999999999999-"}) {
    EXPECT_EQ(parse_range(text, 10), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace leat::http
