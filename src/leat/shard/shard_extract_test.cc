#include "leat/shard/shard_extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stop_token>
#include <string>

#include "leat/shard/testing/scratch_directory.h"
#include "leat/shard/testing/tar_fixture.h"
#include "leat/store/testing/plain_store.h"

namespace leat {
namespace {

using testing::bytes_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::PlainStore;
using testing::ScratchDirectory;
using testing::TarBuilder;
using testing::text_of;

class ShardExtractTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(scratch_.path() / "target");
    files_ = *FileSystem::posix(scratch_.path() / "target");
  }
  std::unique_ptr<ObjectReader> shard(const std::string& stream) {
    EXPECT_TRUE(write_object(store_, "s.tar", bytes_of(stream), {}, context_).ok());
    return *store_.open("s.tar", {}, context_);
  }
  Result<ShardExtractSummary> to_directory(const std::string& stream) {
    return extract_shard(*shard(stream), *files_, {}, context_);
  }
  Result<ShardExtractSummary> to_store(const std::string& stream,
                                       const ShardExtractOptions& options = {}) {
    return extract_shard(*shard(stream), target_, options, context_);
  }
  // Relative to the scratch directory: what is outside of "target" must not be there.
  std::vector<std::string> everything() { return scratch_.files(); }

  ScratchDirectory scratch_;
  std::unique_ptr<FileSystem> files_;
  PlainStore store_;
  PlainStore target_;
  Context context_;
};

std::string hostile_archive() {
  TarHeader link;
  link.name = "link";
  link.link_name = "..";
  link.type = TarType::kSymbolicLink;
  return TarBuilder()
      .file("first", "1")
      .file("../outside", "x")
      .file("a/../../outside", "x")
      .file("a/..", "x")
      .file("/absolute", "x")
      .header(link)
      .file("link/outside", "through a link that is not made")
      .entry(TarType::kHardLink, "hard", "")
      .entry(TarType::kCharacterDevice, "device", "")
      .file("a/b/last..txt", "2")
      .end()
      .bytes();
}

TEST_F(ShardExtractTest, NothingIsWrittenOutsideAndTheOthersGoOn) {
  const auto summary = to_directory(hostile_archive());
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  EXPECT_THAT(everything(),
              ElementsAre("target/a/b/last..txt", "target/first", "target/link/outside"));
  EXPECT_EQ(summary->extracted, 3u);
  std::vector<std::string> refused;
  for (const ShardExtractFailure& failure : summary->failures) {
    refused.push_back(failure.name);
    EXPECT_EQ(failure.error.code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_THAT(refused, ElementsAre("../outside", "a/../../outside", "a/..", "/absolute"));
  EXPECT_EQ(summary->shard.links, 2u);
  EXPECT_EQ(summary->shard.others, 1u);
  EXPECT_FALSE(std::filesystem::exists("/absolute"));
}

TEST_F(ShardExtractTest, AStoreGetsTheSame) {
  const auto summary = to_store(hostile_archive(), {.prefix = "new/"});
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->extracted, 3u);
  EXPECT_EQ(summary->failures.size(), 4u);
  const auto page = target_.list({}, context_);
  std::vector<std::string> names;
  for (const ListPage::Entry& entry : page->entries) names.push_back(entry.name);
  EXPECT_THAT(names, ElementsAre("new/a/b/last..txt", "new/first", "new/link/outside"));
  EXPECT_EQ(text_of(*read_object(target_, "new/first", context_)), "1");
}

TEST_F(ShardExtractTest, LinksThatLieInTheTargetAreNotFollowed) {
  std::filesystem::create_directory(scratch_.path() / "elsewhere");
  scratch_.write("elsewhere/victim", "untouched");
  std::filesystem::create_directory_symlink("../elsewhere", scratch_.path() / "target/folder");
  std::filesystem::create_symlink("../elsewhere/victim", scratch_.path() / "target/file");
  const auto summary =
      to_directory(TarBuilder().file("folder/new", "x").file("file", "mine").end().bytes());
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(scratch_.read("elsewhere/victim"), "untouched");
  EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "elsewhere/new"));
  ASSERT_EQ(summary->failures.size(), 1u);
  EXPECT_EQ(summary->failures[0].name, "folder/new");
  EXPECT_EQ(scratch_.read("target/file"), "mine");
  EXPECT_FALSE(std::filesystem::is_symlink(scratch_.path() / "target/file"));
}

TEST_F(ShardExtractTest, TheLastOfOneNameWinsAndReplacesWhatWasThere) {
  scratch_.write("target/x", "a longer file that was there before");
  const auto summary = to_directory(TarBuilder().file("x", "1").file("x", "2").end().bytes());
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(scratch_.read("target/x"), "2");
}

TEST_F(ShardExtractTest, ModesKeepNoMoreThanPermissions) {
  TarHeader header;
  header.name = "run";
  header.mode = 06777;
  TarHeader secret;
  secret.name = "secret";
  secret.mode = 0400;
  ASSERT_TRUE(to_directory(TarBuilder().header(header).header(secret).end().bytes()).ok());
  EXPECT_EQ(files_->status("run")->mode, 0755u);
  EXPECT_EQ(files_->status("secret")->mode, 0600u);
}

TEST_F(ShardExtractTest, AMemberInTheWayOfAnotherIsReported) {
  const auto summary =
      to_directory(TarBuilder().file("x", "1").file("x/y", "2").file("z", "3").end().bytes());
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->extracted, 2u);
  ASSERT_EQ(summary->failures.size(), 1u);
  EXPECT_EQ(summary->failures[0].name, "x/y");
}

TEST_F(ShardExtractTest, ADamagedShardLeavesNoHalfMember) {
  const std::string large(3 << 20, 'l');
  const std::string whole = TarBuilder().file("a", "1").file("large", large).end().bytes();
  const auto summary = to_directory(whole.substr(0, 2 << 20));
  EXPECT_TRUE(summary.failed_with(ErrorCode::kCorrupted));
  EXPECT_THAT(everything(), ElementsAre("target/a"));
  EXPECT_TRUE(to_store(whole.substr(0, 2 << 20)).failed_with(ErrorCode::kCorrupted));
  EXPECT_TRUE(target_.stat("large", context_).failed_with(ErrorCode::kNotFound));
}

TEST_F(ShardExtractTest, ExtractsWhatGnuTarMade) {
  scratch_.write("tree/a b/\xc3\xa4.txt", "umlaut");
  scratch_.write("tree/large", std::string(2'500'000, 'x'));
  scratch_.write("tree/" + std::string(120, 'f') + "/" + std::string(180, 'n'), "deep");
  ASSERT_EQ(scratch_.run("ln -s large tree/link && tar -cf s.tar -C tree .").exit_code, 0);
  const auto summary = to_directory(scratch_.read("s.tar"));
  ASSERT_TRUE(summary.ok());
  EXPECT_THAT(summary->failures, IsEmpty());
  EXPECT_EQ(summary->extracted, 3u);
  const auto compared = scratch_.run("rm tree/link && diff -r tree target");
  EXPECT_EQ(compared.exit_code, 0) << compared.output;
}

TEST_F(ShardExtractTest, CancellationEndsIt) {
  std::stop_source stop;
  stop.request_stop();
  auto reader = shard(TarBuilder().file("a", "1").end().bytes());
  const auto summary =
      extract_shard(*reader, target_, {}, context_.with_cancellation(stop.get_token()));
  EXPECT_TRUE(summary.failed_with(ErrorCode::kCancelled));
}

}  // namespace
}  // namespace leat
