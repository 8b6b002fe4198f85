#include "leat/store/token_bucket.h"

#include <algorithm>

namespace leat {
namespace {

// A year: longer than anyone waits, and far from what a time point can hold.
constexpr double kMaxSeconds = 365.0 * 24 * 3600;

std::chrono::nanoseconds to_duration(double seconds) {
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(std::clamp(seconds, 0.0, kMaxSeconds) * 1e9));
}

}  // namespace

TokenBucket::TokenBucket(double tokens_per_second, double burst)
    : seconds_per_token_(tokens_per_second > 0 ? 1 / tokens_per_second : 0),
      burst_time_(to_duration(burst * seconds_per_token_)) {}

MonotonicTime TokenBucket::take(MonotonicTime at, double amount) {
  if (seconds_per_token_ == 0) return at;
  const MutexLock lock(mutex_);
  settled_ = std::min(std::max(settled_, at) + to_duration(amount * seconds_per_token_),
                      at + to_duration(kMaxSeconds));
  return std::max(at, settled_ - burst_time_);
}

}  // namespace leat
