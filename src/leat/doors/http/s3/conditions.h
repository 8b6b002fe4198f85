// The conditions of requests: If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since.
#pragma once

#include <cstdint>
#include <string_view>

#include "leat/base/result.h"
#include "leat/http/etag.h"
#include "leat/http/request_head.h"
#include "leat/store/object_store.h"

namespace leat::doors::http::s3 {

using leat::http::unquoted;

enum class Verdict : std::uint8_t { kGo, kFailed, kUnchanged };

// What the conditions say of an object that is to be read. Their names begin with `prefix`:
// "x-amz-copy-source-" for the source of a copy. An etag outweighs a date.
Verdict judge(const leat::http::RequestHead& head, std::string_view prefix, const ObjectInfo& info);
bool has_conditions(const leat::http::RequestHead& head, std::string_view prefix);

// If-Match and "If-None-Match: *" of a change.
Result<Precondition> precondition_of(const leat::http::RequestHead& head);

}  // namespace leat::doors::http::s3
