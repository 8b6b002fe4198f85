// Pax extended header records: "LENGTH KEY=VALUE\n", one after another, where LENGTH counts the
// whole record, itself included. They carry what a ustar header cannot: long names, user metadata.
//
// Keys hold no '='; values may hold any byte. Functions are pure and thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "leat/base/result.h"

namespace leat {

struct PaxRecord {
  std::string_view key;
  std::string_view value;
};

// REQUIRES: `key` is not empty and holds no '='.
void append_pax_record(std::string& target, std::string_view key, std::string_view value);

// Takes the first record off `rest`; nothing when there is none left. A NUL where a record would
// start ends the list: some writers pad with them. The result views what `rest` views. kCorrupted
// for a length that is no number, too short or longer than what is there.
Result<std::optional<PaxRecord>> take_pax_record(std::string_view& rest);

// The value of "size". kCorrupted unless it is a decimal number, kTooLarge over 63 bits.
Result<std::uint64_t> parse_pax_size(std::string_view value);
// The value of "mtime": seconds with any number of decimals, perhaps negative. Digits beyond the
// nanosecond are dropped, towards the past; a time too far away becomes the furthest that there is.
Result<std::int64_t> parse_pax_time_ns(std::string_view value);

// Nanoseconds of a time in whole seconds; a time too far away becomes the furthest that there is.
std::int64_t nanoseconds_of_seconds(std::int64_t seconds) noexcept;

}  // namespace leat
