#include "leat/store/url_query.h"

#include <gtest/gtest.h>

namespace leat {
namespace {

TEST(CheckQueryKeys, RefusesWhatIsNotKnownAndSaysWhatIs) {
  Url url;
  url.scheme = "null";
  EXPECT_TRUE(check_query_keys(url, {}).ok());
  url.query = {{"size", "1"}};
  EXPECT_TRUE(check_query_keys(url, {"count", "size"}).ok());
  url.query = {{"size", "1"}, {"siez", "2"}};
  const auto status = check_query_keys(url, {"count", "size"});
  ASSERT_TRUE(status.failed_with(ErrorCode::kInvalidArgument));
  EXPECT_NE(status.error().message().find("siez"), std::string_view::npos);
  EXPECT_NE(status.error().message().find("count size"), std::string_view::npos);
}

}  // namespace
}  // namespace leat
