// Batches of small objects: whichever way a record is read, the bytes are right; and metadata
// changes nothing about the way.
#include "leat/local/batch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "leat/local/local_store.h"
#include "leat/local/testing/local_fixture.h"
#include "leat/store/testing/contract.h"

namespace leat::local {
namespace {

using leat::testing::Bytes;
using leat::testing::pattern_bytes;
using leat::testing::succeeds;
using testing::simulated_options;
using testing::small_options;
using testing::TemporaryDirectory;

// Objects of one bucket, and what a batch must give of them.
class Objects {
 public:
  explicit Objects(std::shared_ptr<LocalStore> store) : store_(std::move(store)) {
    EXPECT_TRUE(succeeds(store_->create_bucket("data", {}, {})));
    bucket_ = *store_->bucket("data");
  }
  LocalStore& store() { return *store_; }
  ObjectStore& bucket() { return *bucket_; }

  void put(const std::string& name, std::size_t size_bytes, std::size_t metadata_bytes) {
    CreateOptions options;
    options.durability = Durability::kMemory;
    if (metadata_bytes > 0) options.metadata.user["note"] = std::string(metadata_bytes, 'x');
    const Bytes bytes = pattern_bytes(size_bytes, names_.size());
    EXPECT_TRUE(succeeds(write_object(*bucket_, name, bytes, options, {})));
    names_.push_back(name);
    contents_.push_back(bytes);
  }

  std::vector<BatchRead> reads(ByteRange range = {}) const {
    std::vector<BatchRead> reads(names_.size());
    for (std::size_t i = 0; i < reads.size(); ++i) {
      reads[i].name = names_[i];
      reads[i].range = range;
    }
    return reads;
  }
  void expect_batch(ByteRange range = {}) {
    auto batch = reads(range);
    bucket_->read_batch(batch, {});
    for (std::size_t i = 0; i < batch.size(); ++i) {
      ASSERT_TRUE(succeeds(batch[i].result)) << names_[i];
      const ByteRange wanted = range.within(contents_[i].size());
      const auto expected = std::span(contents_[i]).subspan(wanted.offset, wanted.length);
      const auto& bytes = batch[i].result->bytes;
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.begin(), expected.end()))
          << names_[i];
    }
  }

 private:
  std::shared_ptr<LocalStore> store_;
  std::shared_ptr<ObjectStore> bucket_;
  std::vector<std::string> names_;
  std::vector<Bytes> contents_;
};

class BatchTest : public ::testing::Test {
 protected:
  std::string drive(const std::string& name) { return directory_.make(name); }
  Objects create(const std::string& name, const StoreOptions& options = small_options()) {
    return Objects(*LocalStore::create({drive(name)}, options));
  }

 private:
  TemporaryDirectory directory_;
};

// Each is asked for often enough to be cold, warm and cached.
TEST_F(BatchTest, EveryKindOfRecordGivesItsBytes) {
  for (const std::uint64_t cache_bytes : {std::uint64_t{0}, std::uint64_t{4} << 20}) {
    StoreOptions options = small_options();
    options.drive.record_cache_bytes = cache_bytes;
    auto objects = create("drive" + std::to_string(cache_bytes), options);
    const std::vector<std::string> names = {"short",
                                            std::string(95, 'n'),
                                            std::string(96, 'n'),
                                            std::string(150, 'n'),
                                            "dir/" + std::string(150, 'n'),
                                            "od~d",
                                            "a//b",
                                            std::string(500, 'n')};
    for (const std::string& name : names) {
      for (const std::size_t size_bytes : {0, 1, 512, 784, 3000, 10'000}) {
        // The last does not fit into what a place can say.
        for (const std::size_t metadata_bytes : {0, 20, 900, 15'000, 20'000}) {
          objects.put(fmt::format("{}-{}/{}", metadata_bytes, size_bytes, name), size_bytes,
                      metadata_bytes);
        }
      }
    }
    for (int round = 0; round < 3; ++round) {
      objects.expect_batch();
      objects.expect_batch({1, 100});
      objects.expect_batch({700, 5000});
    }
  }
}

// What a batch brings to the record cache went the warm way, and all of a batch that is answered
// from there at once went that way. (Where files cannot be read so, nothing does.)
TEST_F(BatchTest, ObjectsWithMetadataGoTheWayOfThoseWithout) {
  auto plain = create("plain");
  auto described = create("described");
  for (int i = 0; i < 300; ++i) {
    plain.put("train/" + std::to_string(i), 784, 0);
    described.put("train/" + std::to_string(i), 784, 30);
  }
  for (Objects* objects : {&plain, &described}) {
    auto batch = objects->reads();
    EXPECT_FALSE(objects->bucket().read_batch_now(batch)) << "never compared";
    objects->expect_batch();
    objects->expect_batch();
  }
  auto plain_batch = plain.reads();
  auto described_batch = described.reads();
  EXPECT_EQ(described.bucket().read_batch_now(described_batch),
            plain.bucket().read_batch_now(plain_batch));
}

TEST_F(BatchTest, OneReadBringsASmallObjectWithItsMetadata) {
  SimulatedFileSystem disk;
  Objects objects(*LocalStore::create({"drive0"}, simulated_options(disk)));
  objects.put("described", 784, 30);
  const auto calls = [&] { return disk.calls(SimulatedFileSystem::Calls::kAny); };
  const auto calls_of_batch = [&] {
    const std::uint64_t before = calls();
    objects.expect_batch();
    return calls() - before;
  };
  EXPECT_EQ(calls_of_batch(), 1u) << "the first time, with its checksum";
  EXPECT_EQ(calls_of_batch(), 1u);
}

TEST_F(BatchTest, DamageIsNotServed) {
  StoreOptions options = small_options();
  options.drive.record_cache_bytes = 0;
  const std::string directory = drive("drive");
  Objects objects(*LocalStore::create({directory}, options));
  for (int i = 0; i < 40; ++i) objects.put(std::to_string(i), 784, 30);
  objects.expect_batch();
  objects.expect_batch();
  const auto first = objects.bucket().open("0", {}, {});
  ASSERT_TRUE(succeeds(first));
  const auto place = (*first)->local_extents({}, {});
  ASSERT_TRUE(succeeds(place));
  std::fstream pack(directory + "/packs/00000001.tar", std::ios::in | std::ios::out);
  pack.seekp(static_cast<std::streamoff>(place->front().offset));
  pack << '\x7f' << std::flush;

  const auto expect_damaged = [](ObjectStore& bucket, std::vector<BatchRead> batch) {
    for (int round = 0; round < 2; ++round) {
      bucket.read_batch(batch, {});
      for (std::size_t i = 0; i < batch.size(); ++i) {
        EXPECT_EQ(batch[i].result.failed_with(ErrorCode::kCorrupted), i == 0) << i;
      }
    }
  };
  // It was good when it was first read; somebody finds out.
  ASSERT_TRUE(succeeds(objects.store().verify({}, {})));
  expect_damaged(objects.bucket(), objects.reads());
  ASSERT_TRUE(succeeds(objects.store().close({})));
  auto opened = LocalStore::open({directory}, options);
  ASSERT_TRUE(succeeds(opened));
  expect_damaged(**(*opened)->bucket("data"), objects.reads());
}

}  // namespace
}  // namespace leat::local
