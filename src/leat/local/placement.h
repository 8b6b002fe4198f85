// Which drive a key belongs to: rendezvous hashing over the ids of the drives.
//
// Every drive gets a score from the key and its own id; the highest wins. Adding a drive to n moves
// 1/(n+1) of the keys, all of them to the new one; taking one away moves only its own. Pinned by a
// golden test: it decides where data is looked for.
//
// A key of the store's own ("bucket/name", NUL, more) goes where "bucket/name" goes: the parts of
// an upload are on the drive of the object that they become. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace leat::local {

std::uint64_t placement_score(std::string_view key, std::string_view drive_id) noexcept;

}  // namespace leat::local
