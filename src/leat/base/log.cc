#include "leat/base/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <iterator>
#include <utility>

#include "leat/base/utf8.h"

namespace leat {
namespace {

constexpr std::size_t kMaxTextBytes = 1024;      // of a message or a value; the rest is cut
constexpr std::size_t kMaxRepetitions = 64;      // different messages watched at once
constexpr std::string_view kCutMark = "\u2026";  // …

std::string_view level_name(LogLevel level) {
  constexpr std::array<std::string_view, 4> kNames = {"debug", "info", "warning", "error"};
  return kNames[static_cast<std::size_t>(level)];
}

void append_time(std::string& line, std::int64_t wall_ns) {
  const std::chrono::sys_time<std::chrono::nanoseconds> time{std::chrono::nanoseconds(wall_ns)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::microseconds>(time - day));
  fmt::format_to(std::back_inserter(line), "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
                 static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                 static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                 clock.seconds().count(), clock.subseconds().count());
}

// Escapes as JSON does, which a text line can carry as well: quotes, backslashes and control
// characters, and U+FFFD for what is not UTF-8.
void append_escaped(std::string& line, std::string_view text) {
  const std::string_view shown = utf8_prefix(text, kMaxTextBytes);
  for (const char c : to_valid_utf8(shown)) {
    if (c == '"' || c == '\\') {
      line += '\\';
      line += c;
    } else if (c == '\n') {
      line += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      fmt::format_to(std::back_inserter(line), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      line += c;
    }
  }
  if (shown.size() < text.size()) line += kCutMark;
}

void append_quoted(std::string& line, std::string_view text) {
  line += '"';
  append_escaped(line, text);
  line += '"';
}

// Bare when nobody could mistake where it ends.
void append_text_value(std::string& line, std::string_view text) {
  const bool is_bare = !text.empty() && text.size() <= kMaxTextBytes &&
                       std::all_of(text.begin(), text.end(), [](char c) {
                         return c > ' ' && c < 0x7F && c != '"' && c != '=' && c != '\\';
                       });
  if (is_bare) {
    line += text;
  } else {
    append_quoted(line, text);
  }
}

// JSON has no number for infinities and NaN.
void append_number(std::string& line, double value) {
  if (std::isfinite(value)) {
    fmt::format_to(std::back_inserter(line), "{}", value);
  } else {
    fmt::format_to(std::back_inserter(line), "\"{}\"", value);
  }
}

void append_value(std::string& line, const LogField::Value& value, LogFormat format) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    format == LogFormat::kJson ? append_quoted(line, *text) : append_text_value(line, *text);
  } else if (const auto* number = std::get_if<double>(&value)) {
    append_number(line, *number);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    line += std::to_string(*integer);
  } else if (const auto* natural = std::get_if<std::uint64_t>(&value)) {
    line += std::to_string(*natural);
  } else {
    line += std::get<bool>(value) ? "true" : "false";
  }
}

std::string text_line(std::int64_t wall_ns, LogLevel level, std::string_view message,
                      std::span<const LogField> fields) {
  std::string line;
  append_time(line, wall_ns);
  line += ' ';
  line += level_name(level);
  line += ' ';
  append_escaped(line, message);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key();
    line += '=';
    append_value(line, field.value(), LogFormat::kText);
  }
  line += '\n';
  return line;
}

std::string json_line(std::int64_t wall_ns, LogLevel level, std::string_view message,
                      std::span<const LogField> fields) {
  std::string line = "{\"time\":\"";
  append_time(line, wall_ns);
  line += "\",\"level\":\"";
  line += level_name(level);
  line += "\",\"message\":";
  append_quoted(line, message);
  for (const LogField& field : fields) {
    line += ',';
    append_quoted(line, field.key());
    line += ':';
    append_value(line, field.value(), LogFormat::kJson);
  }
  line += "}\n";
  return line;
}

class NullLogger final : public Logger {
 public:
  bool enabled(LogLevel) const noexcept override { return false; }
  void log(LogLevel, std::string_view, std::span<const LogField>) override {}
};

}  // namespace

void Logger::debug(std::string_view message, Fields fields) {
  log(LogLevel::kDebug, message, {fields.begin(), fields.size()});
}
void Logger::info(std::string_view message, Fields fields) {
  log(LogLevel::kInfo, message, {fields.begin(), fields.size()});
}
void Logger::warning(std::string_view message, Fields fields) {
  log(LogLevel::kWarning, message, {fields.begin(), fields.size()});
}
void Logger::error(std::string_view message, Fields fields) {
  log(LogLevel::kError, message, {fields.begin(), fields.size()});
}

Logger& Logger::null() {
  static NullLogger logger;
  return logger;
}

DescriptorLogger::DescriptorLogger(DescriptorLoggerOptions options) : options_(options) {}

DescriptorLogger::~DescriptorLogger() {
  std::vector<Repetition> finished;
  {
    const MutexLock lock(mutex_);
    take_finished(Window::kAny, finished);
  }
  write_summaries(finished);
}

void DescriptorLogger::log(LogLevel level, std::string_view message,
                           std::span<const LogField> fields) {
  if (!enabled(level)) return;
  std::vector<Repetition> finished;
  const bool admitted = options_.repeat_limit == 0 || admit(level, message, finished);
  write_summaries(finished);
  if (admitted) write_line(level, message, fields);
}

bool DescriptorLogger::admit(LogLevel level, std::string_view message,
                             std::vector<Repetition>& finished) {
  const MutexLock lock(mutex_);
  take_finished(Window::kOver, finished);
  const auto known =
      std::find_if(repetitions_.begin(), repetitions_.end(), [&](const Repetition& repetition) {
        return repetition.level == level && repetition.message == message;
      });
  if (known != repetitions_.end()) {
    const bool admitted = known->written < options_.repeat_limit;
    ++(admitted ? known->written : known->suppressed);
    return admitted;
  }
  if (repetitions_.size() == kMaxRepetitions) {
    if (repetitions_.front().suppressed != 0) finished.push_back(std::move(repetitions_.front()));
    repetitions_.erase(repetitions_.begin());
  }
  repetitions_.push_back({level, std::string(message), options_.clock->now(), 1, 0});
  return true;
}

void DescriptorLogger::take_finished(Window window, std::vector<Repetition>& finished) {
  const MonotonicTime now = options_.clock->now();
  auto last = repetitions_.begin();
  while (last != repetitions_.end() &&
         (window == Window::kAny || now - last->window_start >= options_.repeat_window)) {
    if (last->suppressed != 0) finished.push_back(std::move(*last));
    ++last;
  }
  repetitions_.erase(repetitions_.begin(), last);
}

void DescriptorLogger::write_summaries(std::span<const Repetition> finished) {
  for (const Repetition& repetition : finished) {
    const std::string message =
        fmt::format("{} \u2026 repeated {} times", repetition.message, repetition.suppressed);
    const LogField count("repeated", repetition.suppressed);
    write_line(repetition.level, message, {&count, 1});
  }
}

void DescriptorLogger::write_line(LogLevel level, std::string_view message,
                                  std::span<const LogField> fields) {
  const std::int64_t now_ns = options_.clock->wall_ns();
  const std::string line = options_.format == LogFormat::kJson
                               ? json_line(now_ns, level, message, fields)
                               : text_line(now_ns, level, message, fields);
  const int saved_errno = errno;  // to log must not disturb what is being logged about
  ssize_t written = 0;
  do {
    written = ::write(options_.descriptor, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written != static_cast<ssize_t>(line.size())) {
    dropped_lines_.fetch_add(1, std::memory_order_relaxed);
  }
  errno = saved_errno;
}

}  // namespace leat
