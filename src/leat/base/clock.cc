#include "leat/base/clock.h"

#include <thread>

namespace leat {
namespace {

class SystemClock final : public Clock {
 public:
  MonotonicTime now() const override { return std::chrono::steady_clock::now(); }
  std::int64_t wall_ns() const override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  void sleep_for(std::chrono::nanoseconds duration) const override {
    std::this_thread::sleep_for(duration);
  }
};

}  // namespace

const Clock& Clock::system() {
  static const SystemClock clock;
  return clock;
}

MonotonicTime ManualClock::now() const {
  return MonotonicTime(std::chrono::nanoseconds(elapsed_ns_.load()));
}
std::int64_t ManualClock::wall_ns() const {
  constexpr std::int64_t kStart = 1'600'000'000'000'000'000;
  return kStart + elapsed_ns_.load();
}
void ManualClock::sleep_for(std::chrono::nanoseconds duration) const {
  advance(duration);
}
void ManualClock::advance(std::chrono::nanoseconds duration) const {
  elapsed_ns_.fetch_add(duration.count());
}

}  // namespace leat
