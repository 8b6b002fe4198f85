// Lower-case hexadecimal, for checksums, ids and generations in names, headers and listings.
//
// A value has exactly one text: fixed width, lower-case, no prefix. The parsers accept nothing
// else, so that what was written is compared byte by byte. Pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"

namespace leat {

std::string to_hex(std::uint32_t value);  // 8 digits
std::string to_hex(std::uint64_t value);  // 16 digits
std::string to_hex(std::span<const std::byte> bytes);

// The same into a caller's buffer, without a terminating NUL.
void write_hex(std::uint32_t value, std::span<char, 8> target) noexcept;
void write_hex(std::uint64_t value, std::span<char, 16> target) noexcept;

// kInvalidArgument for a wrong length or anything but [0-9a-f].
Result<std::uint32_t> parse_hex_u32(std::string_view text);
Result<std::uint64_t> parse_hex_u64(std::string_view text);
Result<std::vector<std::byte>> parse_hex_bytes(std::string_view text);

}  // namespace leat
