#include "leat/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

namespace leat {
namespace {

__extension__ using Wide = unsigned __int128;

struct UnitName {
  std::string_view name;  // lower-case
  std::uint64_t factor;
};

constexpr std::uint64_t kKilo = 1000;
constexpr std::uint64_t kMega = kKilo * kKilo;
constexpr std::uint64_t kGiga = kMega * kKilo;
constexpr std::uint64_t kTera = kGiga * kKilo;
constexpr std::uint64_t kPeta = kTera * kKilo;
constexpr std::uint64_t kExa = kPeta * kKilo;

constexpr std::array<UnitName, 20> kSizeUnits = {{
    {"", 1},
    {"b", 1},
    {"k", 1ull << 10},
    {"kib", 1ull << 10},
    {"kb", kKilo},
    {"m", 1ull << 20},
    {"mib", 1ull << 20},
    {"mb", kMega},
    {"g", 1ull << 30},
    {"gib", 1ull << 30},
    {"gb", kGiga},
    {"t", 1ull << 40},
    {"tib", 1ull << 40},
    {"tb", kTera},
    {"p", 1ull << 50},
    {"pib", 1ull << 50},
    {"pb", kPeta},
    {"e", 1ull << 60},
    {"eib", 1ull << 60},
    {"eb", kExa},
}};

// What format_size() tries: the largest that divides the value, powers of 1024 first.
constexpr std::array<UnitName, 12> kExactSizeUnits = {{
    {"EiB", 1ull << 60},
    {"PiB", 1ull << 50},
    {"TiB", 1ull << 40},
    {"GiB", 1ull << 30},
    {"MiB", 1ull << 20},
    {"KiB", 1ull << 10},
    {"EB", kExa},
    {"PB", kPeta},
    {"TB", kTera},
    {"GB", kGiga},
    {"MB", kMega},
    {"KB", kKilo},
}};

constexpr std::uint64_t kMinuteNs = 60 * kGiga;
constexpr std::uint64_t kHourNs = 60 * kMinuteNs;
constexpr std::uint64_t kDayNs = 24 * kHourNs;

constexpr std::array<UnitName, 9> kDurationUnits = {{
    {"ns", 1},
    {"us", kKilo},
    {"µs", kKilo},
    {"ms", kMega},
    {"s", kGiga},
    {"m", kMinuteNs},
    {"min", kMinuteNs},
    {"h", kHourNs},
    {"d", kDayNs},
}};

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

void skip_spaces(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

std::string_view trimmed(std::string_view text) {
  skip_spaces(text);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// whole + fraction / scale
struct Decimal {
  std::uint64_t whole = 0;
  std::uint64_t fraction = 0;
  std::uint64_t scale = 1;
};

// Takes "12" or "12.5" off the front of `text`. None when there is no number or it has more digits
// than we can hold.
std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal number;
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    const Wide next = Wide{number.whole} * 10 + static_cast<unsigned>(text.front() - '0');
    if (next > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
    number.whole = static_cast<std::uint64_t>(next);
  }
  if (text.empty() || text.front() != '.') return number;
  text.remove_prefix(1);
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    if (number.scale == kExa) return std::nullopt;
    number.scale *= 10;
    number.fraction = number.fraction * 10 + static_cast<std::uint64_t>(text.front() - '0');
  }
  return number;
}

// Takes what is neither a digit nor a space off the front of `text`.
std::optional<UnitName> take_unit(std::string_view& text, std::span<const UnitName> units) {
  std::string name;
  for (; !text.empty() && !is_digit(text.front()) && text.front() != ' '; text.remove_prefix(1)) {
    const char c = text.front();
    name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (name.size() > 4) return std::nullopt;
  }
  const auto unit = std::find_if(units.begin(), units.end(),
                                 [&](const UnitName& candidate) { return candidate.name == name; });
  if (unit == units.end()) return std::nullopt;
  return *unit;
}

Wide times(const Decimal& number, std::uint64_t factor) {
  return Wide{number.whole} * factor + Wide{number.fraction} * factor / number.scale;
}

Error not_understood(std::string_view kind, std::string_view text, std::string_view examples) {
  constexpr std::size_t kShownBytes = 40;
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("'{}{}' is not a {}; write {}", text.substr(0, kShownBytes),
                           text.size() > kShownBytes ? "…" : "", kind, examples));
}

Error bad_size(std::string_view text) {
  return not_understood("size below 16EiB", text, "64MiB, 1.5GB or 4096");
}

Error bad_duration(std::string_view text) {
  return not_understood("duration below 292 years", text, "375us, 1.5s or 1h30m");
}

// Three digits of value / factor.
std::string three_digits(std::uint64_t value, std::uint64_t factor) {
  const double quotient = static_cast<double>(value) / static_cast<double>(factor);
  const int decimals = quotient < 9.995 ? 2 : quotient < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", quotient, decimals);
}

// value / factor, exactly, without trailing zeros. `factor` is a power of ten.
std::string exact_decimal(std::uint64_t value, std::uint64_t factor) {
  std::string text = std::to_string(value / factor);
  std::uint64_t rest = value % factor;
  if (rest != 0) text += '.';
  for (; rest != 0; rest %= factor) {
    factor /= 10;
    text += static_cast<char>('0' + rest / factor);
  }
  return text;
}

// Below zero the magnitude does not fit the signed type at one end: count in unsigned.
std::uint64_t magnitude(std::chrono::nanoseconds duration) {
  const auto count = static_cast<std::uint64_t>(duration.count());
  return duration.count() < 0 ? 0 - count : count;
}

UnitName subsecond_unit(std::uint64_t ns) {
  if (ns >= kGiga) return {"s", kGiga};
  if (ns >= kMega) return {"ms", kMega};
  if (ns >= kKilo) return {"us", kKilo};
  return {"ns", 1};
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  std::string_view rest = trimmed(text);
  const std::optional<Decimal> number = take_decimal(rest);
  if (!number) return bad_size(text);
  skip_spaces(rest);
  const std::optional<UnitName> unit = take_unit(rest, kSizeUnits);
  if (!unit || !rest.empty()) return bad_size(text);
  if (unit->factor == 1 && number->scale != 1) return bad_size(text);
  const Wide bytes = times(*number, unit->factor);
  if (bytes > std::numeric_limits<std::uint64_t>::max()) return bad_size(text);
  return static_cast<std::uint64_t>(bytes);
}

std::string format_size(std::uint64_t bytes) {
  for (const UnitName& unit : kExactSizeUnits) {
    if (bytes != 0 && bytes % unit.factor == 0) {
      return fmt::format("{}{}", bytes / unit.factor, unit.name);
    }
  }
  return fmt::format("{}B", bytes);
}

std::string format_size_rounded(std::uint64_t bytes) {
  constexpr std::size_t kBinaryUnits = 6;
  // 1023.7KiB would round to four digits: it is 1.00MiB.
  for (const UnitName& unit : std::span(kExactSizeUnits).first<kBinaryUnits>()) {
    if (bytes >= unit.factor - unit.factor / 2048) {
      return three_digits(bytes, unit.factor) + std::string(unit.name);
    }
  }
  return fmt::format("{}B", bytes);
}

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  std::string_view rest = trimmed(text);
  if (rest == "0") return std::chrono::nanoseconds(0);
  Wide total = 0;
  std::uint64_t previous_factor = std::numeric_limits<std::uint64_t>::max();
  do {
    const std::optional<Decimal> number = take_decimal(rest);
    if (!number) return bad_duration(text);
    skip_spaces(rest);
    const std::optional<UnitName> unit = take_unit(rest, kDurationUnits);
    if (!unit || unit->factor >= previous_factor) return bad_duration(text);
    previous_factor = unit->factor;
    skip_spaces(rest);
    if (number->scale != 1 && (unit->factor == 1 || !rest.empty())) return bad_duration(text);
    total += times(*number, unit->factor);
    if (total > std::numeric_limits<std::int64_t>::max()) return bad_duration(text);
  } while (!rest.empty());
  return std::chrono::nanoseconds(static_cast<std::int64_t>(total));
}

std::string format_duration(std::chrono::nanoseconds duration) {
  std::string text = duration.count() < 0 ? "-" : "";
  std::uint64_t ns = magnitude(duration);
  if (ns == 0) return "0s";
  for (const UnitName& unit : {UnitName{"h", kHourNs}, UnitName{"m", kMinuteNs}}) {
    if (ns >= unit.factor) text += fmt::format("{}{}", ns / unit.factor, unit.name);
    ns %= unit.factor;
  }
  if (ns != 0) {
    const UnitName unit = subsecond_unit(ns);
    text += exact_decimal(ns, unit.factor) + std::string(unit.name);
  }
  return text;
}

std::string format_duration_rounded(std::chrono::nanoseconds duration) {
  const std::string sign = duration.count() < 0 ? "-" : "";
  const std::uint64_t ns = magnitude(duration);
  if (ns == 0) return "0s";
  constexpr std::uint64_t kRoundsToMinuteNs = kMinuteNs - kMega * 50;
  if (ns < kRoundsToMinuteNs) {
    // 999.7us would round to four digits: it is 1.00ms.
    const UnitName unit = subsecond_unit(ns < kKilo ? ns : ns + ns / 2000);
    return sign + (unit.factor == 1 ? std::to_string(ns) : three_digits(ns, unit.factor)) +
           std::string(unit.name);
  }
  constexpr std::array<UnitName, 4> kPairs = {
      {{"d", kDayNs}, {"h", kHourNs}, {"m", kMinuteNs}, {"s", kGiga}}};
  std::size_t first = 0;
  for (; first < 2; ++first) {
    // 59m59.9s, rounded to seconds, would be 60m: it is 1h.
    if (ns + kPairs[first + 2].factor / 2 >= kPairs[first].factor) break;
  }
  const UnitName& large = kPairs[first];
  const UnitName& small = kPairs[first + 1];
  const std::uint64_t count = (ns + small.factor / 2) / small.factor;
  const std::uint64_t per_large = large.factor / small.factor;
  std::string text = fmt::format("{}{}{}", sign, count / per_large, large.name);
  if (count % per_large != 0) text += fmt::format("{}{}", count % per_large, small.name);
  return text;
}

}  // namespace leat
