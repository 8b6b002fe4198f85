// Clock: time, injected, so that tests decide when it passes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace leat {

using MonotonicTime = std::chrono::steady_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  // For deadlines and durations; never steps back.
  virtual MonotonicTime now() const = 0;
  // Nanoseconds since 1970, for what people read; may step either way.
  virtual std::int64_t wall_ns() const = 0;
  virtual void sleep_for(std::chrono::nanoseconds duration) const = 0;

  // The machine's clock. Stateless, lives for ever.
  static const Clock& system();
};

// A clock that moves only when told to; sleeping moves it. Thread-safe.
class ManualClock final : public Clock {
 public:
  MonotonicTime now() const override;
  std::int64_t wall_ns() const override;
  void sleep_for(std::chrono::nanoseconds duration) const override;
  void advance(std::chrono::nanoseconds duration) const;

 private:
  mutable std::atomic<std::int64_t> elapsed_ns_{0};
};

}  // namespace leat
