#include "leat/http/response_head.h"

#include <charconv>
#include <string>

namespace leat::http {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

Error bad(std::string_view what) {
  return Error(ErrorCode::kCorrupted, "the answer is not HTTP/1.1: " + std::string(what));
}

}  // namespace

Status ResponseHead::parse(std::string_view head) {
  *this = ResponseHead();
  std::size_t end = head.find(kLineEnd);
  if (end == head.npos) return bad("it does not end");
  RETURN_IF_ERROR(parse_first_line(head.substr(0, end)));
  for (;;) {
    head.remove_prefix(end + kLineEnd.size());
    end = head.find(kLineEnd);
    if (end == head.npos) return bad("its head does not end");
    if (end == 0) break;
    const auto header = parse_header_line(head.substr(0, end));
    if (!header.ok()) return bad(header.error().message());
    if (headers_.size() == kMaxHeaders) return bad("too many headers");
    headers_.push_back(*header);
    RETURN_IF_ERROR(note(*header));
  }
  if (is_chunked_ && content_length_) return bad("two lengths");
  return ok_status();
}

// "HTTP/1.1 404 Not Found"; the words may be missing.
Status ResponseHead::parse_first_line(std::string_view line) {
  constexpr std::size_t kVersionBytes = 8;
  const std::string_view version = line.substr(0, kVersionBytes);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return bad("no version");
  keeps_alive_ = version == "HTTP/1.1";
  line.remove_prefix(kVersionBytes);
  if (line.size() < 4 || line[0] != ' ' || (line.size() > 4 && line[4] != ' ')) {
    return bad("no status");
  }
  const auto [end, error] = std::from_chars(line.data() + 1, line.data() + 4, code_);
  if (error != std::errc() || end != line.data() + 4 || code_ < 100 || code_ > 599) {
    return bad("no status");
  }
  return ok_status();
}

Status ResponseHead::note(const Header& header) {
  if (equals_ignoring_case(header.name, "content-length")) {
    std::uint64_t length = 0;
    const char* const end = header.value.data() + header.value.size();
    const auto [stop, error] = std::from_chars(header.value.data(), end, length);
    if (header.value.empty() || stop != end || error != std::errc()) return bad("no length");
    if (content_length_) return bad("two lengths");
    content_length_ = length;
  } else if (equals_ignoring_case(header.name, "transfer-encoding")) {
    if (is_chunked_ || !equals_ignoring_case(header.value, "chunked")) {
      return bad("an encoding that nobody asked for");
    }
    is_chunked_ = true;
  } else if (equals_ignoring_case(header.name, "connection")) {
    if (equals_ignoring_case(header.value, "close")) keeps_alive_ = false;
    if (equals_ignoring_case(header.value, "keep-alive")) keeps_alive_ = true;
  }
  return ok_status();
}

std::optional<std::string_view> ResponseHead::header(
    std::string_view lower_case_name) const noexcept {
  for (const Header& header : headers_) {
    if (equals_ignoring_case(header.name, lower_case_name)) return header.value;
  }
  return std::nullopt;
}

}  // namespace leat::http
