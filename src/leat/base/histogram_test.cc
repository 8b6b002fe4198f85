#include "leat/base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "leat/base/random.h"

namespace leat {
namespace {

TEST(Histogram, BucketsAreContiguousAndNarrow) {
  EXPECT_EQ(Histogram::lowest_of(0), 0u);
  EXPECT_EQ(Histogram::highest_of(Histogram::kBucketCount - 1), UINT64_MAX);
  for (std::size_t i = 0; i < Histogram::kBucketCount; ++i) {
    const std::uint64_t lowest = Histogram::lowest_of(i);
    const std::uint64_t highest = Histogram::highest_of(i);
    ASSERT_EQ(Histogram::bucket_of(lowest), i);
    ASSERT_EQ(Histogram::bucket_of(highest), i);
    const std::uint64_t middle = lowest + (highest - lowest) / 2;
    ASSERT_LE(static_cast<double>(highest - middle), 0.008 * static_cast<double>(lowest) + 0.5);
    ASSERT_EQ(i == 0 ? 0 : Histogram::highest_of(i - 1) + 1, lowest);
  }
}

TEST(Histogram, EmptyIsZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.min(), 0u);
  EXPECT_EQ(histogram.max(), 0u);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_EQ(histogram.percentile(50), 0u);
  EXPECT_TRUE(histogram.buckets().empty());
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 60; ++value) histogram.record(value);
  EXPECT_EQ(histogram.percentile(0), 1u);
  EXPECT_EQ(histogram.percentile(50), 30u);
  EXPECT_EQ(histogram.percentile(90), 54u);
  EXPECT_EQ(histogram.percentile(99.99), 60u);
  EXPECT_EQ(histogram.percentile(100), 60u);
  EXPECT_EQ(histogram.mean(), 30.5);
}

TEST(Histogram, RankIsExactDespiteRounding) {
  Histogram histogram;
  histogram.record_many(1, 999);
  histogram.record_many(40, 1);
  EXPECT_EQ(histogram.percentile(99.9), 1u);
  EXPECT_EQ(histogram.percentile(99.91), 40u);
}

TEST(Histogram, PercentilesAreWithinOnePercent) {
  Random random(4);
  Histogram histogram;
  std::vector<std::uint64_t> values(50'000);
  for (std::uint64_t& value : values) {
    value = static_cast<std::uint64_t>(std::exp(random.unit() * 30));  // 1 ns … 3 hours
    histogram.record(value);
  }
  std::sort(values.begin(), values.end());
  for (const double percent : {0.1, 1.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 99.99}) {
    const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * 50'000 - 1e-6));
    const auto exact = static_cast<double>(values[rank - 1]);
    const auto estimate = static_cast<double>(histogram.percentile(percent));
    EXPECT_NEAR(estimate, exact, 0.01 * exact) << percent;
  }
  EXPECT_EQ(histogram.min(), values.front());
  EXPECT_EQ(histogram.max(), values.back());
}

TEST(Histogram, ExtremesDoNotOverflow) {
  Histogram histogram;
  histogram.record_many(UINT64_MAX, 4);
  histogram.record(std::chrono::nanoseconds(-5));
  EXPECT_EQ(histogram.min(), 0u);
  EXPECT_EQ(histogram.max(), UINT64_MAX);
  EXPECT_GE(histogram.percentile(99), UINT64_MAX - UINT64_MAX / 100);
  EXPECT_DOUBLE_EQ(histogram.mean(), std::ldexp(0.8, 64));
}

TEST(Histogram, MergeLosesNothing) {
  Random random(5);
  Histogram whole;
  Histogram parts[3];
  for (int i = 0; i < 9000; ++i) {
    const std::uint64_t value = random.next() >> random.uniform(64);
    whole.record(value);
    parts[i % 3].record(value);
  }
  Histogram merged;
  for (const Histogram& part : parts) merged.merge(part);
  merged.merge(Histogram());
  EXPECT_EQ(merged.count(), whole.count());
  EXPECT_EQ(merged.min(), whole.min());
  EXPECT_EQ(merged.max(), whole.max());
  EXPECT_EQ(merged.sum(), whole.sum());
  const auto buckets = merged.buckets();
  const auto expected = whole.buckets();
  ASSERT_EQ(buckets.size(), expected.size());
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    EXPECT_EQ(buckets[i].lowest, expected[i].lowest);
    EXPECT_EQ(buckets[i].count, expected[i].count);
  }
}

TEST(ConcurrentHistogram, CountsEveryRecordOfEveryThread) {
  ConcurrentHistogram shared;
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kRecords = 20'000;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&shared, t] {
        for (std::uint64_t i = 1; i <= kRecords; ++i) shared.record(i * kThreads + t);
      });
    }
    for (int i = 0; i < 20; ++i) {
      const Histogram snapshot = shared.snapshot();
      EXPECT_LE(snapshot.count(), kThreads * kRecords);
      EXPECT_TRUE(snapshot.count() == 0 || snapshot.min() >= kThreads);
      EXPECT_LE(snapshot.min(), snapshot.percentile(50));
    }
  }
  Histogram expected;
  for (std::uint64_t i = kThreads; i < (kRecords + 1) * kThreads; ++i) expected.record(i);
  const Histogram snapshot = shared.snapshot();
  EXPECT_EQ(snapshot.count(), expected.count());
  EXPECT_EQ(snapshot.sum(), expected.sum());
  EXPECT_EQ(snapshot.min(), expected.min());
  EXPECT_EQ(snapshot.max(), expected.max());
  EXPECT_EQ(snapshot.percentile(99), expected.percentile(99));
}

TEST(ConcurrentHistogram, SumCarries) {
  ConcurrentHistogram shared;
  for (int i = 0; i < 4; ++i) shared.record(UINT64_MAX);
  EXPECT_DOUBLE_EQ(shared.snapshot().mean(), std::ldexp(1.0, 64));
}

}  // namespace
}  // namespace leat
