// What a browser is told with everything that somebody else may have written.
#pragma once

#include <string_view>

namespace leat::doors::http {

// To take nothing for a page, and to run nothing.
inline constexpr std::string_view kBrowserLines =
    "X-Content-Type-Options: nosniff\r\n"
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; sandbox\r\n";

}  // namespace leat::doors::http
