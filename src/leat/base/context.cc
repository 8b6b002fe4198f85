#include "leat/base/context.h"

#include <algorithm>

namespace leat {

Result<MemoryBudget::Reservation> MemoryBudget::reserve(std::uint64_t bytes) {
  std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > capacity_bytes_ - used) {
      return Error(ErrorCode::kUnavailable,
                   "memory budget of " + std::to_string(capacity_bytes_) + " bytes is used up");
    }
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return Reservation(this, bytes);
}

Context Context::with_deadline(MonotonicTime deadline) const {
  Context copy = *this;
  copy.deadline_ = std::min(deadline_, deadline);
  return copy;
}

Context Context::with_timeout(std::chrono::nanoseconds timeout) const {
  return with_deadline(clock_->now() + timeout);
}

Context Context::with_cancellation(std::stop_token token) const {
  Context copy = *this;
  copy.cancellation_ = std::move(token);
  return copy;
}

Context Context::with_priority(Priority priority) const {
  Context copy = *this;
  copy.priority_ = priority;
  return copy;
}

Context Context::with_memory_budget(std::shared_ptr<MemoryBudget> budget) const {
  Context copy = *this;
  copy.memory_budget_ = std::move(budget);
  return copy;
}

Context Context::with_trace_id(std::uint64_t trace_id) const {
  Context copy = *this;
  copy.trace_id_ = trace_id;
  return copy;
}

Status Context::check() const {
  if (cancellation_.stop_requested()) return ErrorCode::kCancelled;
  if (deadline_ != MonotonicTime::max() && clock_->now() >= deadline_) {
    return ErrorCode::kDeadlineExceeded;
  }
  return ok_status();
}

std::optional<MonotonicTime> Context::deadline() const {
  if (deadline_ == MonotonicTime::max()) return std::nullopt;
  return deadline_;
}

std::chrono::nanoseconds Context::remaining() const {
  if (deadline_ == MonotonicTime::max()) return std::chrono::hours(24 * 365);
  return std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(deadline_ - clock_->now()));
}

}  // namespace leat
