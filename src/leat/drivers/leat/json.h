// What the native API says in JSON, read without trust: a member that is missing or of another kind
// is kCorrupted, never an exception. Pure functions, thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"
#include "leat/drivers/leat/leat_server.h"
#include "leat/store/object_store.h"

namespace leat::native_json {

Result<std::vector<LeatServer::Bucket>> parse_buckets(std::string_view text);
Result<LeatServer::Bucket> parse_bucket(std::string_view text);
Result<ListPage> parse_page(std::string_view text);
// The message of an error; empty when there is none.
std::string error_message(std::string_view text);

}  // namespace leat::native_json
