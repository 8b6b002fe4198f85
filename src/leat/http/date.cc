#include "leat/http/date.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace leat::http {
namespace {

constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '-') {
    return std::nullopt;
  }
  return value;
}

}  // namespace

void format_date_into(std::time_t time, std::span<char, kDateBytes> target) noexcept {
  std::tm parts{};
  gmtime_r(&time, &parts);
  fmt::format_to_n(target.data(), target.size(),
                   FMT_STRING("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT"),
                   kDays[static_cast<std::size_t>(parts.tm_wday)], parts.tm_mday,
                   kMonths[static_cast<std::size_t>(parts.tm_mon)], parts.tm_year + 1900,
                   parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string format_date(std::time_t time) {
  std::string text(kDateBytes, ' ');
  format_date_into(time, std::span<char, kDateBytes>(text.data(), kDateBytes));
  return text;
}

std::optional<std::time_t> parse_date(std::string_view text) {
  // "Sun, 06 Nov 1994 08:49:37 GMT"
  if (text.size() != 29 || text.substr(3, 2) != ", " || !text.ends_with(" GMT"))
    return std::nullopt;
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  const auto day = number(text.substr(5, 2));
  const auto year = number(text.substr(12, 4));
  const auto hour = number(text.substr(17, 2));
  const auto minute = number(text.substr(20, 2));
  const auto second = number(text.substr(23, 2));
  if (month == kMonths.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
  std::tm parts{};
  parts.tm_mday = *day;
  parts.tm_mon = static_cast<int>(month - kMonths.begin());
  parts.tm_year = *year - 1900;
  parts.tm_hour = *hour;
  parts.tm_min = *minute;
  parts.tm_sec = *second;
  const std::time_t time = timegm(&parts);
  // What is no date, the 31st of November, comes out as another.
  if (format_date(time).substr(5) != text.substr(5)) return std::nullopt;
  return time;
}

std::string date_line(std::time_t now) {
  return fmt::format("Date: {}\r\n", format_date(now));
}

}  // namespace leat::http
