#include "leat/drivers/all.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace leat {
namespace {

TEST(AllDrivers, OpensTheSimpleOnes) {
  const Registry registry = all_drivers();
  const auto schemes = registry.schemes();
  for (const char* scheme : {"file", "http", "https", "leat", "leats", "mem", "null"}) {
    EXPECT_NE(std::find(schemes.begin(), schemes.end(), scheme), schemes.end()) << scheme;
  }
  for (const char* url : {"mem:", "null:x@4KiB", "file:///", "http://127.0.0.1/x/"}) {
    const auto location = registry.open(url, IfMissing::kFail);
    ASSERT_TRUE(location.ok()) << url;
    EXPECT_NE(location->store, nullptr);
  }
  EXPECT_TRUE(registry.open("nope://x", IfMissing::kFail).failed_with(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace leat
