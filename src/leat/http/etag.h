// Etags in headers: quoted, in lists, perhaps weak. Pure functions, thread-safe.
#pragma once

#include <string_view>

namespace leat::http {

// Without its quotes, if it has some.
std::string_view unquoted(std::string_view etag) noexcept;

// Whether one of the etags in `list`, "*" or separated by commas, is `etag`. Quotes may be missing:
// some clients leave them out.
bool matches_etag(std::string_view list, std::string_view etag) noexcept;

}  // namespace leat::http
