// Times as HTTP writes them: "Sun, 06 Nov 1994 08:49:37 GMT".
#pragma once

#include <cstddef>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace leat::http {

inline constexpr std::size_t kDateBytes = 29;
std::string format_date(std::time_t time);
// The same without a string.
void format_date_into(std::time_t time, std::span<char, kDateBytes> target) noexcept;
// Nothing when it is not such a date; the obsolete forms are not taken.
std::optional<std::time_t> parse_date(std::string_view text);
// "Date: …\r\n".
std::string date_line(std::time_t now);

}  // namespace leat::http
