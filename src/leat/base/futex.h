// FutexCounter: a number that threads wait for to change, with a timeout.
//
// One notify_all() is one system call however many threads it wakes, and those it wakes need no
// lock to go on: what a leader does for a group. (A condition variable would hand them its mutex
// one after another; std::atomic's wait() has no timeout.)
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace leat {

class FutexCounter {
 public:
  std::uint32_t value() const noexcept { return value_.load(std::memory_order_acquire); }
  // Returns when the value is no longer `seen`, after `timeout`, or for no reason.
  void wait_for(std::uint32_t seen, std::chrono::nanoseconds timeout) const noexcept;
  // Counts on and wakes everyone.
  void notify_all() noexcept;

 private:
  std::atomic<std::uint32_t> value_{0};
};

}  // namespace leat
