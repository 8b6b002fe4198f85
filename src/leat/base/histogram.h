// Histogram: how a quantity, mostly latencies in nanoseconds, is distributed. Any 64-bit value.
//
// Log-linear buckets: values below 64 have one each, and every power of two above is cut into 64
// equal parts. A bucket's middle is within 0.8 % of every value in it. The buckets are the same in
// every histogram, so merging adds counts and loses nothing: histograms of threads, minutes and
// machines give the percentiles that one histogram of everything would have given. Count, sum,
// minimum, maximum and mean are exact. 30 KiB.
//
// Histogram is for one thread at a time; ConcurrentHistogram is recorded into by many.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace leat {

class Histogram {
 public:
  static constexpr int kSubBucketBits = 6;
  static constexpr std::size_t kBucketCount = (64 - kSubBucketBits + 1) << kSubBucketBits;

  Histogram() : counts_(kBucketCount) {}

  void record(std::uint64_t value) { record_many(value, 1); }
  void record(std::chrono::nanoseconds duration) { record(clamped_ns(duration)); }
  void record_many(std::uint64_t value, std::uint64_t count);
  void merge(const Histogram& other);

  std::uint64_t count() const noexcept { return count_; }
  // All four are 0 when nothing was recorded.
  std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
  std::uint64_t max() const noexcept { return max_; }
  double sum() const noexcept;
  double mean() const noexcept { return count_ == 0 ? 0 : sum() / static_cast<double>(count_); }

  // The value that `percent` percent of the recorded ones do not exceed, within 0.8 %; 0 gives the
  // minimum and 100 the maximum. 0 when nothing was recorded.
  std::uint64_t percentile(double percent) const noexcept;

  struct Bucket {
    std::uint64_t lowest = 0;
    std::uint64_t highest = 0;
    std::uint64_t count = 0;
  };
  // Those with a count, in ascending order.
  std::vector<Bucket> buckets() const;

  // A duration as a value: one below zero, which a stepping clock can give, counts as zero.
  static std::uint64_t clamped_ns(std::chrono::nanoseconds duration) noexcept {
    return duration.count() < 0 ? 0 : static_cast<std::uint64_t>(duration.count());
  }
  static std::size_t bucket_of(std::uint64_t value) noexcept;
  static std::uint64_t lowest_of(std::size_t bucket) noexcept;
  static std::uint64_t highest_of(std::size_t bucket) noexcept;

 private:
  friend class ConcurrentHistogram;

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
  // The sum in 128 bits.
  std::uint64_t sum_low_ = 0;
  std::uint64_t sum_high_ = 0;
};

// Lock-free: a record is a few relaxed operations on shared memory.
class ConcurrentHistogram {
 public:
  void record(std::uint64_t value) noexcept;
  void record(std::chrono::nanoseconds duration) noexcept {
    record(Histogram::clamped_ns(duration));
  }
  // Everything recorded before the call, and perhaps some of what is being recorded meanwhile.
  Histogram snapshot() const;

 private:
  std::array<std::atomic<std::uint64_t>, Histogram::kBucketCount> counts_{};
  std::atomic<std::uint64_t> min_{UINT64_MAX};
  std::atomic<std::uint64_t> max_{0};
  std::atomic<std::uint64_t> sum_low_{0};
  std::atomic<std::uint64_t> sum_high_{0};
};

}  // namespace leat
