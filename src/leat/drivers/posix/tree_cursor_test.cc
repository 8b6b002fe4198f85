#include "leat/drivers/posix/tree_cursor.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "leat/base/testing/temporary_directory.h"

namespace leat {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

// What the cursor answers is tested over the whole store; here, what it does not read.
class TreeCursorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto tree = Tree::open(root().string());
    ASSERT_TRUE(tree.ok());
    tree_ = *std::move(tree);
  }

  const fs::path& root() const { return directory_.path(); }

  void make_files(const Names& names) {
    for (const std::string& name : names) {
      fs::create_directories((root() / name).parent_path());
      std::ofstream(root() / name).flush();
    }
  }

  // Makes the directory look as if it had been left alone for an hour.
  void age() { fs::last_write_time(root(), fs::file_time_type::clock::now() - kAge); }

  Names list(DirectoryCache& cache, const ListRequest& request = {}) const {
    const Context context;
    TreeCursor cursor(*tree_, cache, request, context);
    const auto page = list_ordered(request, cursor, context);
    EXPECT_TRUE(page.ok());
    Names names;
    if (!page.ok()) return names;
    for (const auto& entry : page->entries) names.push_back(entry.name);
    for (const auto& prefix : page->common_prefixes) names.push_back(prefix);
    return names;
  }

  bool is_kept(const DirectoryCache& cache) const {
    const auto status = tree_->status(".");
    return status.ok() && cache.find(*status) != nullptr;
  }

  static constexpr std::chrono::hours kAge{1};
  const testing::TemporaryDirectory directory_;
  std::shared_ptr<const Tree> tree_;
};

TEST_F(TreeCursorTest, KeepsALargeDirectoryUntilItChanges) {
  make_files({"a", "b", "c"});
  age();
  DirectoryCache cache(3);
  EXPECT_EQ(list(cache), (Names{"a", "b", "c"}));
  EXPECT_TRUE(is_kept(cache));
  EXPECT_EQ(list(cache), (Names{"a", "b", "c"}));
  make_files({"d"});
  EXPECT_FALSE(is_kept(cache));
  EXPECT_EQ(list(cache), (Names{"a", "b", "c", "d"}));
  age();
  EXPECT_EQ(list(cache), (Names{"a", "b", "c", "d"}));
  EXPECT_TRUE(is_kept(cache));
  fs::remove(root() / "a");
  EXPECT_EQ(list(cache), (Names{"b", "c", "d"}));
}

TEST_F(TreeCursorTest, KeepsNoDirectoryThatChangedLately) {
  make_files({"a", "b", "c"});
  DirectoryCache cache(3);
  EXPECT_EQ(list(cache).size(), 3u);
  EXPECT_FALSE(is_kept(cache)) << "a change in the same tick would go unnoticed";
}

TEST_F(TreeCursorTest, KeepsNoSmallDirectory) {
  make_files({"a", "b"});
  age();
  DirectoryCache cache(3);
  EXPECT_EQ(list(cache).size(), 2u);
  EXPECT_FALSE(is_kept(cache));
}

TEST_F(TreeCursorTest, AKeptFileThatIsGoneIsLeftOut) {
  make_files({"dir/a", "dir/b", "dir/c"});
  const Context context;
  const ListRequest request;
  DirectoryCache cache;
  TreeCursor cursor(*tree_, cache, request, context);
  ASSERT_TRUE(cursor.seek("dir/b").ok());
  ASSERT_EQ(cursor.name(), "dir/b");
  fs::remove(root() / "dir/b");
  EXPECT_TRUE(cursor.info().failed_with(ErrorCode::kNotFound));
  ASSERT_TRUE(cursor.next().ok());
  EXPECT_EQ(cursor.name(), "dir/c");
  EXPECT_TRUE(cursor.info().ok());
}

TEST_F(TreeCursorTest, EndsAfterThePrefixAndEntersNothingElse) {
  make_files({"before/x", "train/1", "train/2", "val/x"});
  ListRequest request;
  request.prefix = "train/";
  const Context context;
  DirectoryCache cache;
  TreeCursor cursor(*tree_, cache, request, context);
  ASSERT_TRUE(cursor.seek("train/").ok());
  EXPECT_EQ(cursor.name(), "train/1");
  ASSERT_TRUE(cursor.next().ok());
  EXPECT_EQ(cursor.name(), "train/2");
  ASSERT_TRUE(cursor.next().ok());
  EXPECT_FALSE(cursor.valid());
}

TEST_F(TreeCursorTest, AnyObjectStandsForACommonPrefix) {
  make_files({"dir/deep/er/file", "empty/x", "top"});
  fs::remove(root() / "empty/x");
  ListRequest request;
  request.delimiter = "/";
  const Context context;
  DirectoryCache cache;
  TreeCursor cursor(*tree_, cache, request, context);
  ASSERT_TRUE(cursor.seek("").ok());
  EXPECT_EQ(cursor.name(), "dir/deep/er/file");
  EXPECT_TRUE(cursor.info().ok());
  EXPECT_EQ(list(cache, request), (Names{"top", "dir/"}));
}

TEST_F(TreeCursorTest, SeeksForwardAndBack) {
  make_files({"a/1", "a/2", "b", "c/1"});
  const Context context;
  const ListRequest request;
  DirectoryCache cache;
  TreeCursor cursor(*tree_, cache, request, context);
  const auto name_at = [&](std::string_view position) {
    EXPECT_TRUE(cursor.seek(position).ok());
    return cursor.valid() ? std::string(cursor.name()) : std::string();
  };
  EXPECT_FALSE(cursor.valid());
  EXPECT_EQ(name_at("c"), "c/1");
  EXPECT_EQ(name_at("a/2"), "a/2");
  EXPECT_EQ(name_at("a/3"), "b");
  EXPECT_EQ(name_at("a"), "a/1");
  EXPECT_EQ(name_at("c/2"), "");
  EXPECT_EQ(name_at("b"), "b");
}

}  // namespace
}  // namespace leat
