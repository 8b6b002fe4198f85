#include "leat/shard/pax.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "leat/base/check.h"

namespace leat {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::size_t kNanosecondDigits = 9;
constexpr std::string_view kDigits = "0123456789";

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

bool all_digits(std::string_view text) {
  return text.find_first_not_of(kDigits) == std::string_view::npos;
}

std::size_t decimal_digits(std::size_t number) {
  std::size_t digits = 1;
  for (; number >= 10; number /= 10) ++digits;
  return digits;
}

Error bad_record(std::string_view why) {
  return Error(ErrorCode::kCorrupted, "pax record: " + std::string(why));
}

// The fraction ".5" as 500'000'000; `inexact` when digits beyond the nanosecond were dropped.
std::int64_t parse_fraction_ns(std::string_view digits, bool& inexact) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < kNanosecondDigits; ++i) {
    value = value * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  }
  const std::string_view dropped = digits.substr(std::min(digits.size(), kNanosecondDigits));
  inexact = dropped.find_first_not_of('0') != std::string_view::npos;
  return value;
}

}  // namespace

void append_pax_record(std::string& target, std::string_view key, std::string_view value) {
  CHECK(!key.empty() && key.find('=') == std::string_view::npos);
  constexpr std::size_t kPunctuation = 3;  // the space, the '=' and the newline
  const std::size_t body = key.size() + value.size() + kPunctuation;
  // The length counts its own digits, which may carry it over a power of ten.
  std::size_t length = body + decimal_digits(body);
  length = body + decimal_digits(length);
  target.reserve(target.size() + length);
  target += std::to_string(length);
  target += ' ';
  target += key;
  target += '=';
  target += value;
  target += '\n';
}

Result<std::optional<PaxRecord>> take_pax_record(std::string_view& rest) {
  if (rest.empty() || rest.front() == '\0') return std::optional<PaxRecord>();
  if (!is_digit(rest.front())) return bad_record("the length is missing");
  std::size_t length = 0;
  const char* const end = rest.data() + rest.size();
  const auto [after, problem] = std::from_chars(rest.data(), end, length);
  const auto digits = static_cast<std::size_t>(after - rest.data());
  if (problem != std::errc() || length > rest.size()) return bad_record("longer than its header");
  if (after == end || *after != ' ') return bad_record("no space after the length");
  if (length < digits + 2 || rest[length - 1] != '\n') {
    return bad_record("no newline where its length says");
  }
  const std::string_view body = rest.substr(digits + 1, length - digits - 2);
  const std::size_t equals = body.find('=');
  if (equals == std::string_view::npos || equals == 0) return bad_record("no key");
  rest.remove_prefix(length);
  return std::optional(PaxRecord{body.substr(0, equals), body.substr(equals + 1)});
}

Result<std::uint64_t> parse_pax_size(std::string_view value) {
  if (value.empty() || !all_digits(value)) {
    return Error(ErrorCode::kCorrupted, "the pax size is not a number");
  }
  std::int64_t size = 0;
  const auto [after, problem] = std::from_chars(value.data(), value.data() + value.size(), size);
  if (problem != std::errc()) {
    return Error(ErrorCode::kTooLarge, "the pax size does not fit into 63 bits");
  }
  return static_cast<std::uint64_t>(size);
}

Result<std::int64_t> parse_pax_time_ns(std::string_view value) {
  const bool negative = value.starts_with('-');
  if (negative) value.remove_prefix(1);
  const std::size_t point = std::min(value.find('.'), value.size());
  const std::string_view whole = value.substr(0, point);
  const std::string_view fraction = value.substr(std::min(point + 1, value.size()));
  if (whole.empty() || !all_digits(whole) || !all_digits(fraction)) {
    return Error(ErrorCode::kCorrupted, "the pax mtime is not a number");
  }
  std::int64_t seconds = 0;
  const auto [after, problem] = std::from_chars(whole.data(), whole.data() + whole.size(), seconds);
  if (problem != std::errc()) seconds = std::numeric_limits<std::int64_t>::max();
  bool inexact = false;
  std::int64_t fraction_ns = parse_fraction_ns(fraction, inexact);
  if (negative) {
    seconds = -seconds;
    fraction_ns = -fraction_ns - (inexact ? 1 : 0);
  }
  std::int64_t time_ns = 0;
  if (__builtin_add_overflow(nanoseconds_of_seconds(seconds), fraction_ns, &time_ns)) {
    return negative ? std::numeric_limits<std::int64_t>::min()
                    : std::numeric_limits<std::int64_t>::max();
  }
  return time_ns;
}

std::int64_t nanoseconds_of_seconds(std::int64_t seconds) noexcept {
  std::int64_t time_ns = 0;
  if (!__builtin_mul_overflow(seconds, kNanosecondsPerSecond, &time_ns)) return time_ns;
  return seconds < 0 ? std::numeric_limits<std::int64_t>::min()
                     : std::numeric_limits<std::int64_t>::max();
}

}  // namespace leat
