// Etags of S3: the MD5 of what was put, or of the MD5s of the parts that an upload had, with a dash
// and their number. The store's own have a dash elsewhere, so no client takes them for an MD5.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace leat::doors::http::s3 {

// Whether it says something of the bytes, and so goes with a copy of them.
bool is_content_etag(std::string_view etag) noexcept;

// Of an object made of parts with these etags. Empty when one of them is no MD5.
std::string multipart_etag(std::span<const std::string> part_etags);

}  // namespace leat::doors::http::s3
