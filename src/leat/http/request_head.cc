#include "leat/http/request_head.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace leat::http {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

using CharacterSet = std::array<bool, 256>;

// What a method or a header's name is made of.
constexpr CharacterSet kTokenCharacters = [] {
  CharacterSet set{};
  for (char c = 'a'; c <= 'z'; ++c) set[static_cast<unsigned char>(c)] = true;
  for (char c = 'A'; c <= 'Z'; ++c) set[static_cast<unsigned char>(c)] = true;
  for (char c = '0'; c <= '9'; ++c) set[static_cast<unsigned char>(c)] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~"))
    set[static_cast<unsigned char>(c)] = true;
  return set;
}();

// Text and tabs; bytes above 127 are left to who reads the value.
constexpr CharacterSet kValueCharacters = [] {
  CharacterSet set{};
  for (int c = 0x20; c < 256; ++c) set[static_cast<std::size_t>(c)] = c != 0x7f;
  set['\t'] = true;
  return set;
}();

constexpr CharacterSet kTargetCharacters = [] {
  CharacterSet set{};
  for (int c = 0x21; c < 0x7f; ++c) set[static_cast<std::size_t>(c)] = true;
  set['#'] = false;  // a fragment is never sent
  return set;
}();

bool is_all(std::string_view text, const CharacterSet& set) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return set[static_cast<unsigned char>(c)]; });
}

Error bad(std::string_view what) {
  return Error(ErrorCode::kInvalidArgument, std::string(what));
}

std::string_view trimmed(std::string_view text) noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Whether `list`, separated by commas, has `word`, given in lower case.
bool list_has(std::string_view list, std::string_view word) noexcept {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (equals_ignoring_case(trimmed(list.substr(0, comma)), word)) return true;
    list.remove_prefix(std::min(list.size(), comma + 1));
  }
  return false;
}

Method method_of(std::string_view text) noexcept {
  if (text == "GET") return Method::kGet;
  if (text == "HEAD") return Method::kHead;
  if (text == "PUT") return Method::kPut;
  if (text == "POST") return Method::kPost;
  if (text == "DELETE") return Method::kDelete;
  if (text == "OPTIONS") return Method::kOptions;
  return Method::kOther;
}

}  // namespace

Result<Header> parse_header_line(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return bad("a header has no colon");
  const Header header{line.substr(0, colon), trimmed(line.substr(colon + 1))};
  if (!is_header_name(header.name)) return bad("a header's name is malformed");
  if (!is_header_value(header.value)) return bad("a header's value has control characters");
  return header;
}

bool is_header_name(std::string_view text) noexcept {
  return !text.empty() && is_all(text, kTokenCharacters);
}

bool is_header_value(std::string_view text) noexcept {
  return is_all(text, kValueCharacters);
}

bool equals_ignoring_case(std::string_view text, std::string_view lower_case) noexcept {
  return text.size() == lower_case.size() &&
         std::equal(text.begin(), text.end(), lower_case.begin(),
                    [](char a, char b) { return to_lower(a) == b; });
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  return lower;
}

std::size_t RequestHead::find_end(std::string_view bytes, std::size_t searched) noexcept {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const std::size_t from = searched < kEnd.size() ? 0 : searched - (kEnd.size() - 1);
  const std::size_t at = bytes.find(kEnd, from);
  return at == bytes.npos ? 0 : at + kEnd.size();
}

Status RequestHead::parse(std::string_view head) {
  parts_ = Parts();
  std::size_t end = head.find(kLineEnd);
  if (end == head.npos) return bad("the request does not end");
  RETURN_IF_ERROR(parse_first_line(head.substr(0, end)));
  for (;;) {
    head.remove_prefix(end + kLineEnd.size());
    end = head.find(kLineEnd);
    if (end == head.npos) return bad("the request's head does not end");
    if (end == 0) break;
    RETURN_IF_ERROR(parse_header(head.substr(0, end)));
  }
  if (!parts_.has_host && !parts_.is_http_1_0) return bad("the request has no Host header");
  return check_body_length();
}

Status RequestHead::parse_first_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == line.npos || first == last)
    return bad("the request line is not \"METHOD TARGET VERSION\"");
  parts_.method_text = line.substr(0, first);
  if (parts_.method_text.empty() || !is_all(parts_.method_text, kTokenCharacters))
    return bad("the method is malformed");
  parts_.method = method_of(parts_.method_text);
  const std::string_view version = line.substr(last + 1);
  if (version == "HTTP/1.0") {
    parts_.is_http_1_0 = true;
    parts_.keeps_alive = false;
  } else if (version != "HTTP/1.1") {
    if (!version.starts_with("HTTP/")) return bad("the request line does not end with a version");
    parts_.is_version_known = false;
  }
  Status target = parse_target(line.substr(first + 1, last - first - 1));
  // Whatever other versions have for a target ("PRI * HTTP/2.0"), the version is what is wrong.
  if (!parts_.is_version_known) {
    return Error(ErrorCode::kUnsupported, "only HTTP/1.1 is spoken here");
  }
  return target;
}

// "/path?query", what a proxy sends ("http://host/path"), or "*".
Status RequestHead::parse_target(std::string_view target) {
  if (!is_all(target, kTargetCharacters))
    return bad("the target has characters that must be percent-encoded");
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.size() >= scheme.size() &&
        equals_ignoring_case(target.substr(0, scheme.size()), scheme)) {
      target.remove_prefix(scheme.size());
      const std::size_t path = std::min(target.find_first_of("/?"), target.size());
      parts_.host = target.substr(0, path);
      target.remove_prefix(path);
      if (parts_.host.empty()) return bad("the target has no host");
      if (target.empty()) target = "/";
      break;
    }
  }
  const std::size_t mark = target.find('?');
  parts_.path = target.substr(0, mark);
  if (mark != target.npos) parts_.query = target.substr(mark + 1);
  const bool is_asterisk = parts_.path == "*" && parts_.method == Method::kOptions;
  if (!parts_.path.starts_with('/') && !is_asterisk) return bad("the target is not a path");
  return ok_status();
}

Status RequestHead::parse_header(std::string_view line) {
  ASSIGN_OR_RETURN(const Header header, parse_header_line(line));
  if (parts_.header_count == kMaxHeaders)
    return Error(ErrorCode::kTooLarge, "the request has too many headers");
  headers_[parts_.header_count++] = header;
  return note(header);
}

// What decides where this request ends and the next begins.
Status RequestHead::note(const Header& header) {
  if (equals_ignoring_case(header.name, "host")) {
    if (std::exchange(parts_.has_host, true)) return bad("the request has two Host headers");
    if (parts_.host.empty()) parts_.host = header.value;
  } else if (equals_ignoring_case(header.name, "content-length")) {
    if (parts_.content_length) return bad("the request has two Content-Length headers");
    std::uint64_t length = 0;
    const char* const end = header.value.data() + header.value.size();
    const auto [stop, error] = std::from_chars(header.value.data(), end, length);
    if (header.value.empty() || stop != end || error != std::errc())
      return bad("Content-Length is not a number");
    parts_.content_length = length;
  } else if (equals_ignoring_case(header.name, "transfer-encoding")) {
    if (parts_.is_chunked) return bad("the request has two Transfer-Encoding headers");
    if (!equals_ignoring_case(header.value, "chunked")) {
      return Error(ErrorCode::kUnsupported, "the only Transfer-Encoding here is \"chunked\"");
    }
    parts_.is_chunked = true;
  } else if (equals_ignoring_case(header.name, "connection")) {
    if (list_has(header.value, "close")) parts_.keeps_alive = false;
    if (parts_.is_http_1_0 && list_has(header.value, "keep-alive")) parts_.keeps_alive = true;
  } else if (equals_ignoring_case(header.name, "expect")) {
    if (!equals_ignoring_case(header.value, "100-continue"))
      return bad("only \"Expect: 100-continue\" is known");
    parts_.expects_continue = true;
  }
  return ok_status();
}

Status RequestHead::check_body_length() const {
  if (!parts_.is_chunked) return ok_status();
  if (parts_.content_length)
    return bad("the request has both Content-Length and Transfer-Encoding");
  if (parts_.is_http_1_0) return bad("HTTP/1.0 has no Transfer-Encoding");
  return ok_status();
}

std::optional<std::string_view> RequestHead::header(
    std::string_view lower_case_name) const noexcept {
  for (const Header& header : headers()) {
    if (equals_ignoring_case(header.name, lower_case_name)) return header.value;
  }
  return std::nullopt;
}

}  // namespace leat::http
