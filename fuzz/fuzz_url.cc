// Any text as a URL: what parses is written so that it parses to the same, and percent-encoding
// loses no byte.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "leat/base/check.h"
#include "leat/base/url.h"

namespace leat {
namespace {

void check_url(std::string_view text) {
  const Result<Url> url = Url::parse(text);
  if (!url.ok()) {
    CHECK(url.failed_with(ErrorCode::kInvalidArgument));
    return;
  }
  CHECK(url->scheme.size() >= 2);
  const Result<std::string> path = percent_decode(url->path);
  CHECK(path.ok() && path->find('\0') == std::string::npos);
  const Result<Url> again = Url::parse(url->to_string());
  CHECK(again.ok());
  CHECK(again->scheme == url->scheme);
  CHECK(again->authority == url->authority);
  CHECK(again->path == url->path);
  CHECK(again->query == url->query);
}

void check_percent_coding(std::string_view text) {
  const Result<std::string> back = percent_decode(percent_encode(text));
  CHECK(back.ok() && *back == text);
  const Result<std::string> decoded = percent_decode(text);
  if (decoded.ok()) CHECK(decoded->size() <= text.size());
}

}  // namespace
}  // namespace leat

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  leat::check_url(text);
  leat::check_percent_coding(text);
  return 0;
}
