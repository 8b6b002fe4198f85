#include "leat/base/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace leat {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void FutexCounter::wait_for(std::uint32_t seen, std::chrono::nanoseconds timeout) const noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timespec limit{seconds.count(), (timeout - seconds).count()};
  // Every error (interrupted, timed out, changed already) is a reason to look again.
  (void)syscall(SYS_futex, &value_, FUTEX_WAIT_PRIVATE, seen, &limit, nullptr, 0);
}

void FutexCounter::notify_all() noexcept {
  value_.fetch_add(1, std::memory_order_release);
  (void)syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace leat
