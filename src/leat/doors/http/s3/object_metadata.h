// What the headers of a request say of the object that it makes.
#pragma once

#include <optional>

#include "leat/doors/http/s3/error.h"
#include "leat/http/request_head.h"
#include "leat/store/object_store.h"

namespace leat::doors::http::s3 {

// What describes the content and comes back with it, and "x-amz-meta-…".
Metadata metadata_of(const leat::http::RequestHead& head);

// Headers by which a request asks for more than to keep bytes, and that are not honoured: whoever
// sends one would take silence for a yes.
std::optional<S3Error> refuse_unhonoured(const leat::http::RequestHead& head);

}  // namespace leat::doors::http::s3
