#include "leat/base/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace leat {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kSubBuckets = std::uint64_t{1} << Histogram::kSubBucketBits;

// Adds to a 128-bit number in two words.
void add_wide(std::uint64_t& high, std::uint64_t& low, Wide amount) {
  const Wide sum = (Wide{high} << 64 | low) + amount;
  high = static_cast<std::uint64_t>(sum >> 64);
  low = static_cast<std::uint64_t>(sum);
}

}  // namespace

// The top bit of a value tells its power of two, the six bits below it the part thereof.
std::size_t Histogram::bucket_of(std::uint64_t value) noexcept {
  if (value < kSubBuckets) return static_cast<std::size_t>(value);
  const int shift = std::bit_width(value) - 1 - kSubBucketBits;
  return (static_cast<std::size_t>(shift) << kSubBucketBits) +
         static_cast<std::size_t>(value >> shift);
}

std::uint64_t Histogram::lowest_of(std::size_t bucket) noexcept {
  if (bucket < kSubBuckets) return bucket;
  const std::size_t shift = (bucket >> kSubBucketBits) - 1;
  return (kSubBuckets + bucket % kSubBuckets) << shift;
}

std::uint64_t Histogram::highest_of(std::size_t bucket) noexcept {
  return bucket + 1 == kBucketCount ? UINT64_MAX : lowest_of(bucket + 1) - 1;
}

void Histogram::record_many(std::uint64_t value, std::uint64_t count) {
  if (count == 0) return;
  counts_[bucket_of(value)] += count;
  count_ += count;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  add_wide(sum_high_, sum_low_, Wide{value} * count);
}

void Histogram::merge(const Histogram& other) {
  for (std::size_t i = 0; i < kBucketCount; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  add_wide(sum_high_, sum_low_, Wide{other.sum_high_} << 64 | other.sum_low_);
}

double Histogram::sum() const noexcept {
  return std::ldexp(static_cast<double>(sum_high_), 64) + static_cast<double>(sum_low_);
}

std::uint64_t Histogram::percentile(double percent) const noexcept {
  if (count_ == 0) return 0;
  if (!(percent > 0)) return min();
  if (percent >= 100) return max_;
  // 99.9 % of 1000 is the 999th, although 0.999 has no exact double and would round up.
  constexpr double kRoundingSlack = 1e-12;
  const double exact_rank = percent / 100 * static_cast<double>(count_);
  const auto rank = static_cast<std::uint64_t>(std::ceil(exact_rank * (1 - kRoundingSlack)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBucketCount; ++i) {
    seen += counts_[i];
    if (seen >= std::max<std::uint64_t>(rank, 1)) {
      const std::uint64_t middle = lowest_of(i) + (highest_of(i) - lowest_of(i)) / 2;
      return std::clamp(middle, min_, max_);
    }
  }
  return max_;
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> buckets;
  for (std::size_t i = 0; i < kBucketCount; ++i) {
    if (counts_[i] != 0) buckets.push_back({lowest_of(i), highest_of(i), counts_[i]});
  }
  return buckets;
}

void ConcurrentHistogram::record(std::uint64_t value) noexcept {
  std::uint64_t lowest = min_.load(std::memory_order_relaxed);
  while (value < lowest && !min_.compare_exchange_weak(lowest, value, std::memory_order_relaxed)) {
  }
  std::uint64_t highest = max_.load(std::memory_order_relaxed);
  while (value > highest &&
         !max_.compare_exchange_weak(highest, value, std::memory_order_relaxed)) {
  }
  const std::uint64_t before = sum_low_.fetch_add(value, std::memory_order_relaxed);
  if (before + value < before) sum_high_.fetch_add(1, std::memory_order_relaxed);
  // Last, and released: a snapshot that sees the count sees the rest.
  counts_[Histogram::bucket_of(value)].fetch_add(1, std::memory_order_release);
}

Histogram ConcurrentHistogram::snapshot() const {
  Histogram result;
  for (std::size_t i = 0; i < Histogram::kBucketCount; ++i) {
    result.counts_[i] = counts_[i].load(std::memory_order_acquire);
    result.count_ += result.counts_[i];
  }
  if (result.count_ == 0) return result;
  result.min_ = min_.load(std::memory_order_relaxed);
  result.max_ = max_.load(std::memory_order_relaxed);
  result.sum_low_ = sum_low_.load(std::memory_order_relaxed);
  result.sum_high_ = sum_high_.load(std::memory_order_relaxed);
  return result;
}

}  // namespace leat
