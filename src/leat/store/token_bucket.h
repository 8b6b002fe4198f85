// TokenBucket: spreads amounts (bytes, operations) over time at a given rate.
//
// Whoever takes gets the time at which the tokens are there, and waits by itself: the bucket knows
// no clock and never blocks. Takers are served in the order in which they come; a large amount goes
// into debt and makes those behind it wait, as on a link. Thread-safe.
#pragma once

#include <chrono>

#include "leat/base/clock.h"
#include "leat/base/mutex.h"

namespace leat {

class TokenBucket {
 public:
  // `burst` tokens are there at once after a pause. A rate of 0 means no limit.
  TokenBucket(double tokens_per_second, double burst);

  // When `amount` tokens, asked for at `at`, are there; not before `at`.
  MonotonicTime take(MonotonicTime at, double amount);

 private:
  const double seconds_per_token_;
  const std::chrono::nanoseconds burst_time_;
  Mutex mutex_;
  // When the bucket will be full again; more than the burst away from now, it is in debt.
  MonotonicTime settled_ GUARDED_BY(mutex_) = MonotonicTime::min();
};

}  // namespace leat
