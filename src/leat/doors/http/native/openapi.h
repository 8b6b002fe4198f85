// The description of the native API for programs, as it is served: native/openapi.json.
#pragma once

#include <span>
#include <string_view>

#include "leat/base/embedded_file.h"

namespace leat::doors::http::native {

std::span<const EmbeddedFile> openapi_files() noexcept;
inline std::string_view openapi_document() noexcept {
  return openapi_files().front().text;
}

}  // namespace leat::doors::http::native
