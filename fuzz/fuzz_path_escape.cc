// Any bytes as a key: its path is one that a file system takes, and leads back to it. Any bytes as
// a path: refused, or exactly the path of the key that it leads to, apart from tags.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "leat/base/check.h"
#include "leat/base/file_path.h"
#include "leat/local/path_escape.h"

namespace leat::local {
namespace {

void check_key(std::string_view key) {
  const std::string path = escape_path(key);
  if (path.size() <= kMaxPathBytes) CHECK(check_path(path).ok());
  CHECK(is_plain_path(key) == (path == key));
  for (const std::string& tagged : {path, tag_version(path, key.size()), tag_directories(path),
                                    tag_version(tag_directories(path), UINT64_MAX)}) {
    const auto back = unescape_path(tagged);
    CHECK(back.ok() && *back == key);
  }
}

void check_any_path(std::string_view path) {
  const auto key = unescape_path(path);
  if (!key.ok()) return;
  check_key(*key);
  if (path.find('~') == std::string_view::npos) CHECK(escape_path(*key) == path);
}

}  // namespace
}  // namespace leat::local

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  leat::local::check_key(bytes);
  leat::local::check_any_path(bytes);
  return 0;
}
