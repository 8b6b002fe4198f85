#include "leat/store/name_filter.h"

#include <gtest/gtest.h>

namespace leat {
namespace {

bool matches(std::string_view pattern, std::string_view name) {
  const Result<NamePattern> parsed = NamePattern::parse(pattern);
  EXPECT_TRUE(parsed.ok()) << pattern;
  return parsed.ok() && parsed->matches(name);
}

TEST(NamePattern, StarsStayWithinAComponent) {
  EXPECT_TRUE(matches("a/*.jpg", "a/1.jpg"));
  EXPECT_FALSE(matches("a/*.jpg", "a/b/1.jpg"));
  EXPECT_TRUE(matches("a/**.jpg", "a/b/1.jpg"));
  EXPECT_TRUE(matches("a/**", "a/"));
  EXPECT_FALSE(matches("a/?", "a//"));
  EXPECT_TRUE(matches("**/x", "a/b/x"));
}

TEST(NamePattern, WithoutSlashMeansTheLastComponent) {
  EXPECT_TRUE(matches("*.jpg", "a/b/1.jpg"));
  EXPECT_TRUE(matches("1.*", "a/b/1.jpg"));
  EXPECT_FALSE(matches("a*", "a/b/1.jpg"));
  EXPECT_FALSE(matches("/*.jpg", "a/1.jpg"));
  EXPECT_TRUE(matches("/*.jpg", "1.jpg"));
}

TEST(NamePattern, ClassesAndEscapes) {
  EXPECT_TRUE(matches("[0-9a]x", "7x"));
  EXPECT_TRUE(matches("[0-9a]x", "ax"));
  EXPECT_FALSE(matches("[!0-9]x", "7x"));
  EXPECT_FALSE(matches("a[!b]c", "a/c"));
  EXPECT_TRUE(matches("[]]", "]"));
  EXPECT_TRUE(matches("\\*", "*"));
  EXPECT_FALSE(matches("\\*", "x"));
  EXPECT_TRUE(matches("?", "\xff"));
  EXPECT_TRUE(matches("[\x80-\xff]", "\xfe"));
}

TEST(NamePattern, RefusesWhatIsBroken) {
  for (const char* text : {"", "/", "[a", "a\\", "[]"}) {
    EXPECT_TRUE(NamePattern::parse(text).failed_with(ErrorCode::kInvalidArgument)) << text;
  }
}

TEST(NamePattern, HostilePatternsAreFast) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(matches(pattern + "b", std::string(1000, 'a')));
}

TEST(NameFilter, ExcludeWinsOverInclude) {
  const auto filter = NameFilter::parse({"*.jpg", "*.png"}, {"bad/**"});
  ASSERT_TRUE(filter.ok());
  EXPECT_TRUE(filter->passes("a/1.png"));
  EXPECT_FALSE(filter->passes("a/1.txt"));
  EXPECT_FALSE(filter->passes("bad/1.png"));
  EXPECT_TRUE(NameFilter().passes("anything"));
  EXPECT_FALSE(NameFilter::parse({"["}, {}).ok());
}

}  // namespace
}  // namespace leat
