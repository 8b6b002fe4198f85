#include "leat/store/fault_store.h"

#include <gtest/gtest.h>

#include <vector>

#include "leat/store/testing/contract.h"
#include "leat/store/testing/plain_store.h"

namespace leat {
namespace {

using testing::bytes_of;
using testing::fails_with;
using testing::succeeds;

std::shared_ptr<testing::PlainStore> make_target() {
  auto target = std::make_shared<testing::PlainStore>();
  EXPECT_TRUE(succeeds(write_object(*target, "name", bytes_of("0123456789"), {}, {})));
  return target;
}

FaultRule rule_of(StoreOperation operation) {
  FaultRule rule;
  rule.operation = operation;
  return rule;
}

TEST(FaultStore, FailsTheCallsThatTheRuleSays) {
  FaultRule rule = rule_of(StoreOperation::kStat);
  rule.first_call = 3;
  rule.calls = 2;
  rule.code = ErrorCode::kUnavailable;
  FaultStore store(make_target(), {rule});
  for (int call = 1; call <= 6; ++call) {
    EXPECT_TRUE(succeeds(store.open("name", {}, {}))) << "another operation";
    const auto info = store.stat("name", {});
    if (call == 3 || call == 4) {
      EXPECT_TRUE(fails_with(info, ErrorCode::kUnavailable)) << call;
    } else {
      EXPECT_TRUE(succeeds(info)) << call;
    }
  }
  EXPECT_EQ(store.faults(), 2u);
}

TEST(FaultStore, FailsByName) {
  FaultRule rule;
  rule.applies_to = [](std::string_view name) { return name.starts_with("bad"); };
  rule.calls = kEveryCall;
  FaultStore store(make_target(), {rule});
  EXPECT_TRUE(succeeds(store.stat("name", {})));
  EXPECT_TRUE(fails_with(store.stat("bad", {}), ErrorCode::kIoError));
  EXPECT_TRUE(fails_with(store.create("bad", {}, {}), ErrorCode::kIoError));
  EXPECT_TRUE(fails_with(store.remove("bad", {}, {}), ErrorCode::kIoError));
  EXPECT_TRUE(fails_with(store.copy("name", "bad", {}, {}), ErrorCode::kIoError));
  ListRequest request;
  request.prefix = "bad";
  EXPECT_TRUE(fails_with(store.list(request, {}), ErrorCode::kIoError));
}

TEST(FaultStore, FailsWithAProbabilityThatTheSeedDecides) {
  FaultRule rule = rule_of(StoreOperation::kStat);
  rule.calls = kEveryCall;
  rule.probability = 0.25;
  const auto pattern = [&](std::uint64_t seed) {
    FaultStore store(make_target(), {rule}, seed);
    std::vector<bool> failed;
    for (int call = 0; call < 1000; ++call) failed.push_back(!store.stat("name", {}).ok());
    EXPECT_GT(store.faults(), 180u);
    EXPECT_LT(store.faults(), 320u);
    return failed;
  };
  EXPECT_EQ(pattern(1), pattern(1));
  EXPECT_NE(pattern(1), pattern(2));
}

TEST(FaultStore, TruncatesReads) {
  FaultRule rule = rule_of(StoreOperation::kRead);
  rule.effect = FaultRule::Effect::kTruncate;
  FaultRule item_rule = rule_of(StoreOperation::kBatchItem);
  item_rule.effect = FaultRule::Effect::kTruncate;
  FaultStore store(make_target(), {rule, item_rule});
  const auto reader = store.open("name", {}, {});
  std::vector<std::byte> target(10);
  EXPECT_EQ(*(*reader)->read_at(0, target, {}), 5u);
  EXPECT_EQ(*(*reader)->read_at(0, target, {}), 10u);
  std::vector<BatchRead> reads(2);
  reads[0].name = reads[1].name = "name";
  store.read_batch(reads, {});
  EXPECT_EQ(reads[0].result->bytes.size(), 5u);
  EXPECT_EQ(reads[1].result->bytes.size(), 10u);
}

TEST(FaultStore, ACommitFailsBeforeOrAfterItsEffect) {
  for (const auto effect : {FaultRule::Effect::kFail, FaultRule::Effect::kFailAfter}) {
    FaultRule rule = rule_of(StoreOperation::kCommit);
    rule.effect = effect;
    const auto target = make_target();
    FaultStore store(target, {rule});
    EXPECT_TRUE(
        fails_with(write_object(store, "name", bytes_of("new"), {}, {}), ErrorCode::kIoError));
    const bool is_new = effect == FaultRule::Effect::kFailAfter;
    EXPECT_EQ(*read_object(*target, "name", {}), bytes_of(is_new ? "new" : "0123456789"));
  }
}

TEST(FaultStore, FailsABatchAsAWholeOrByItem) {
  FaultRule item = rule_of(StoreOperation::kBatchItem);
  item.first_call = 2;
  FaultRule whole = rule_of(StoreOperation::kReadBatch);
  whole.first_call = 2;
  whole.code = ErrorCode::kUnavailable;
  FaultStore store(make_target(), {item, whole});
  std::vector<BatchRead> reads(3);
  for (BatchRead& read : reads) read.name = "name";
  store.read_batch(reads, {});
  EXPECT_TRUE(succeeds(reads[0].result));
  EXPECT_TRUE(fails_with(reads[1].result, ErrorCode::kIoError));
  EXPECT_TRUE(succeeds(reads[2].result));
  store.read_batch(reads, {});
  for (const BatchRead& read : reads) {
    EXPECT_TRUE(fails_with(read.result, ErrorCode::kUnavailable));
  }
}

// The way in which others use it: whatever call fails, the object is the old or the new one.
TEST(FaultStore, EveryCallOfAWorkloadFailsOnce) {
  int runs = 0;
  for (std::uint64_t call = 1;; ++call) {
    ASSERT_LT(call, 100u);
    FaultRule rule;
    rule.first_call = call;
    const auto target = make_target();
    FaultStore store(target, {rule});
    const bool ok = write_object(store, "name", bytes_of("new"), {}, {}).ok() &&
                    read_object(store, "name", {}).ok();
    const auto bytes = read_object(*target, "name", {});
    ASSERT_TRUE(succeeds(bytes));
    EXPECT_TRUE(*bytes == bytes_of("new") || *bytes == bytes_of("0123456789"));
    EXPECT_EQ(ok, store.faults() == 0);
    if (store.faults() == 0) break;
    ++runs;
  }
  EXPECT_EQ(runs, 5) << "create, append, commit, open, read";
}

}  // namespace
}  // namespace leat
