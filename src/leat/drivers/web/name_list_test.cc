#include "leat/drivers/web/name_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "leat/store/testing/contract.h"

namespace leat::web {
namespace {

using leat::testing::fails_with;
using ::testing::ElementsAre;

TEST(NameTemplate, ExpandsAsAShellDoes) {
  EXPECT_THAT(*expand_template("plain"), ElementsAre("plain"));
  EXPECT_THAT(*expand_template("s-{008..010}.tar"),
              ElementsAre("s-008.tar", "s-009.tar", "s-010.tar"));
  EXPECT_THAT(*expand_template("{8..10}"), ElementsAre("8", "9", "10"));
  EXPECT_THAT(*expand_template("{train,val}/{0..1}"),
              ElementsAre("train/0", "train/1", "val/0", "val/1"));
  EXPECT_THAT(*expand_template("{18446744073709551615..18446744073709551615}"),
              ElementsAre("18446744073709551615"));
  for (const char* bad : {"{", "}", "{}", "{a}", "{1..}", "{..1}", "{2..1}", "{a..b}", "x}y{1..2}",
                          "{-1..1}", "{{1..2}}", "{000000000000000000000000000000..1}"}) {
    EXPECT_TRUE(fails_with(expand_template(bad), ErrorCode::kInvalidArgument)) << bad;
  }
  for (const char* huge : {"{0..10000000}", "{0..9999}{0..9999}", "{0..18446744073709551615}"}) {
    EXPECT_TRUE(fails_with(expand_template(huge), ErrorCode::kTooLarge)) << huge;
  }
}

TEST(Manifest, IsLinesOrAList) {
  EXPECT_THAT(*parse_manifest("a.tar\r\n\nsub/b c.tar\nlast"),
              ElementsAre("a.tar", "sub/b c.tar", "last"));
  EXPECT_THAT(*parse_manifest("\n[\"a\", \"b/\\u00e9\"]\n"), ElementsAre("a", "b/\xc3\xa9"));
  EXPECT_THAT(*parse_manifest(""), ElementsAre());
  for (const char* bad : {"/absolute", "../up", "a/../b", "a//b", "http://host/x", "a\n.\n", "[1]",
                          "[\"a\"", "[\"../a\"]", "folder/"}) {
    EXPECT_TRUE(fails_with(parse_manifest(bad), ErrorCode::kInvalidArgument)) << bad;
  }
}

}  // namespace
}  // namespace leat::web
