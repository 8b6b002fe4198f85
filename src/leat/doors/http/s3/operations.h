// The operations of S3, each an Exchange.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "leat/doors/http/application.h"
#include "leat/doors/http/buckets.h"
#include "leat/doors/http/s3/error.h"
#include "leat/doors/http/s3/request.h"

namespace leat::doors::http::s3 {

// What the request asks for; never null. `buckets` outlives the exchange.
std::unique_ptr<Exchange> make_operation(S3Request request, Buckets& buckets);
// As S3 names it: "PutObject".
std::string_view operation_name(const S3Request& request);
// Answers with an error, whatever the body holds.
std::unique_ptr<Exchange> make_refusal(S3Request request, S3Error error);

// The headers of an object's answer, as whole lines; the bytes written, or nothing when they do not
// fit. Allocates nothing for an object without metadata.
std::optional<std::size_t> append_object_headers(std::span<char> space, const ObjectInfo& info);

}  // namespace leat::doors::http::s3
