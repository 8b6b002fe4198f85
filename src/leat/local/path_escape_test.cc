#include "leat/local/path_escape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/file_path.h"
#include "leat/base/random.h"

namespace leat::local {
namespace {

std::string repeated(std::size_t count, char c) {
  return std::string(count, c);
}

// What every escaped path promises: a file system takes it, and it leads back to its key.
void expect_reversible(const std::string& key) {
  const std::string path = escape_path(key);
  EXPECT_TRUE(check_path(path).ok()) << path;
  const auto back = unescape_path(path);
  ASSERT_TRUE(back.ok()) << path;
  EXPECT_EQ(*back, key);
  EXPECT_EQ(is_plain_path(key), path == key) << path;
}

TEST(PathEscape, LeavesPlainKeysAlone) {
  for (const std::string key : {"a", "bucket/name", "a/b/c.d", "...", ".hidden/..x", "a b\n\xff"}) {
    EXPECT_TRUE(is_plain_path(key));
    EXPECT_EQ(escape_path(key), key);
    expect_reversible(key);
  }
}

TEST(PathEscape, WritesTheDocumentedForms) {
  EXPECT_EQ(escape_path("a%b~c"), "a%25b%7Ec");
  EXPECT_EQ(escape_path(std::string("a\0b", 3)), "a%00b");
  EXPECT_EQ(escape_path("a//b/"), "a/%/b/%");
  EXPECT_EQ(escape_path(""), "%");
  EXPECT_EQ(escape_path("/"), "%/%");
  EXPECT_EQ(escape_path("./../..."), "%2E/%2E%2E/...");
  EXPECT_EQ(escape_path(repeated(200, 'x')), repeated(200, 'x'));
  EXPECT_EQ(escape_path(repeated(201, 'x')), repeated(200, 'x') + "~c/x");
  EXPECT_EQ(escape_path(repeated(401, 'x')),
            repeated(200, 'x') + "~c/" + repeated(200, 'x') + "~c/x");
}

TEST(PathEscape, AnEscapeIsNeverCutInTwo) {
  EXPECT_EQ(escape_path(repeated(199, 'x') + "%"), repeated(199, 'x') + "~c/%25");
  EXPECT_EQ(escape_path(repeated(197, 'x') + "%"), repeated(197, 'x') + "%25");
}

TEST(PathEscape, TheLastPieceOfALongComponentMayBeDots) {
  EXPECT_EQ(escape_path(repeated(200, 'x') + "."), repeated(200, 'x') + "~c/%2E");
  EXPECT_EQ(escape_path(repeated(200, 'x') + ".."), repeated(200, 'x') + "~c/%2E%2E");
  for (const std::string dots : {".", "..", "..."}) {
    expect_reversible(repeated(200, 'x') + dots);
    expect_reversible("b/" + repeated(400, '.') + dots + "/" + dots);
    expect_reversible(repeated(199, 'x') + "%" + dots);
  }
}

TEST(PathEscape, IsReversibleForEveryLength) {
  for (std::size_t length = 0; length <= 1024; ++length) {
    expect_reversible("bucket/" + repeated(length, 'x'));
    expect_reversible("bucket/" + repeated(length, '%'));
  }
}

TEST(PathEscape, IsReversibleForRandomKeysAndKeepsThemApart) {
  Random random(1);
  constexpr std::string_view kAlphabet("/.%~acdg2E\0", 11);
  std::vector<std::pair<std::string, std::string>> paths;
  for (int i = 0; i < 20'000; ++i) {
    std::string key;
    const std::size_t runs = random.uniform(12);
    for (std::size_t run = 0; run < runs; ++run) {
      const std::size_t length = random.uniform(40) == 0 ? random.uniform(250) : 1;
      key += repeated(length, kAlphabet[random.uniform(kAlphabet.size())]);
    }
    expect_reversible(key);
    paths.emplace_back(escape_path(key), key);
  }
  std::sort(paths.begin(), paths.end());
  for (std::size_t i = 1; i < paths.size(); ++i) {
    if (paths[i].first == paths[i - 1].first) {
      EXPECT_EQ(paths[i].second, paths[i - 1].second);
    }
  }
}

TEST(PathEscape, RefusesWhatNoKeyLeadsTo) {
  for (const std::string path : {"",
                                 "/",
                                 "a/",
                                 "/a",
                                 "a//b",
                                 ".",
                                 "..",
                                 "a/..",
                                 "%41",
                                 "%2e",
                                 "%2F",
                                 "%2Ex",
                                 "a%",
                                 "a%2",
                                 "%%",
                                 "a~",
                                 "a~x",
                                 "a~c",
                                 "a~c/b",
                                 "%~c/b",
                                 "a~d",
                                 "a~d~d/b",
                                 "a~g/b",
                                 "a~g1/b",
                                 "a~g",
                                 "a~gG",
                                 "a~g01",
                                 "a~gA",
                                 "a~g11111111111111111",
                                 "a~g1~g2",
                                 "a%7e"}) {
    EXPECT_TRUE(unescape_path(path).failed_with(ErrorCode::kInvalidArgument)) << path;
  }
  EXPECT_FALSE(unescape_path(repeated(201, 'x')).ok());
  EXPECT_FALSE(unescape_path(repeated(200, 'x') + "~c").ok());
  EXPECT_FALSE(unescape_path(repeated(150, 'x') + "~c/" + repeated(150, 'x')).ok());
  EXPECT_FALSE(unescape_path(std::string("a\0b", 3)).ok());
}

TEST(PathEscape, TagsAreNotPartOfTheKey) {
  EXPECT_EQ(tag_version("a/b", 0x2f), "a/b~g2f");
  EXPECT_EQ(tag_version("a", 0), "a~g0");
  EXPECT_EQ(tag_version("a", UINT64_MAX), "a~gffffffffffffffff");
  EXPECT_EQ(tag_directories("a/b/c"), "a~d/b~d/c");
  EXPECT_EQ(tag_directories("c"), "c");
  const std::string long_name = repeated(200, 'x') + ".";
  for (const std::string& key :
       {std::string("a/b/c"), std::string("a//%/.."), "b/" + long_name + "/" + long_name}) {
    const std::string path = escape_path(key);
    for (const std::string& tagged : {tag_version(path, 7), tag_directories(path),
                                      tag_version(tag_directories(path), UINT64_MAX)}) {
      EXPECT_TRUE(check_path(tagged).ok()) << tagged;
      const auto back = unescape_path(tagged);
      ASSERT_TRUE(back.ok()) << tagged;
      EXPECT_EQ(*back, key);
    }
  }
}

}  // namespace
}  // namespace leat::local
