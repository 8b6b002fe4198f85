// The operations of S3, each an Exchange.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "leat/doors/http/application.h"
#include "leat/doors/http/s3/buckets.h"
#include "leat/doors/http/s3/error.h"
#include "leat/doors/http/s3/request.h"

namespace leat::doors::http::s3 {

// What the request asks for; never null. `buckets` outlives the exchange.
std::unique_ptr<Exchange> make_operation(S3Request request, Buckets& buckets);
// Answers with an error, whatever the body holds.
std::unique_ptr<Exchange> make_refusal(S3Request request, S3Error error);

// What a Range header asks for.
struct WantedRange {
  enum class Kind : std::uint8_t { kAll, kPart, kUnsatisfiable };
  Kind kind = Kind::kAll;
  ByteRange range;
};
// "bytes=0-99", "bytes=100-", "bytes=-100"; anything else is not a range that we serve, so all.
WantedRange parse_range(std::string_view text, std::uint64_t size_bytes);

// The headers of an object's answer, as whole lines; the bytes written, or nothing when they do not
// fit. Allocates nothing for an object without metadata.
std::optional<std::size_t> append_object_headers(std::span<char> space, const ObjectInfo& info);

}  // namespace leat::doors::http::s3
