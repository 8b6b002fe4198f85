// The description of the native API for programs, as it is served: native/openapi.json.
#pragma once

#include <string_view>

namespace leat::doors::http::native {

std::string_view openapi_document() noexcept;

}  // namespace leat::doors::http::native
