// The head of a request and a chunked body, from whoever connects.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "leat/base/check.h"
#include "leat/http/chunked_decoder.h"
#include "leat/http/date.h"
#include "leat/http/request_head.h"

namespace leat::http {
namespace {

bool is_inside(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void check_head(std::string_view text) {
  const std::size_t end = RequestHead::find_end(text, 0);
  // It is found at the same place however the bytes come.
  for (std::size_t searched = 0; searched < end; searched += 1 + searched / 3) {
    if (RequestHead::find_end(text.substr(0, searched), 0) == 0) {
      CHECK(RequestHead::find_end(text, searched) == end);
    }
  }
  if (end == 0) return;
  const std::string_view head_text = text.substr(0, end);
  RequestHead head;
  if (!head.parse(head_text).ok()) return;
  CHECK(head.path().starts_with('/') || head.path() == "*");
  CHECK(!(head.is_chunked() && head.content_length()));
  CHECK(is_inside(head.query(), head_text) && is_inside(head.host(), head_text));
  for (const Header& header : head.headers()) {
    CHECK(is_inside(header.name, head_text) && is_inside(header.value, head_text));
    CHECK(header.value.find_first_of("\r\n") == header.value.npos);
    if (const auto date = parse_date(header.value)) {
      CHECK(format_date(*date).substr(5) == header.value.substr(5));
    }
  }
}

struct Decoded {
  bool is_good = true;
  bool is_done = false;
  std::string body;
};

Decoded decode(std::string_view text, std::size_t step) {
  Decoded decoded;
  ChunkedDecoder decoder;
  while (!text.empty() && !decoder.is_done()) {
    std::string_view input = text.substr(0, step);
    text.remove_prefix(input.size());
    while (!input.empty() && !decoder.is_done()) {
      const auto piece = decoder.next(input);
      if (!piece.ok()) return {false, false, {}};
      decoded.body += *piece;
    }
  }
  decoded.is_done = decoder.is_done();
  return decoded;
}

}  // namespace
}  // namespace leat::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  leat::http::check_head(text);
  const auto whole = leat::http::decode(text, text.size() + 1);
  const auto pieces = leat::http::decode(text, 3);
  CHECK(whole.is_good == pieces.is_good && whole.is_done == pieces.is_done &&
        whole.body == pieces.body);
  return 0;
}
