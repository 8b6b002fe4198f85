// Sizes and durations as people write and read them: "64MiB", "1.5 GB", "375us", "1h30m".
//
// One grammar for command line, configuration, URLs and reports. Arithmetic is exact, in integers:
// what does not fit, is negative or is not understood is kInvalidArgument, with an example of how
// to write it. Pure functions, thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "leat/base/result.h"

namespace leat {

// A number, with a fraction if there is a unit, then a unit, in any case:
//   KiB MiB GiB TiB PiB EiB   powers of 1024
//   K   M   G   T   P   E     the same
//   kB  MB  GB  TB  PB  EB    powers of 1000
//   B or nothing              bytes
// A fraction of a byte is dropped: 0.3KiB is 307 bytes.
Result<std::uint64_t> parse_size(std::string_view text);

// Exact: parse_size(format_size(n)) is n for every n. "64MiB", "1536KiB", "10KB", "12345B".
std::string format_size(std::uint64_t bytes);
// For people, three digits: "1.50KiB", "11.8MiB", "999B".
std::string format_size_rounded(std::uint64_t bytes);

// One or more numbers, each with its unit, from large to small: d h m s ms us ns. Only the last
// may have a fraction; "0" needs no unit. A fraction of a nanosecond is dropped.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

// Exact: parse_duration(format_duration(d)) is d for every d that is not negative. "375us",
// "1.5s", "1h30m", "1m0.25s". Below zero the text starts with a minus sign.
std::string format_duration(std::chrono::nanoseconds duration);
// For people: three digits up to a minute ("1.23ms", "45.6s"), then two units ("1m30s", "2d3h").
std::string format_duration_rounded(std::chrono::nanoseconds duration);

}  // namespace leat
