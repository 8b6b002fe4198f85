// Url: "scheme://authority/path?key=value&…", taken apart and percent-decoded.
//
// A text without a scheme is a path: `data/x` and `file:///…/data/x` mean the same. For `mem:` and
// `null:` the authority is empty and the path follows the colon.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "leat/base/result.h"

namespace leat {

struct Url {
  std::string scheme;     // lower-case
  std::string authority;  // as written: host, host:port, bucket …
  // As written, percent-encoded: drivers that split it on ',' or '/' decode the pieces.
  std::string path;
  std::map<std::string, std::string> query;  // decoded

  // kInvalidArgument for a broken escape, a repeated query key or a NUL byte.
  static Result<Url> parse(std::string_view text);
  std::string to_string() const;
};

// Decodes every %XX. kInvalidArgument for a broken escape.
Result<std::string> percent_decode(std::string_view text);
// Encodes every byte but letters, digits and "-._~" and those in `keep`.
std::string percent_encode(std::string_view bytes, std::string_view keep = {});

}  // namespace leat
