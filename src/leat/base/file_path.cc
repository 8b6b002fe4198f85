#include "leat/base/file_path.h"

#include <fmt/format.h>

namespace leat {

Status check_path(std::string_view path) {
  if (path == ".") return ok_status();
  if (path.size() > kMaxPathBytes) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("a path of {} bytes", path.size()));
  }
  if (path.find('\0') != std::string_view::npos) {
    return Error(ErrorCode::kInvalidArgument, "a path with a NUL byte");
  }
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t slash = path.find('/', begin);
    const std::string_view name = path.substr(begin, slash - begin);
    if (name.empty() || name == "." || name == ".." || name.size() > kMaxFileNameBytes) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("path \"{}\": \"{}\" is not the name of a file", path, name));
    }
    if (slash == std::string_view::npos) break;
    begin = slash + 1;
  }
  return ok_status();
}

std::string_view file_name(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace leat
