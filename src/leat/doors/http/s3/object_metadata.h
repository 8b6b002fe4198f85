// What the headers of a request say of the object that it makes.
#pragma once

#include <optional>
#include <string_view>

#include "leat/doors/http/s3/error.h"
#include "leat/http/request_head.h"
#include "leat/store/object_store.h"

namespace leat::doors::http::s3 {

// Cache-Control and its like, given in lower case: what is kept with an object and comes back as it
// is. No other header is ever written into an answer for an object.
bool is_content_header(std::string_view lower_case_name);

// What describes the content and comes back with it, and "x-amz-meta-…".
Metadata metadata_of(const leat::http::RequestHead& head);

// Headers by which a request asks for more than to keep bytes, and that are not honoured: whoever
// sends one would take silence for a yes. Also metadata too long for the head of an answer.
std::optional<S3Error> refuse_unhonoured(const leat::http::RequestHead& head);

}  // namespace leat::doors::http::s3
