#include "leat/store/count_store.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "leat/store/testing/plain_store.h"

namespace leat {
namespace {

class CountStoreTest : public ::testing::Test {
 protected:
  OperationCounts counts(StoreOperation operation) const { return store_.counts()[operation]; }

  void put(std::string_view name, std::size_t size) {
    const std::vector<std::byte> bytes(size);
    ASSERT_TRUE(write_object(store_, name, bytes, {}, {}).ok());
  }

  CountStore store_{std::make_shared<testing::PlainStore>()};
};

TEST_F(CountStoreTest, CountsNothingAtFirst) {
  for (const OperationCounts& operation : store_.counts().operations) {
    EXPECT_EQ(operation, OperationCounts());
  }
}

TEST_F(CountStoreTest, CountsCallsErrorsAndBytes) {
  put("name", 1000);
  EXPECT_TRUE(read_object(store_, "name", {}).ok());
  EXPECT_FALSE(read_object(store_, "missing", {}).ok());
  EXPECT_TRUE(store_.stat("name", {}).ok());
  EXPECT_TRUE(store_.list({}, {}).ok());
  EXPECT_TRUE(store_.copy("name", "copy", {}, {}).ok());
  EXPECT_FALSE((*store_.open("name", {}, {}))->local_extents({}, {}).ok());
  EXPECT_TRUE(store_.remove("name", {}, {}).ok());
  EXPECT_FALSE(store_.remove("name", {}, {}).ok());

  EXPECT_EQ(counts(StoreOperation::kCreate), (OperationCounts{1, 0, 0}));
  EXPECT_EQ(counts(StoreOperation::kAppend), (OperationCounts{1, 0, 1000}));
  EXPECT_EQ(counts(StoreOperation::kCommit), (OperationCounts{1, 0, 0}));
  EXPECT_EQ(counts(StoreOperation::kOpen), (OperationCounts{3, 1, 0}));
  EXPECT_EQ(counts(StoreOperation::kRead), (OperationCounts{1, 0, 1000}));
  EXPECT_EQ(counts(StoreOperation::kLocalExtents), (OperationCounts{1, 1, 0}));
  EXPECT_EQ(counts(StoreOperation::kStat), (OperationCounts{1, 0, 0}));
  EXPECT_EQ(counts(StoreOperation::kList), (OperationCounts{1, 0, 0}));
  EXPECT_EQ(counts(StoreOperation::kCopy), (OperationCounts{1, 0, 1000}));
  EXPECT_EQ(counts(StoreOperation::kRemove), (OperationCounts{2, 1, 0}));
}

TEST_F(CountStoreTest, CountsItemsOfABatch) {
  put("name", 100);
  std::vector<BatchRead> reads(3);
  reads[0].name = reads[2].name = "name";
  reads[1].name = "missing";
  reads[2].range = {90, 50};
  store_.read_batch(reads, {});
  EXPECT_EQ(counts(StoreOperation::kReadBatch), (OperationCounts{1, 1, 110}));
  EXPECT_EQ(counts(StoreOperation::kBatchItem), (OperationCounts{3, 1, 110}));
}

TEST_F(CountStoreTest, LosesNothingBetweenThreads) {
  put("name", 10);
  std::vector<std::jthread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([this] {
      for (int round = 0; round < 500; ++round) EXPECT_TRUE(read_object(store_, "name", {}).ok());
    });
  }
  threads.clear();
  EXPECT_EQ(counts(StoreOperation::kRead), (OperationCounts{2000, 0, 20'000}));
}

TEST(OperationName, IsThereForEachOperation) {
  std::set<std::string_view> names;
  for (std::size_t index = 0; index < kStoreOperationCount; ++index) {
    names.insert(operation_name(static_cast<StoreOperation>(index)));
  }
  EXPECT_EQ(names.size(), kStoreOperationCount);
  EXPECT_FALSE(names.contains(""));
  EXPECT_EQ(operation_name(StoreOperation::kCopy), "copy");
}

}  // namespace
}  // namespace leat
