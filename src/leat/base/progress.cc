#include "leat/base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <thread>
#include <utility>

#include "leat/base/units.h"
#include "leat/base/utf8.h"

namespace leat {
namespace {

constexpr std::chrono::nanoseconds kRedrawInterval = std::chrono::milliseconds(100);
constexpr double kSmoothingSeconds = 5;  // the rate shown is that of about so long
constexpr std::size_t kDefaultWidth = 80;
constexpr std::size_t kMinBarWidth = 10;
constexpr std::size_t kMaxBarWidth = 40;

double seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string amount(ProgressUnit unit, std::uint64_t value) {
  return unit == ProgressUnit::kBytes ? format_size_rounded(value) : std::to_string(value);
}

std::string rate(const ProgressSnapshot& snapshot) {
  const double value = std::max(snapshot.rate_per_second, 0.0);
  if (snapshot.unit == ProgressUnit::kItems) {
    return fmt::format("{:.{}f}/s", value, value < 10 ? 1 : 0);
  }
  constexpr double kMost = 1e18;
  return format_size_rounded(static_cast<std::uint64_t>(std::min(value, kMost))) + "/s";
}

// Empty when nobody can know.
std::string time_left(const ProgressSnapshot& snapshot) {
  if (!snapshot.total || snapshot.done >= *snapshot.total) return {};
  const double left = static_cast<double>(*snapshot.total - snapshot.done);
  constexpr double kLongestSeconds = 100.0 * 24 * 3600;
  const double left_seconds = left / snapshot.rate_per_second;
  if (!(snapshot.rate_per_second > 0) || left_seconds > kLongestSeconds) return {};
  const auto whole = std::chrono::seconds(static_cast<std::int64_t>(std::ceil(left_seconds)));
  const std::string text = whole < std::chrono::minutes(1) ? fmt::format("{}s", whole.count())
                                                           : format_duration_rounded(whole);
  return text + " left";
}

double fraction(const ProgressSnapshot& snapshot) {
  if (*snapshot.total == 0) return 1;
  return std::min(1.0, static_cast<double>(snapshot.done) / static_cast<double>(*snapshot.total));
}

std::string bar(double filled, std::size_t width) {
  const std::size_t inside = width - 2;
  const auto full = static_cast<std::size_t>(filled * static_cast<double>(inside));
  std::string text = "[" + std::string(full, '=');
  if (full < inside) text += ">" + std::string(inside - full - 1, ' ');
  return text + "]";
}

// Characters, each taken for one column; what else may come in a label is not worth a table.
std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) {
    text.remove_prefix(std::max<std::size_t>(utf8_character_bytes(text), 1));
  }
  return count;
}

std::string cut_to_columns(std::string_view text, std::size_t width) {
  std::string_view rest = text;
  for (std::size_t i = 0; i < width && !rest.empty(); ++i) {
    rest.remove_prefix(std::max<std::size_t>(utf8_character_bytes(rest), 1));
  }
  return std::string(text.substr(0, text.size() - rest.size()));
}

// Appends `part` if the line still fits with it; whether it did.
bool append_if_fits(std::string& line, const std::string& part, std::size_t width) {
  if (columns(line) + 2 + columns(part) > width) return false;
  line += "  " + part;
  return true;
}

}  // namespace

std::string progress_line(const ProgressSnapshot& snapshot, std::size_t width) {
  std::string numbers = amount(snapshot.unit, snapshot.done);
  if (snapshot.total) {
    numbers = fmt::format("{:3}% {}/{}", static_cast<int>(fraction(snapshot) * 100), numbers,
                          amount(snapshot.unit, *snapshot.total));
  }
  if (columns(numbers) > width) return cut_to_columns(numbers, width);
  const std::size_t label_room = columns(snapshot.label) + 2;
  const bool label_fits = !snapshot.label.empty() && label_room + columns(numbers) <= width;
  const std::size_t room = label_fits ? width - label_room : width;
  std::string tail = numbers;
  const std::string left = time_left(snapshot);
  if (append_if_fits(tail, rate(snapshot), room) && !left.empty()) append_if_fits(tail, left, room);

  std::string line = label_fits ? snapshot.label + "  " : "";
  const std::size_t used = columns(line) + columns(tail) + 2;
  if (snapshot.total && used + kMinBarWidth <= width) {
    line += bar(fraction(snapshot), std::min(width - used, kMaxBarWidth)) + "  ";
  }
  return line + tail;
}

std::string progress_summary(const ProgressSnapshot& snapshot) {
  const std::string label = snapshot.label.empty() ? "" : snapshot.label + ": ";
  const std::string items = snapshot.unit == ProgressUnit::kItems ? " items" : "";
  return fmt::format("{}{}{} in {}, {}", label, amount(snapshot.unit, snapshot.done), items,
                     format_duration_rounded(snapshot.elapsed), rate(snapshot));
}

Progress::Progress(ProgressOptions options)
    : options_(std::move(options)),
      visible_(options_.show == ProgressOptions::Show::kAlways ||
               (options_.show == ProgressOptions::Show::kOnTerminal &&
                isatty(options_.descriptor) == 1)),
      start_(options_.clock->now()),
      total_(options_.total.value_or(kUnknown)),
      next_draw_ns_(kRedrawInterval.count()),
      drawn_at_(start_) {}

Progress::~Progress() {
  finish();
}

void Progress::add(std::uint64_t amount) {
  done_.fetch_add(amount, std::memory_order_relaxed);
  if (visible_) redraw_if_due();
}

void Progress::set_total(std::uint64_t total) {
  total_.store(total, std::memory_order_relaxed);
}

void Progress::redraw_if_due() {
  const MonotonicTime now = options_.clock->now();
  const std::int64_t now_ns = std::chrono::nanoseconds(now - start_).count();
  if (now_ns < next_draw_ns_.load(std::memory_order_relaxed)) return;
  if (drawing_.exchange(true, std::memory_order_acquire)) return;
  // Another thread may have drawn between the look and the exchange.
  if (now_ns >= next_draw_ns_.load(std::memory_order_relaxed)) {
    next_draw_ns_.store(now_ns + kRedrawInterval.count(), std::memory_order_relaxed);
    redraw(now);
  }
  drawing_.store(false, std::memory_order_release);
}

void Progress::redraw(MonotonicTime now) {
  ProgressSnapshot shown = snapshot(now);
  const double interval = seconds(now - drawn_at_);
  const double latest = static_cast<double>(shown.done - drawn_done_) / interval;
  // At first the average of all so far, later one in which old seconds fade.
  const double weight = interval / std::min(kSmoothingSeconds, seconds(shown.elapsed));
  rate_per_second_ += (latest - rate_per_second_) * std::min(1.0, weight);
  drawn_done_ = shown.done;
  drawn_at_ = now;
  shown.rate_per_second = rate_per_second_;
  // The last column stays empty: some terminals wrap when it is written to.
  write_text("\r" + progress_line(shown, terminal_width() - 1) + "\x1b[K");
}

void Progress::finish() {
  if (!visible_ || finished_) return;
  finished_ = true;
  const MonotonicTime now = options_.clock->now();
  while (drawing_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  ProgressSnapshot shown = snapshot(now);
  const double elapsed = seconds(shown.elapsed);
  shown.rate_per_second = elapsed > 0 ? static_cast<double>(shown.done) / elapsed : 0;
  write_text("\r" + progress_summary(shown) + "\x1b[K\n");
}

ProgressSnapshot Progress::snapshot(MonotonicTime now) const {
  ProgressSnapshot result;
  result.label = options_.label;
  result.unit = options_.unit;
  result.done = done();
  const std::uint64_t total = total_.load(std::memory_order_relaxed);
  if (total != kUnknown) result.total = total;
  result.elapsed = now - start_;
  return result;
}

std::size_t Progress::terminal_width() const {
  winsize size{};
  if (options_.width) return std::max<std::size_t>(*options_.width, 1);
  if (ioctl(options_.descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultWidth;
  return size.ws_col;
}

// A terminal that does not take the line is no reason to disturb the job.
void Progress::write_text(const std::string& text) const {
  const int saved_errno = errno;
  (void)!::write(options_.descriptor, text.data(), text.size());
  errno = saved_errno;
}

}  // namespace leat
