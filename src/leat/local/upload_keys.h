// The keys under which uploads and their parts are kept, and what their records say.
//
//   upload  bucket/ NUL "upload" NUL name NUL id           those of a bucket lie together, in order
//   part    bucket/name NUL "part" NUL id NUL number       on the drive of bucket/name
//
// Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat::local {

// Options of the record of an object that came in parts.
inline constexpr std::string_view kUploadOption = "upload";  // the id of the upload
inline constexpr std::string_view kPartsOption = "parts";    // see encode_part_sizes()

// A door's options of an upload have this before their names.
inline constexpr std::string_view kDoorOptionPrefix = "door-";

// The etag of an upload's record, which the catalogue shows.
inline constexpr std::string_view kOpenUpload = "open";
inline constexpr std::string_view kEndedUpload = "ended";  // only its parts are left to remove

// What the keys of all uploads of a bucket begin with; name, NUL and id follow.
std::string upload_prefix(std::string_view bucket);
std::string upload_key(std::string_view bucket, std::string_view name, std::string_view id);
// What the keys of an upload's parts begin with; five digits follow.
std::string part_prefix(std::string_view bucket, std::string_view name, std::string_view id);
std::string part_key(std::string_view bucket, std::string_view name, std::string_view id,
                     std::uint32_t number);
// Whether the key is that of an upload or of a part, and of no other thing of the store's own.
bool is_upload_or_part(std::string_view key) noexcept;
// The upload that a part belongs to; nothing when the key is not a part's.
std::optional<std::string> upload_of_part(std::string_view key);

// Created at this time, and unlike all others by a number that nobody else has.
std::string make_upload_id(std::int64_t created_ns, std::uint64_t unique_number);
bool is_upload_id(std::string_view text) noexcept;

// "8388608*12,1000": twelve of one size and one of another.
std::string encode_part_sizes(std::span<const std::uint64_t> sizes);
// None when the text is no such list.
std::vector<std::uint64_t> decode_part_sizes(std::string_view text);

}  // namespace leat::local
