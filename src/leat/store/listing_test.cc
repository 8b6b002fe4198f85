#include "leat/store/listing.h"

#include <gtest/gtest.h>

#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace leat {
namespace {

// Counts what is asked of it; the contract suite tests the answers over whole stores.
class SetCursor final : public OrderedCursor {
 public:
  explicit SetCursor(std::set<std::string, std::less<>> names)
      : names_(std::move(names)), at_(names_.end()) {}

  Status seek(std::string_view at_or_after) override {
    ++seeks;
    at_ = names_.lower_bound(at_or_after);
    return ok_status();
  }
  bool valid() const override { return at_ != names_.end(); }
  std::string_view name() const override { return *at_; }
  Status next() override {
    ++steps;
    ++at_;
    if (steps == cancel_at) cancellation.request_stop();
    return ok_status();
  }
  Result<ObjectInfo> info() const override {
    if (gone.contains(*at_)) return ErrorCode::kNotFound;
    if (broken.contains(*at_)) return ErrorCode::kCorrupted;
    return ObjectInfo{};
  }

  int seeks = 0;
  int steps = 0;
  int cancel_at = -1;
  std::stop_source cancellation;
  std::set<std::string, std::less<>> gone;
  std::set<std::string, std::less<>> broken;

 private:
  const std::set<std::string, std::less<>> names_;
  std::set<std::string, std::less<>>::const_iterator at_;
};

std::vector<std::string> names_of(const ListPage& page) {
  std::vector<std::string> names;
  for (const auto& entry : page.entries) names.push_back(entry.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(AfterPrefix, IncrementsTheLastByteThatCanGrow) {
  EXPECT_EQ(after_prefix("a"), "b");
  EXPECT_EQ(after_prefix("a/"), "a0");
  EXPECT_EQ(after_prefix("a\xff"), "b");
  EXPECT_EQ(after_prefix("a\xff\xff"), "b");
  EXPECT_EQ(after_prefix("\x7f"), "\x80");
  EXPECT_EQ(after_prefix("\xfe"), "\xff");
  EXPECT_EQ(after_prefix("\xff"), std::nullopt);
  EXPECT_EQ(after_prefix(""), std::nullopt);
}

TEST(CommonPrefix, EndsWithTheFirstDelimiterAfterThePrefix) {
  EXPECT_EQ(common_prefix("a/b/c", "", "/"), "a/");
  EXPECT_EQ(common_prefix("a/b/c", "a/", "/"), "a/b/");
  EXPECT_EQ(common_prefix("a/b/c", "a", "/"), "a/");
  EXPECT_EQ(common_prefix("a/b/c", "a/b/", "/"), "");
  EXPECT_EQ(common_prefix("a/b/c", "a/b/c", "/"), "");
  EXPECT_EQ(common_prefix("a--b", "a-", "--"), "");  // a delimiter that begins in the prefix
  EXPECT_EQ(common_prefix("a--b", "a", "--"), "a--");
  EXPECT_EQ(common_prefix("a/b", "", ""), "");
}

TEST(ListOrdered, NeverScansACommonPrefix) {
  std::set<std::string, std::less<>> names = {"c"};
  for (int index = 0; index < 5000; ++index) {
    names.insert("a/" + std::to_string(index));
    names.insert("b/" + std::to_string(index));
  }
  SetCursor cursor(names);
  const auto page = list_ordered({.prefix = "", .delimiter = "/", .start_after = ""}, cursor, {});
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->common_prefixes, (Names{"a/", "b/"}));
  EXPECT_EQ(names_of(*page), Names{"c"});
  EXPECT_EQ(cursor.seeks, 3);
  EXPECT_EQ(cursor.steps, 1);
}

TEST(ListOrdered, EndsAfterACommonPrefixThatNothingCanFollow) {
  SetCursor cursor({"\xff\xff", "\xff\xff\x01"});
  ListRequest request;
  request.delimiter = "\xff\xff";
  request.limit = 1;
  const auto page = list_ordered(request, cursor, {});
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->common_prefixes, Names{"\xff\xff"});
  EXPECT_EQ(page->next_start_after, "");
  request.start_after = "\xff\xff";
  EXPECT_TRUE(list_ordered(request, cursor, {})->common_prefixes.empty());
}

TEST(ListOrdered, KnowsTheLastPage) {
  SetCursor cursor({"p/1", "p/2", "q"});
  ListRequest request;
  request.prefix = "p/";
  request.limit = 2;
  EXPECT_EQ(list_ordered(request, cursor, {})->next_start_after, "");
  request.limit = 1;
  EXPECT_EQ(list_ordered(request, cursor, {})->next_start_after, "p/1");
}

TEST(ListOrdered, LeavesOutWhatWentAway) {
  SetCursor cursor({"1", "2", "3", "4"});
  cursor.gone = {"1", "3"};
  ListRequest request;
  request.limit = 2;
  const auto page = list_ordered(request, cursor, {});
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(names_of(*page), (Names{"2", "4"}));
  EXPECT_EQ(page->next_start_after, "");
}

TEST(ListOrdered, HandsOnOtherErrors) {
  SetCursor cursor({"1", "2", "3"});
  cursor.broken = {"2"};
  EXPECT_TRUE(list_ordered({}, cursor, {}).failed_with(ErrorCode::kCorrupted));
}

TEST(ListOrdered, StopsWhenCancelledOnTheWay) {
  std::set<std::string, std::less<>> names;
  for (int index = 0; index < 10'000; ++index) names.insert(std::to_string(index));
  SetCursor cursor(names);
  cursor.gone = names;  // nothing ever fills the page
  cursor.cancel_at = 1500;
  const Context context = Context().with_cancellation(cursor.cancellation.get_token());
  EXPECT_TRUE(list_ordered({}, cursor, context).failed_with(ErrorCode::kCancelled));
  EXPECT_LE(cursor.steps, 2500);
}

}  // namespace
}  // namespace leat
