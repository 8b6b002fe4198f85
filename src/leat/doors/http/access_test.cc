#include "leat/doors/http/access.h"

#include <gtest/gtest.h>

namespace leat::doors::http {
namespace {

TEST(Access, GivesEachKeyItsRights) {
  Access access;
  ASSERT_TRUE(
      access
          .add_keys("# people\nROOT sesame admin\n\n  ANNA pass read:photos write:photos/anna/"
                    "  # hers\r\nBOT word read\n")
          .ok());
  EXPECT_EQ(access.size(), 3u);
  EXPECT_EQ(access.secret_of("ANNA"), "pass");
  EXPECT_EQ(access.secret_of("NOBODY"), std::nullopt);
  EXPECT_TRUE(access.allows("ROOT", Right::kAdmin, "", ""));
  EXPECT_TRUE(access.allows("ROOT", Right::kWrite, "any", "thing"));
  EXPECT_TRUE(access.allows("ANNA", Right::kRead, "photos", "cat"));
  EXPECT_TRUE(access.allows("ANNA", Right::kWrite, "photos", "anna/cat"));
  EXPECT_TRUE(access.allows("ANNA", Right::kRead, "photos", "anna/cat"));
  EXPECT_FALSE(access.allows("ANNA", Right::kWrite, "photos", "anna"));
  EXPECT_FALSE(access.allows("ANNA", Right::kWrite, "photos", "cat"));
  EXPECT_FALSE(access.allows("ANNA", Right::kRead, "photos2", "cat"));
  EXPECT_FALSE(access.allows("ANNA", Right::kRead, "", ""));
  EXPECT_FALSE(access.allows("ANNA", Right::kAdmin, "photos", ""));
  EXPECT_TRUE(access.allows("BOT", Right::kRead, "photos", "x"));
  EXPECT_FALSE(access.allows("BOT", Right::kWrite, "photos", "x"));
  EXPECT_FALSE(access.allows("", Right::kRead, "photos", "x"));
}

TEST(Access, OfStrangersIsWhatTheServerSays) {
  EXPECT_TRUE(Access(Anonymous::kRead).allows("", Right::kRead, "b", "x"));
  EXPECT_FALSE(Access(Anonymous::kRead).allows("", Right::kWrite, "b", "x"));
  EXPECT_TRUE(Access(Anonymous::kWrite).allows("", Right::kAdmin, "b", "x"));
}

TEST(Access, ErrorsNameTheLineAndNoSecret) {
  for (const std::string_view text :
       {"ok s admin\nANNA hush\n", "ok s admin\nANNA\n", "ok s admin\nANNA hush see\n",
        "ok s admin\nANNA hush read:\n", "ok s admin\nANNA hush read:/x\n",
        "ok s admin\nok hush admin\n"}) {
    Access access;
    const auto status = access.add_keys(text);
    ASSERT_TRUE(status.failed_with(ErrorCode::kInvalidArgument)) << text;
    EXPECT_TRUE(status.error().message().starts_with("line 2:")) << status.error().message();
    EXPECT_EQ(status.error().message().find("hush"), std::string::npos);
  }
}

TEST(Access, ANewKeyIsOneThatCanBeRead) {
  const auto first = make_key("admin");
  const auto second = make_key("admin");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(*first, *second);
  Access access;
  ASSERT_TRUE(access.add_keys(*first + "\n" + *second).ok());
  EXPECT_EQ(access.size(), 2u);
  const std::string id = first->substr(0, first->find(' '));
  EXPECT_TRUE(access.allows(id, Right::kAdmin, "any", ""));
  EXPECT_EQ(access.secret_of(id)->size(), 40u);
}

}  // namespace
}  // namespace leat::doors::http
