// How the native API and its client tell each other about objects in HTTP headers.
//
// Numbers are decimal, checksums hexadecimal. Names and values of metadata may hold any byte, so
// both are percent-encoded: x-leat-meta-NAME for what users attached, x-leat-header-NAME for HTTP
// headers that belong to the object, x-leat-checksum-NAME for checksums. Pure functions,
// thread-safe.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leat/base/result.h"
#include "leat/http/request_head.h"
#include "leat/store/object_store.h"

namespace leat::wire {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::string_view kSizeHeader = "x-leat-size";
inline constexpr std::string_view kGenerationHeader = "x-leat-generation";
inline constexpr std::string_view kMtimeHeader = "x-leat-mtime-ns";
inline constexpr std::string_view kCrc32cHeader = "x-leat-crc32c";
inline constexpr std::string_view kEtagHeader = "x-leat-etag";  // of a PUT: the one to have
inline constexpr std::string_view kDurabilityHeader = "x-leat-durability";
inline constexpr std::string_view kIfGenerationHeader = "x-leat-if-generation";
inline constexpr std::string_view kCopySourceHeader = "x-leat-copy-source";
inline constexpr std::string_view kExpectedSizeHeader = "x-leat-expected-size";
inline constexpr std::string_view kFramedHeader = "x-leat-framed";
inline constexpr std::string_view kErrorHeader = "x-leat-error";  // the code's name
// Says that a request was not made by a web page of somebody else.
inline constexpr std::string_view kRequestHeader = "x-leat-request";

void add_metadata(HeaderList& headers, const Metadata& metadata);
// kInvalidArgument for what is not encoded as said above.
Result<Metadata> metadata_of(std::span<const http::Header> headers);

// The object's headers, as whole lines.
std::string info_lines(const ObjectInfo& info);
// kCorrupted when one is missing or malformed.
Result<ObjectInfo> info_of(std::span<const http::Header> headers);

void add_precondition(HeaderList& headers, const Precondition& precondition);
// If-Match, "If-None-Match: *" and x-leat-if-generation of a change.
Result<Precondition> precondition_of(std::span<const http::Header> headers);

std::string_view durability_name(Durability durability) noexcept;  // empty: the default
// kInvalidArgument for any other text.
Result<Durability> parse_durability(std::string_view text);

// Decimal digits and nothing else.
std::optional<std::uint64_t> parse_number(std::string_view text) noexcept;
// By the name in the table of base/error.h.
std::optional<ErrorCode> error_code_of(std::string_view name) noexcept;
// An etag that a header can hold: printable, without quotes.
bool is_plain_etag(std::string_view etag) noexcept;

}  // namespace leat::wire
