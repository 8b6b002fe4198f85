#include "leat/store/throttle_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>
#include <thread>
#include <vector>

#include "leat/store/testing/contract.h"
#include "leat/store/testing/plain_store.h"
#include "leat/store/token_bucket.h"

namespace leat {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::fails_with;
using testing::succeeds;

class ThrottleStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::byte> bytes(1000);
    ASSERT_TRUE(succeeds(write_object(*target_, "name", bytes, {}, {})));
    options_.clock = &clock_;
  }

  std::shared_ptr<ThrottleStore> make() const {
    return std::make_shared<ThrottleStore>(target_, options_);
  }

  // How far the clock moves while `call` runs.
  template <typename Call>
  nanoseconds time_of(Call call) const {
    const MonotonicTime start = clock_.now();
    call();
    return clock_.now() - start;
  }

  const std::shared_ptr<testing::PlainStore> target_ = std::make_shared<testing::PlainStore>();
  ManualClock clock_;
  ThrottleOptions options_;
  const Context context_{clock_};
};

TEST_F(ThrottleStoreTest, EveryRequestPaysItsLatency) {
  options_.latency = LatencyDistribution::fixed(milliseconds(20));
  const auto store = make();
  EXPECT_EQ(time_of([&] { EXPECT_TRUE(store->stat("name", context_).ok()); }), milliseconds(20));
  EXPECT_EQ(time_of([&] { EXPECT_TRUE(store->list({}, context_).ok()); }), milliseconds(20));
  EXPECT_EQ(time_of([&] { EXPECT_TRUE(store->copy("name", "copy", {}, context_).ok()); }),
            milliseconds(20));
  EXPECT_EQ(time_of([&] { EXPECT_TRUE(store->remove("copy", {}, context_).ok()); }),
            milliseconds(20));
  EXPECT_EQ(time_of([&] { EXPECT_TRUE(read_object(*store, "name", context_).ok()); }),
            milliseconds(40));
  EXPECT_EQ(time_of([&] { EXPECT_TRUE(write_object(*store, "x", {}, {}, context_).ok()); }),
            milliseconds(40));
}

TEST_F(ThrottleStoreTest, BytesShareTheBandwidth) {
  options_.bytes_per_second = 1000;
  const auto store = make();
  EXPECT_EQ(time_of([&] { EXPECT_TRUE(read_object(*store, "name", context_).ok()); }), seconds(1));
  const std::vector<std::byte> bytes(500);
  EXPECT_EQ(time_of([&] { EXPECT_TRUE(write_object(*store, "x", bytes, {}, context_).ok()); }),
            milliseconds(500));
}

TEST_F(ThrottleStoreTest, ABurstGoesThroughAtOnce) {
  options_.bytes_per_second = 1000;
  options_.burst_bytes = 1000;
  const auto store = make();
  const auto read = [&] { EXPECT_TRUE(read_object(*store, "name", context_).ok()); };
  EXPECT_EQ(time_of(read), seconds(0));
  EXPECT_EQ(time_of(read), seconds(1));
  clock_.advance(seconds(100));
  EXPECT_EQ(time_of(read), seconds(0)) << "the bucket fills up again";
  EXPECT_EQ(time_of(read), seconds(1)) << "but not further";
}

TEST_F(ThrottleStoreTest, OperationsHaveARate) {
  options_.operations_per_second = 10;
  const auto store = make();
  const auto time = time_of([&] {
    for (int call = 0; call < 11; ++call) EXPECT_TRUE(store->stat("name", context_).ok());
  });
  EXPECT_EQ(time, seconds(1));
}

TEST_F(ThrottleStoreTest, ABatchRunsSomeItemsAtATime) {
  options_.latency = LatencyDistribution::fixed(milliseconds(10));
  std::vector<BatchRead> reads(12);
  for (BatchRead& read : reads) read.name = "name";
  for (const auto& [concurrency, expected_ms] :
       std::vector<std::pair<std::size_t, int>>{{1, 120}, {4, 30}, {5, 30}, {12, 10}, {100, 10}}) {
    options_.batch_concurrency = concurrency;
    const auto store = make();
    EXPECT_EQ(time_of([&] { store->read_batch(reads, context_); }), milliseconds(expected_ms))
        << concurrency;
    for (const BatchRead& read : reads) EXPECT_TRUE(succeeds(read.result));
  }
}

TEST_F(ThrottleStoreTest, ABatchSharesTheBandwidth) {
  options_.latency = LatencyDistribution::fixed(milliseconds(10));
  options_.bytes_per_second = 1'000'000;  // a millisecond an item
  options_.batch_concurrency = 10;
  std::vector<BatchRead> reads(10);
  for (BatchRead& read : reads) read.name = "name";
  const auto store = make();
  EXPECT_EQ(time_of([&] { store->read_batch(reads, context_); }), milliseconds(20));
}

TEST_F(ThrottleStoreTest, ADeadlineEndsTheWait) {
  options_.latency = LatencyDistribution::fixed(seconds(10));
  const auto store = make();
  const Context context = context_.with_timeout(milliseconds(42));
  const auto time = time_of(
      [&] { EXPECT_TRUE(fails_with(store->stat("name", context), ErrorCode::kDeadlineExceeded)); });
  EXPECT_EQ(time, milliseconds(42));
}

TEST_F(ThrottleStoreTest, ADeadlineCutsABatch) {
  options_.latency = LatencyDistribution::fixed(milliseconds(10));
  const auto store = make();
  std::vector<BatchRead> reads(5);
  for (BatchRead& read : reads) read.name = "name";
  store->read_batch(reads, context_.with_timeout(milliseconds(25)));
  EXPECT_TRUE(succeeds(reads[0].result));
  EXPECT_TRUE(succeeds(reads[1].result));
  for (std::size_t index = 2; index < reads.size(); ++index) {
    EXPECT_TRUE(fails_with(reads[index].result, ErrorCode::kDeadlineExceeded)) << index;
  }
}

TEST_F(ThrottleStoreTest, CancellationEndsTheWaitSoon) {
  options_.latency = LatencyDistribution::fixed(seconds(100));
  options_.clock = &Clock::system();
  const auto store = make();
  std::stop_source source;
  std::jthread canceller([&] {
    std::this_thread::sleep_for(milliseconds(20));
    source.request_stop();
  });
  const auto start = Clock::system().now();
  EXPECT_TRUE(fails_with(store->stat("name", Context().with_cancellation(source.get_token())),
                         ErrorCode::kCancelled));
  EXPECT_LT(Clock::system().now() - start, seconds(10));
}

TEST_F(ThrottleStoreTest, ExtentsAreNotFarAway) {
  const auto reader = make()->open("name", {}, context_);
  ASSERT_TRUE(succeeds(reader));
  EXPECT_TRUE(fails_with((*reader)->local_extents({}, context_), ErrorCode::kUnsupported));
}

TEST(LatencyDistribution, LogNormalHitsItsQuantiles) {
  const auto distribution = LatencyDistribution::log_normal(milliseconds(20), milliseconds(100));
  Random random(1);
  std::vector<nanoseconds> samples(20'000);
  for (nanoseconds& sample : samples) sample = distribution.sample(random);
  std::sort(samples.begin(), samples.end());
  EXPECT_NEAR(static_cast<double>(samples[10'000].count()), 20e6, 1e6);
  EXPECT_NEAR(static_cast<double>(samples[19'800].count()), 100e6, 8e6);
  EXPECT_GT(samples.front().count(), 0);
}

TEST(LatencyDistribution, IsAFunctionOfTheSeed) {
  const auto distribution = LatencyDistribution::log_normal(milliseconds(1), milliseconds(9));
  Random first(7);
  Random second(7);
  for (int round = 0; round < 100; ++round) {
    EXPECT_EQ(distribution.sample(first), distribution.sample(second));
  }
}

TEST(LatencyDistribution, FixedAndNone) {
  Random random(1);
  EXPECT_EQ(LatencyDistribution::fixed(milliseconds(3)).sample(random), milliseconds(3));
  EXPECT_EQ(LatencyDistribution().sample(random), nanoseconds(0));
  EXPECT_EQ(LatencyDistribution::log_normal(seconds(1), seconds(1)).sample(random), seconds(1));
}

TEST(TokenBucket, SpreadsOverTime) {
  TokenBucket bucket(10, 2);
  const MonotonicTime start{};
  EXPECT_EQ(bucket.take(start, 1) - start, milliseconds(0));
  EXPECT_EQ(bucket.take(start, 1) - start, milliseconds(0));
  EXPECT_EQ(bucket.take(start, 1) - start, milliseconds(100));
  EXPECT_EQ(bucket.take(start, 5) - start, milliseconds(600));
  EXPECT_EQ(bucket.take(start + seconds(60), 1) - start, seconds(60));
}

TEST(TokenBucket, HoldsHugeAmountsAndNoLimit) {
  TokenBucket slow(1, 0);
  EXPECT_GT(slow.take(MonotonicTime{}, 1e30), MonotonicTime{} + std::chrono::hours(1000));
  EXPECT_GT(slow.take(MonotonicTime{}, 1e30), MonotonicTime{} + std::chrono::hours(1000));
  TokenBucket unlimited(0, 0);
  EXPECT_EQ(unlimited.take(MonotonicTime{}, 1e30), MonotonicTime{});
}

}  // namespace
}  // namespace leat
