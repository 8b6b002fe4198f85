// Members of shards as objects: alone, in batches, beside real objects, while shards are replaced.
#include "leat/local/shard_members.h"

#include <gtest/gtest.h>

#include <thread>

#include "leat/local/testing/local_fixture.h"
#include "leat/shard/shard_writer.h"
#include "leat/store/testing/contract.h"

namespace leat::local {
namespace {

using leat::testing::bytes_of;
using leat::testing::pattern_bytes;
using leat::testing::succeeds;
using Bytes = std::vector<std::byte>;

class ShardMembersTest : public ::testing::Test {
 protected:
  ShardMembersTest() {
    auto store = LocalStore::create({directory_.make("drive")}, testing::small_options());
    EXPECT_TRUE(succeeds(store));
    store_ = *store;
    EXPECT_TRUE(succeeds(store_->create_bucket("data", {}, context_)));
    bucket_ = *store_->bucket("data");
  }

  static std::string member(int i) { return "sample" + std::to_string(1000 + i) + ".img"; }
  // Of any size, a few of them larger than what one checksum covers.
  static Bytes content(int i, int version) {
    const std::size_t size = i % 40 == 39 ? (3 << 19) + 1 : static_cast<std::size_t>(i * 37 % 3000);
    return pattern_bytes(size, i + 1000 * version);
  }
  void put_shard(std::string_view name, int members, int version) {
    ShardWriter shard(*bucket_->create(name, {}, context_));
    for (int i = 0; i < members; ++i)
      ASSERT_TRUE(succeeds(shard.add({member(i)}, content(i, version), context_)));
    ASSERT_TRUE(succeeds(shard.finish(context_)));
  }
  // Reads the names at once, into memory of the store.
  std::vector<BatchRead> read(const std::vector<std::string>& names) {
    std::vector<BatchRead> reads(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) reads[i].name = names[i];
    bucket_->read_batch(reads, context_);
    return reads;
  }
  static Bytes bytes(const BatchRead& read) {
    return Bytes(read.result->bytes.begin(), read.result->bytes.end());
  }

  testing::TemporaryDirectory directory_;
  Context context_;
  std::shared_ptr<LocalStore> store_;
  std::shared_ptr<ObjectStore> bucket_;
};

TEST_F(ShardMembersTest, AreReadInBatchesWithObjectsAndMisses) {
  put_shard("a/x.tar", 100, 1);
  put_shard("y.tar", 3, 2);  // so small that it is packed itself
  ASSERT_TRUE(succeeds(write_object(*bucket_, "plain", bytes_of("plain"), {}, context_)));
  std::vector<std::string> names = {"plain", "y.tar/" + member(2), "a/x.tar/none",
                                    "none.tar/" + member(1), "y.tar/"};
  for (int i = 99; i >= 0; --i) names.push_back("a/x.tar/" + member(i));
  names.push_back(names.back());  // twice
  const auto reads = read(names);
  EXPECT_EQ(bytes(reads[0]), bytes_of("plain"));
  EXPECT_EQ(bytes(reads[1]), content(2, 2));
  for (const std::size_t i : {2u, 3u, 4u})
    EXPECT_TRUE(reads[i].result.failed_with(ErrorCode::kNotFound));
  for (int i = 0; i < 100; ++i) {
    const BatchRead& member_read = reads[static_cast<std::size_t>(104 - i)];
    ASSERT_TRUE(succeeds(member_read.result)) << i;
    EXPECT_EQ(bytes(member_read), content(i, 1)) << i;
  }
  EXPECT_EQ(bytes(reads.back()), content(0, 1));
}

TEST_F(ShardMembersTest, GiveRangesIntoTheCallersMemory) {
  put_shard("x.tar", 60, 1);
  const std::string name = "x.tar/" + member(30);
  const Bytes whole = content(30, 1);
  Bytes memory(100);
  std::vector<BatchRead> reads(3);
  for (BatchRead& read : reads) read.name = name;
  reads[0].range = {10, 20};
  reads[1].range = {whole.size() - 5, 1000};
  reads[2].target = memory;
  bucket_->read_batch(reads, context_);
  EXPECT_EQ(bytes(reads[0]), Bytes(whole.begin() + 10, whole.begin() + 30));
  EXPECT_EQ(bytes(reads[1]), Bytes(whole.end() - 5, whole.end()));
  EXPECT_EQ(reads[2].result->bytes.data(), memory.data());
  EXPECT_EQ(memory, Bytes(whole.begin(), whole.begin() + 100));
}

TEST_F(ShardMembersTest, AreHiddenByRealObjects) {
  put_shard("x.tar", 5, 1);
  const std::string name = "x.tar/" + member(3);
  ASSERT_TRUE(succeeds(write_object(*bucket_, name, bytes_of("real"), {}, context_)));
  EXPECT_EQ(bytes(read({name})[0]), bytes_of("real"));
  const Bytes large = pattern_bytes(10'000, 7);
  ASSERT_TRUE(succeeds(write_object(*bucket_, name, large, {}, context_)));
  EXPECT_EQ(bytes(read({name})[0]), large);
  ASSERT_TRUE(succeeds(bucket_->remove(name, {}, context_)));
  EXPECT_EQ(bytes(read({name})[0]), content(3, 1));
}

TEST_F(ShardMembersTest, OfAComposedShardMayLieInTwoFiles) {
  put_shard("x.tar", 60, 1);
  const auto tar = read_object(*bucket_, "x.tar", context_);
  ASSERT_TRUE(succeeds(tar));
  // In two halves that part a member.
  const auto middle = static_cast<std::ptrdiff_t>(tar->size() / 2 + 100);
  const Bytes first(tar->begin(), tar->begin() + middle);
  const Bytes second(tar->begin() + middle, tar->end());
  ASSERT_TRUE(succeeds(write_object(*bucket_, "part1", first, {}, context_)));
  ASSERT_TRUE(succeeds(write_object(*bucket_, "part2", second, {}, context_)));
  const std::vector<std::string> parts = {"part1", "part2"};
  ASSERT_TRUE(succeeds(store_->compose("data", parts, "z.tar", {}, {}, context_)));
  std::vector<std::string> names;
  for (int i = 0; i < 60; ++i) names.push_back("z.tar/" + member(i));
  const auto reads = read(names);
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(succeeds(reads[static_cast<std::size_t>(i)].result)) << i;
    EXPECT_EQ(bytes(reads[static_cast<std::size_t>(i)]), content(i, 1)) << i;
  }
}

TEST_F(ShardMembersTest, NothingOfAShardIsLeftOver) {
  put_shard("x.tar", 5, 1);
  put_shard("x.tar", 6, 2);
  ASSERT_TRUE(succeeds(bucket_->copy("x.tar", "x.bin", {}, context_)));
  ASSERT_TRUE(succeeds(bucket_->copy("x.tar", "y.tar", {}, context_)));
  CreateOptions absent;
  absent.precondition = Precondition::absent();
  const auto tar = read_object(*bucket_, "x.tar", context_);
  EXPECT_TRUE(write_object(*bucket_, "x.tar", *tar, absent, context_)
                  .failed_with(ErrorCode::kPreconditionFailed));
  EXPECT_EQ(bytes(read({"y.tar/" + member(5)})[0]), content(5, 2));
  const auto report = store_->verify({}, context_);
  ASSERT_TRUE(succeeds(report));
  EXPECT_TRUE(report->ok());
  const std::vector<std::string> parts = {"y.tar"};
  ASSERT_TRUE(succeeds(store_->compose("data", parts, "z.tar", {}, {}, context_)));
  EXPECT_EQ(bytes(read({"z.tar/" + member(5)})[0]), content(5, 2));
  for (const char* name : {"x.tar", "x.bin", "z.tar"})
    ASSERT_TRUE(succeeds(bucket_->remove(name, {}, context_)));
  EXPECT_TRUE(succeeds(store_->remove_bucket("data", context_)));
}

TEST_F(ShardMembersTest, OfTwoWritersOneIsLeftWithItsIndex) {
  const auto write = [&](int version) {
    for (int round = 0; round < 10; ++round) put_shard("x.tar", 30, version);
  };
  {
    std::jthread other(write, 1);
    write(2);
  }
  const auto report = store_->verify({}, context_);
  ASSERT_TRUE(succeeds(report));
  EXPECT_TRUE(report->ok());
}

TEST_F(ShardMembersTest, AreOfOneVersionWhileTheirShardIsReplaced) {
  put_shard("x.tar", 30, 0);
  std::jthread writer([&](const std::stop_token& stop) {
    for (int version = 1; !stop.stop_requested(); ++version) put_shard("x.tar", 30, version % 3);
  });
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back("x.tar/" + member(i));
  for (int round = 0; round < 40; ++round) {
    const auto reads = read(names);
    for (int i = 1; i < 30; ++i) {
      const BatchRead& one = reads[static_cast<std::size_t>(i)];
      ASSERT_TRUE(succeeds(one.result));
      const Bytes got = bytes(one);
      EXPECT_TRUE(got == content(i, 0) || got == content(i, 1) || got == content(i, 2));
    }
    const auto alone = read_object(*bucket_, names[7], context_);
    ASSERT_TRUE(succeeds(alone));
  }
}

}  // namespace
}  // namespace leat::local
