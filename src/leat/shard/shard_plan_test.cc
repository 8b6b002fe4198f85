#include "leat/shard/shard_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "leat/shard/shard_writer.h"

namespace leat {
namespace {

using ::testing::ElementsAre;

std::vector<SourceFile> files_named(const std::vector<std::string>& names,
                                    std::uint64_t size_bytes = 100) {
  std::vector<SourceFile> files;
  files.reserve(names.size());
  for (const std::string& name : names) files.push_back({name, size_bytes});
  return files;
}

// One line per shard: "a.cls a.jpg | b.jpg".
std::vector<std::string> described(const ShardPlan& plan) {
  std::vector<std::string> lines;
  for (const PlannedRange& shard : plan.shards) {
    std::string& line = lines.emplace_back();
    for (std::size_t sample = shard.begin; sample < shard.end; ++sample) {
      if (!line.empty()) line += "| ";
      for (const SourceFile& file : plan.files_of(plan.samples[sample])) line += file.name + ' ';
    }
  }
  return lines;
}

std::vector<std::string> planned(const std::vector<SourceFile>& files,
                                 const ShardCreateOptions& options) {
  const auto plan = plan_shards(files, options);
  EXPECT_TRUE(plan.ok());
  return described(*plan);
}

TEST(ShardPlan, TheKeyIsThePathUpToTheFirstDotOfTheBaseName) {
  EXPECT_EQ(sample_key("n01/7.jpg"), "n01/7");
  EXPECT_EQ(sample_key("n01/7.cls.txt"), "n01/7");
  EXPECT_EQ(sample_key("v1.0/7.jpg"), "v1.0/7");
  EXPECT_EQ(sample_key("README"), "README");
  EXPECT_EQ(sample_key("folder.d/README"), "folder.d/README");
  EXPECT_EQ(sample_key(".hidden"), ".hidden");
  EXPECT_EQ(sample_key("x/.hidden.txt"), "x/.hidden");
  EXPECT_EQ(sample_key("x/"), "x/");
  EXPECT_EQ(sample_key(""), "");
}

TEST(ShardPlan, FilesOfASampleStayTogetherAndInOrder) {
  // In byte order the folder a.d lies between two files of the sample a.
  EXPECT_THAT(planned(files_named({"a.jpg", "b.jpg", "a.d/x.jpg", "a.cls", "b.cls", "a.cls"}), {}),
              ElementsAre("a.cls a.jpg | a.d/x.jpg | b.cls b.jpg "));
}

TEST(ShardPlan, ShardsHoldAtMostSoManySamples) {
  ShardCreateOptions options;
  options.max_samples = 2;
  EXPECT_THAT(planned(files_named({"1.a", "1.b", "2.a", "3.a", "4.a", "5.a"}), options),
              ElementsAre("1.a 1.b | 2.a ", "3.a | 4.a ", "5.a "));
  options.max_samples = 0;
  EXPECT_TRUE(plan_shards({}, options).failed_with(ErrorCode::kInvalidArgument));
}

TEST(ShardPlan, ShardsHoldAtMostSoManyBytesOfArchive) {
  const std::uint64_t sample = shard_member_bytes("1.a", 100);
  ShardCreateOptions options;
  options.max_shard_bytes = 2 * sample + kShardEndBytes;
  EXPECT_THAT(planned(files_named({"1.a", "2.a", "3.a"}), options),
              ElementsAre("1.a | 2.a ", "3.a "));
  --options.max_shard_bytes;
  EXPECT_THAT(planned(files_named({"1.a", "2.a", "3.a"}), options),
              ElementsAre("1.a ", "2.a ", "3.a "));
}

TEST(ShardPlan, ASampleLargerThanAShardGetsItsOwn) {
  std::vector<SourceFile> files = files_named({"1.a", "2.a", "3.a"});
  files[1].size_bytes = 1 << 20;
  ShardCreateOptions options;
  options.max_shard_bytes = 10'000;
  EXPECT_THAT(planned(files, options), ElementsAre("1.a ", "2.a ", "3.a "));
  files[1].size_bytes = UINT64_MAX;
  EXPECT_THAT(planned(files, options), ElementsAre("1.a ", "2.a ", "3.a "));
  options.max_shard_bytes = 0;
  EXPECT_THAT(planned(files, options), ElementsAre("1.a ", "2.a ", "3.a "));
}

TEST(ShardPlan, TheOrderOfTheInputDoesNotMatter) {
  ShardCreateOptions options;
  options.order = SampleOrder::kShuffled;
  options.seed = 3;
  EXPECT_EQ(planned(files_named({"a.x", "b.x", "c.x", "d.x", "a.y"}), options),
            planned(files_named({"d.x", "a.y", "c.x", "a.x", "b.x"}), options));
}

// Data sets are made from a seed: this order must never change.
TEST(ShardPlan, TheShuffledOrderIsPinned) {
  ShardCreateOptions options;
  options.order = SampleOrder::kShuffled;
  options.seed = 42;
  EXPECT_THAT(planned(files_named({"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}), options),
              ElementsAre("9 | 1 | 4 | 2 | 8 | 7 | 6 | 5 | 3 | 0 "));
}

TEST(ShardPlan, AStrippedPrefixIsNotPartOfTheKey) {
  ShardCreateOptions options;
  options.strip_prefix = "data/";
  EXPECT_EQ(member_name("data/n01/7.jpg", options.strip_prefix), "n01/7.jpg");
  EXPECT_THAT(planned(files_named({"data/b.x", "data/a.x"}), options),
              ElementsAre("data/a.x | data/b.x "));
}

TEST(ShardPlan, ShardsAreNumberedByTheTemplate) {
  EXPECT_EQ(*shard_name("train-%06d.tar", 7), "train-000007.tar");
  EXPECT_EQ(*shard_name("train-%06d.tar", 12'345'678), "train-12345678.tar");
  EXPECT_EQ(*shard_name("out/%d", 7), "out/7");
  EXPECT_EQ(*shard_name("100%%-%03d", 7), "100%-007");
  EXPECT_EQ(*shard_name("%9999999999999999999999d", 7), "00000000000000000007");
  for (const std::string_view bad : {"", "train.tar", "%d-%d", "%s", "%", "%06", "%x%d", "%5%%d"}) {
    EXPECT_TRUE(shard_name(bad, 0).failed_with(ErrorCode::kInvalidArgument)) << bad;
  }
}

}  // namespace
}  // namespace leat
