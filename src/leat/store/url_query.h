// What drivers share when they read a URL: a misspelt option must not be ignored in silence.
//
// Pure functions, thread-safe.
#pragma once

#include <initializer_list>
#include <string_view>

#include "leat/base/result.h"
#include "leat/base/url.h"

namespace leat {

// kInvalidArgument, with the known keys, when the query of `url` has any other.
Status check_query_keys(const Url& url, std::initializer_list<std::string_view> known);

}  // namespace leat
