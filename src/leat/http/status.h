// The words of HTTP's status codes.
#pragma once

#include <string_view>

namespace leat::http {

// "Not Found" for 404; "Unknown" for what has no words.
std::string_view status_text(int status) noexcept;

}  // namespace leat::http
