// Context: on whose behalf and within which limits a call is made. Passed explicitly to every
// operation that may do I/O or wait.
//
// A Context is a small value: copy it and tighten it (`with_deadline`, `with_priority`) for
// sub-operations. Long loops call check() between steps. Thread-safe when const.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "leat/base/clock.h"
#include "leat/base/result.h"

namespace leat {

// What gives way when there is not enough of something.
enum class Priority : std::uint8_t { kForeground, kPrefetch, kBackground };

// Bytes of buffers that the operations of one owner may hold at once. Thread-safe, lock-free.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // Gives its bytes back on destruction.
  class [[nodiscard]] Reservation {
   public:
    Reservation() = default;
    Reservation(MemoryBudget* budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) {}
    Reservation(Reservation&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Reservation& operator=(Reservation&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Reservation() {
      if (budget_ != nullptr) budget_->used_bytes_.fetch_sub(bytes_, std::memory_order_relaxed);
    }

   private:
    MemoryBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  // kUnavailable if `bytes` do not fit now.
  Result<Reservation> reserve(std::uint64_t bytes);
  std::uint64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t capacity_bytes() const { return capacity_bytes_; }

 private:
  const std::uint64_t capacity_bytes_;
  std::atomic<std::uint64_t> used_bytes_{0};
};

class Context {
 public:
  Context() = default;
  explicit Context(const Clock& clock) : clock_(&clock) {}

  Context with_deadline(MonotonicTime deadline) const;
  Context with_timeout(std::chrono::nanoseconds timeout) const;
  Context with_cancellation(std::stop_token token) const;
  Context with_priority(Priority priority) const;
  Context with_memory_budget(std::shared_ptr<MemoryBudget> budget) const;
  Context with_trace_id(std::uint64_t trace_id) const;

  // kCancelled or kDeadlineExceeded when the caller no longer wants the answer. Costs a few
  // nanoseconds when there is neither a deadline nor a token.
  Status check() const;

  const Clock& clock() const { return *clock_; }
  std::optional<MonotonicTime> deadline() const;
  // Time left; a very long time when there is no deadline, zero when it has passed.
  std::chrono::nanoseconds remaining() const;
  const std::stop_token& cancellation() const { return cancellation_; }
  Priority priority() const { return priority_; }
  MemoryBudget* memory_budget() const { return memory_budget_.get(); }
  std::uint64_t trace_id() const { return trace_id_; }

 private:
  const Clock* clock_ = &Clock::system();
  MonotonicTime deadline_ = MonotonicTime::max();
  std::stop_token cancellation_;
  std::shared_ptr<MemoryBudget> memory_budget_;
  std::uint64_t trace_id_ = 0;
  Priority priority_ = Priority::kForeground;
};

}  // namespace leat
