// Progress: one line of a terminal that shows how far a long job is, how fast, and how long still.
//
// Silent unless the descriptor is a terminal, so that logs and pipes stay clean. Redrawn by the
// threads that report, at most ten times a second; there is no thread of its own, so the line
// stands still while nothing is reported. finish() replaces it by one final line.
//
// add() and set_total() may be called from many threads and cost an atomic addition and a look at
// the clock; finish() and the destructor are for the owner alone. The descriptor is borrowed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "leat/base/clock.h"

namespace leat {

enum class ProgressUnit : std::uint8_t { kBytes, kItems };

// What a line shows; a value, so that the drawing is a pure function.
struct ProgressSnapshot {
  std::string label;
  ProgressUnit unit = ProgressUnit::kBytes;
  std::uint64_t done = 0;
  std::optional<std::uint64_t> total{};
  double rate_per_second = 0;
  std::chrono::nanoseconds elapsed{0};
};

// The line in at most `width` columns, without line end. What matters least goes first when the
// terminal is narrow: the bar, then the time left, then the rate, then the label.
std::string progress_line(const ProgressSnapshot& snapshot, std::size_t width);
// "copy: 2.85GiB in 8.40s, 347MiB/s".
std::string progress_summary(const ProgressSnapshot& snapshot);

struct ProgressOptions {
  std::string label;
  ProgressUnit unit = ProgressUnit::kBytes;
  std::optional<std::uint64_t> total{};
  int descriptor = 2;
  enum class Show : std::uint8_t { kOnTerminal, kAlways, kNever };
  Show show = Show::kOnTerminal;
  std::optional<std::size_t> width{};  // of the terminal; asked at every redraw if not given
  const Clock* clock = &Clock::system();
};

class Progress {
 public:
  explicit Progress(ProgressOptions options);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // finish()
  ~Progress();

  void add(std::uint64_t amount);
  // When it becomes known, or grows.
  void set_total(std::uint64_t total);
  void finish();

  std::uint64_t done() const noexcept { return done_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kUnknown = UINT64_MAX;

  void redraw_if_due();
  void redraw(MonotonicTime now);
  void write_text(const std::string& text) const;
  std::size_t terminal_width() const;
  ProgressSnapshot snapshot(MonotonicTime now) const;

  const ProgressOptions options_;
  const bool visible_;
  const MonotonicTime start_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> total_;
  std::atomic<std::int64_t> next_draw_ns_;  // since start_
  // Held by the thread that draws, and by finish() for ever. Guards the next three.
  std::atomic<bool> drawing_{false};
  double rate_per_second_ = 0;
  std::uint64_t drawn_done_ = 0;
  MonotonicTime drawn_at_;
  bool finished_ = false;  // the owner's
};

}  // namespace leat
