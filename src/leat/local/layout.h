// The names of things in a drive's directory (docs/formats.md).
#pragma once

#include <string_view>

namespace leat::local {

inline constexpr std::string_view kSuperblockFile = "leat.store";
inline constexpr std::string_view kLockFile = "leat.lock";
// Takes up space that removing may need (reserve.h).
inline constexpr std::string_view kReserveFile = "leat.reserve";
inline constexpr std::string_view kPackDirectory = "packs";
inline constexpr std::string_view kObjectDirectory = "objects";
inline constexpr std::string_view kCatalogueDirectory = "catalogue";
// Objects being written. What is found here at start belongs to nobody.
inline constexpr std::string_view kTemporaryDirectory = "temporary";
// What was cut off the end of a pack after a power cut, kept for people to look at.
inline constexpr std::string_view kTornDirectory = "torn";

}  // namespace leat::local
