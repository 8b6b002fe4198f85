#include "leat/http/date.h"

#include <gtest/gtest.h>

namespace leat::http {
namespace {

TEST(Date, IsWrittenAsHttpWantsIt) {
  EXPECT_EQ(format_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(format_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST(Date, IsReadBack) {
  for (const std::time_t time : {0L, 784111777L, 1'800'000'000L, 951'782'400L}) {
    EXPECT_EQ(parse_date(format_date(time)), time);
  }
}

TEST(Date, IsNotGuessed) {
  for (const std::string_view text :
       {"", "now", "Sun, 06 Nov 1994 08:49:37 UTC", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(parse_date(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace leat::http
