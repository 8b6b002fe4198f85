// Small text files whose last line, "crc 01234567", is the checksum of all before it: the
// superblock and the catalogue's manifest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leat::local {

// `text`, which ends with a line feed, with its checksum.
std::string with_checksum(std::string text);

// The lines before the checksum, without their line feeds; nothing if the checksum does not match.
std::optional<std::vector<std::string_view>> checked_lines(std::string_view text);

}  // namespace leat::local
