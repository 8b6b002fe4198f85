#include "leat/store/checksum_store.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "leat/base/hash.h"
#include "leat/base/hex.h"
#include "leat/store/testing/contract.h"
#include "leat/store/testing/plain_store.h"

namespace leat {
namespace {

using testing::Bytes;
using testing::fails_with;
using testing::pattern_bytes;
using testing::succeeds;

// A store that says a checksum of its own; the one in metadata needs a store that keeps metadata
// and is tested in drivers/decorators_test.cc.
class ChecksumStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(succeeds(write_object(*target_, "name", bytes_, {}, {})));
    target_->report_crc32c("name", crc32c(0, bytes_));
  }

  std::unique_ptr<ObjectReader> open() { return *store_.open("name", {}, {}); }

  const Bytes bytes_ = pattern_bytes(10'000, 1);
  const std::shared_ptr<testing::PlainStore> target_ = std::make_shared<testing::PlainStore>();
  ChecksumStore store_{target_, KeepChecksum::kInMetadata};
};

TEST_F(ChecksumStoreTest, AcceptsWhatIsWhole) {
  const auto read = read_object(store_, "name", {});
  ASSERT_TRUE(succeeds(read));
  EXPECT_TRUE(*read == bytes_);
}

TEST_F(ChecksumStoreTest, NamesTheObjectAndBothValues) {
  target_->damage("name", 1234);
  Bytes damaged = bytes_;
  damaged[1234] ^= std::byte{1};
  const auto read = read_object(store_, "name", {});
  ASSERT_TRUE(fails_with(read, ErrorCode::kCorrupted));
  const std::string message(read.error().message());
  EXPECT_NE(message.find("name"), std::string::npos);
  EXPECT_NE(message.find(to_hex(crc32c(0, bytes_))), std::string::npos);
  EXPECT_NE(message.find(to_hex(crc32c(0, damaged))), std::string::npos);
}

TEST_F(ChecksumStoreTest, ChecksReadsThatFollowEachOther) {
  target_->damage("name", 0);
  const auto reader = open();
  Bytes target(3000);
  for (const std::uint64_t offset : {0, 3000, 6000}) {
    EXPECT_TRUE(succeeds(reader->read_at(offset, target, {})));
  }
  EXPECT_TRUE(fails_with(reader->read_at(9000, target, {}), ErrorCode::kCorrupted));
  // From the start again, with a range in between.
  EXPECT_TRUE(succeeds(reader->read_at(0, target, {})));
  EXPECT_TRUE(succeeds(reader->read_at(5000, target, {})));
  target.resize(7000);
  EXPECT_TRUE(fails_with(reader->read_at(3000, target, {}), ErrorCode::kCorrupted));
}

TEST_F(ChecksumStoreTest, LetsRangesPass) {
  target_->damage("name", 5000);
  const auto reader = open();
  Bytes target(9999);
  EXPECT_TRUE(succeeds(reader->read_at(1, target, {})));
  EXPECT_TRUE(succeeds(reader->read_at(0, target, {})));
}

TEST_F(ChecksumStoreTest, ChecksWholeItemsOfABatch) {
  target_->damage("name", 5000);
  Bytes target(10'000);
  std::vector<BatchRead> reads(4);
  for (BatchRead& read : reads) read.name = "name";
  reads[1].range = {0, 100};
  reads[2].target = target;
  reads[3].name = "missing";
  store_.read_batch(reads, {});
  EXPECT_TRUE(fails_with(reads[0].result, ErrorCode::kCorrupted));
  EXPECT_TRUE(succeeds(reads[1].result));
  EXPECT_EQ(reads[1].result->bytes.size(), 100u);
  EXPECT_TRUE(fails_with(reads[2].result, ErrorCode::kCorrupted));
  EXPECT_TRUE(fails_with(reads[3].result, ErrorCode::kNotFound));
}

TEST_F(ChecksumStoreTest, ManyReadersOfOneHandleRaiseNoFalseAlarm) {
  const auto reader = open();
  std::vector<std::jthread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      Bytes target(500 + 100 * static_cast<std::size_t>(number));
      for (std::uint64_t offset = 0; offset < bytes_.size(); offset += target.size()) {
        EXPECT_TRUE(succeeds(reader->read_at(offset, target, {})));
      }
    });
  }
}

TEST_F(ChecksumStoreTest, WithoutAChecksumThereIsNothingToCheck) {
  ASSERT_TRUE(succeeds(write_object(store_, "bare", bytes_, {}, {})));
  target_->damage("bare", 1);
  EXPECT_TRUE(succeeds(read_object(store_, "bare", {})));
}

}  // namespace
}  // namespace leat
