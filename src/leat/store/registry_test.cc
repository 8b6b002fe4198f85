#include "leat/store/registry.h"

#include <gtest/gtest.h>

#include "leat/store/testing/contract.h"
#include "leat/store/testing/plain_store.h"

namespace leat {
namespace {

Registry make_registry() {
  Registry registry;
  registry.add("plain", [](const Url& url, IfMissing if_missing) -> Result<StoreLocation> {
    if (if_missing == IfMissing::kFail && url.path == "/missing") return ErrorCode::kNotFound;
    return StoreLocation{std::make_shared<testing::PlainStore>(), url.path};
  });
  registry.add("other", [](const Url&, IfMissing) -> Result<StoreLocation> {
    return Error(ErrorCode::kUnavailable, "not today");
  });
  return registry;
}

TEST(Registry, OpensByScheme) {
  const Registry registry = make_registry();
  const auto location = registry.open("plain:///some/name", IfMissing::kFail);
  ASSERT_TRUE(testing::succeeds(location));
  EXPECT_NE(location->store, nullptr);
  EXPECT_EQ(location->name, "/some/name");
  EXPECT_TRUE(registry.open("other://", IfMissing::kFail).failed_with(ErrorCode::kUnavailable));
}

TEST(Registry, TellsTheDriverWhetherToCreate) {
  const Registry registry = make_registry();
  EXPECT_TRUE(
      registry.open("plain:///missing", IfMissing::kFail).failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(testing::succeeds(registry.open("plain:///missing", IfMissing::kCreate)));
}

TEST(Registry, NamesTheKnownSchemesWhenOneIsUnknown) {
  const Registry registry = make_registry();
  const auto location = registry.open("unheard://of", IfMissing::kFail);
  ASSERT_TRUE(location.failed_with(ErrorCode::kInvalidArgument));
  EXPECT_NE(location.error().message().find("unheard"), std::string_view::npos);
  EXPECT_NE(location.error().message().find("other, plain"), std::string_view::npos);
}

TEST(Registry, RefusesABrokenUrl) {
  EXPECT_TRUE(make_registry()
                  .open("plain://?a=%zz", IfMissing::kFail)
                  .failed_with(ErrorCode::kInvalidArgument));
}

TEST(Registry, ListsSchemesInOrder) {
  EXPECT_EQ(make_registry().schemes(), (std::vector<std::string>{"other", "plain"}));
  EXPECT_TRUE(Registry().schemes().empty());
}

}  // namespace
}  // namespace leat
