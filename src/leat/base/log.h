// Logger: what a running system tells the person who operates it, one structured line an event.
//
// A line is a level, a constant message and fields: put what varies into fields, so that lines can
// be counted and searched. Low layers return errors and do not log; doors and background work do.
// There is no global logger: whoever logs was given a Logger, Logger::null() unless its owner
// wants to hear. All loggers are safe for concurrent use, and no lock is held while writing.
#pragma once

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "leat/base/clock.h"
#include "leat/base/error.h"
#include "leat/base/mutex.h"

namespace leat {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

// A key and a value, borrowed for the call. Keys are snake_case constants.
class LogField {
 public:
  using Value = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool>;

  LogField(std::string_view key, std::string_view value) : key_(key), value_(value) {}
  LogField(std::string_view key, const char* value) : LogField(key, std::string_view(value)) {}
  LogField(std::string_view key, const std::string& value)
      : LogField(key, std::string_view(value)) {}
  LogField(std::string_view key, const Error& error) : LogField(key, error.message()) {}
  LogField(std::string_view key, bool value) : key_(key), value_(value) {}
  LogField(std::string_view key, std::signed_integral auto value)
      : key_(key), value_(std::int64_t{value}) {}
  LogField(std::string_view key, std::unsigned_integral auto value)
      : key_(key), value_(std::uint64_t{value}) {}
  LogField(std::string_view key, std::floating_point auto value)
      : key_(key), value_(static_cast<double>(value)) {}

  std::string_view key() const noexcept { return key_; }
  const Value& value() const noexcept { return value_; }

 private:
  std::string_view key_;
  Value value_;
};

class Logger {
 public:
  using Fields = std::initializer_list<LogField>;

  Logger() = default;
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;
  virtual ~Logger() = default;

  // To skip the making of costly fields.
  virtual bool enabled(LogLevel level) const noexcept = 0;
  virtual void log(LogLevel level, std::string_view message, std::span<const LogField> fields) = 0;

  void debug(std::string_view message, Fields fields = {});
  void info(std::string_view message, Fields fields = {});
  void warning(std::string_view message, Fields fields = {});
  void error(std::string_view message, Fields fields = {});

  // Writes nothing. Stateless, lives for ever.
  static Logger& null();
};

enum class LogFormat : std::uint8_t {
  kText,  // 2026-01-31T12:00:00.000000Z warning drive is full drive=3 path="/a b"
  kJson,  // {"time":"2026-…","level":"warning","message":"drive is full","drive":3}
};

struct DescriptorLoggerOptions {
  int descriptor = 2;  // borrowed
  LogLevel lowest_level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
  // A message that is logged more than `repeat_limit` times within `repeat_window` is cut short by
  // one line "… repeated 312 times" when the window is over. 0: every line is written.
  std::uint64_t repeat_limit = 10;
  std::chrono::nanoseconds repeat_window = std::chrono::seconds(10);
  const Clock* clock = &Clock::system();
};

// Writes every line with one write(2), so that lines of threads and processes do not mix. A line
// that the system does not take is counted and dropped: logging never blocks on a retry and never
// fails its caller. Control characters are escaped: a name cannot forge a line.
class DescriptorLogger final : public Logger {
 public:
  explicit DescriptorLogger(DescriptorLoggerOptions options);
  // Writes what is still to be said of repeated messages.
  ~DescriptorLogger() override;

  bool enabled(LogLevel level) const noexcept override { return level >= options_.lowest_level; }
  void log(LogLevel level, std::string_view message, std::span<const LogField> fields) override;

  std::uint64_t dropped_lines() const noexcept {
    return dropped_lines_.load(std::memory_order_relaxed);
  }

 private:
  struct Repetition {
    LogLevel level = LogLevel::kInfo;
    std::string message;
    MonotonicTime window_start;
    std::uint64_t written = 0;
    std::uint64_t suppressed = 0;
  };
  enum class Window : std::uint8_t { kOver, kAny };

  // Whether this occurrence of the message is to be written. Appends to `finished` what is to be
  // said first about windows that are over.
  bool admit(LogLevel level, std::string_view message, std::vector<Repetition>& finished);
  void take_finished(Window window, std::vector<Repetition>& finished) REQUIRES(mutex_);
  void write_summaries(std::span<const Repetition> finished);
  void write_line(LogLevel level, std::string_view message, std::span<const LogField> fields);

  const DescriptorLoggerOptions options_;
  std::atomic<std::uint64_t> dropped_lines_{0};
  Mutex mutex_;
  std::vector<Repetition> repetitions_ GUARDED_BY(mutex_);  // oldest window first, bounded
};

}  // namespace leat
