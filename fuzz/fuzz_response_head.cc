// The head of an answer, from whatever a client connected to.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "leat/base/check.h"
#include "leat/http/response_head.h"

namespace leat::http {
namespace {

bool is_inside(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void check_head(std::string_view text) {
  const std::size_t end = RequestHead::find_end(text, 0);
  // A client shows whole heads only, but no text may hurt.
  const std::string_view head_text = end == 0 ? text : text.substr(0, end);
  ResponseHead head;
  if (const Status status = head.parse(head_text); !status.ok()) {
    CHECK(status.failed_with(ErrorCode::kCorrupted));
    return;
  }
  CHECK(head.status() >= 100 && head.status() <= 599);
  CHECK(!(head.is_chunked() && head.content_length()));
  CHECK(head.headers().size() <= ResponseHead::kMaxHeaders);
  for (const Header& header : head.headers()) {
    CHECK(!header.name.empty());
    CHECK(is_inside(header.name, head_text) && is_inside(header.value, head_text));
    CHECK(header.value.find_first_of("\r\n") == header.value.npos);
  }
}

}  // namespace
}  // namespace leat::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  leat::http::check_head({reinterpret_cast<const char*>(data), size});
  return 0;
}
