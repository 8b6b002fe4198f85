// UTF-8 as our outputs need it: JSON, Prometheus and terminals reject or garble what is not valid,
// while names of objects are any bytes. Pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace leat {

// The bytes of the character at the front of `text`; 0 if it is not valid UTF-8 (overlong forms,
// surrogates and values above U+10FFFF included) or `text` is empty.
std::size_t utf8_character_bytes(std::string_view text) noexcept;

// `text` with every byte that is part of no valid character replaced by U+FFFD.
std::string to_valid_utf8(std::string_view text);

// The longest prefix of at most `max_bytes` bytes that does not end inside a character.
std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes) noexcept;

}  // namespace leat
