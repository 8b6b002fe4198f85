// RequestHead: the first line and the headers of an HTTP/1 request, as views into the bytes that
// came. Shared by everything that speaks HTTP; knows nothing of storage.
//
// Strict where leniency has been used to smuggle requests past a proxy: lines end with CR LF, there
// is one Content-Length or one "Transfer-Encoding: chunked" and never both, no folded lines, no
// space before a colon, no control characters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "leat/base/result.h"

namespace leat::http {

enum class Method : std::uint8_t { kGet, kHead, kPut, kPost, kDelete, kOptions, kOther };

struct Header {
  std::string_view name;  // as it was sent: compare with equals_ignoring_case()
  std::string_view value;
};

// "Name: value", strictly. kInvalidArgument when it is malformed.
Result<Header> parse_header_line(std::string_view line);

// What a header can hold without becoming two.
bool is_header_name(std::string_view text) noexcept;
bool is_header_value(std::string_view text) noexcept;

bool equals_ignoring_case(std::string_view text, std::string_view lower_case) noexcept;
// Of ASCII letters.
std::string to_lower(std::string_view text);

class RequestHead {
 public:
  static constexpr std::size_t kMaxHeaders = 128;

  // Where the head ends in `bytes`: the length including its empty line, or 0 when that is not
  // there yet. `searched` bytes were searched before, so that a slow sender costs nothing more.
  static std::size_t find_end(std::string_view bytes, std::size_t searched) noexcept;

  // Takes a whole head apart. Errors carry the answer: kInvalidArgument (400), kTooLarge (431),
  // kUnsupported (501, or 505 when is_version_known() says so). After an error what was read before
  // it is there, as the path and the host, and the rest is empty.
  Status parse(std::string_view head);

  Method method() const noexcept { return parts_.method; }
  std::string_view method_text() const noexcept { return parts_.method_text; }
  // Both still percent-encoded; the query without its '?'.
  std::string_view path() const noexcept { return parts_.path; }
  std::string_view query() const noexcept { return parts_.query; }
  std::string_view host() const noexcept { return parts_.host; }
  std::span<const Header> headers() const noexcept {
    return std::span(headers_).first(parts_.header_count);
  }
  // Of the first header of that name; nothing when there is none.
  std::optional<std::string_view> header(std::string_view lower_case_name) const noexcept;

  // Whether the connection is to be kept after the answer.
  bool keeps_alive() const noexcept { return parts_.keeps_alive; }
  bool is_http_1_0() const noexcept { return parts_.is_http_1_0; }
  bool is_version_known() const noexcept { return parts_.is_version_known; }
  bool is_chunked() const noexcept { return parts_.is_chunked; }
  bool expects_continue() const noexcept { return parts_.expects_continue; }
  std::optional<std::uint64_t> content_length() const noexcept { return parts_.content_length; }
  bool has_body() const noexcept {
    return parts_.is_chunked || parts_.content_length.value_or(0) > 0;
  }

 private:
  Status parse_first_line(std::string_view line);
  Status parse_target(std::string_view target);
  Status parse_header(std::string_view line);
  Status note(const Header& header);
  Status check_body_length() const;

  struct Parts {
    Method method = Method::kOther;
    bool is_http_1_0 = false;
    bool is_version_known = true;
    bool keeps_alive = true;
    bool is_chunked = false;
    bool expects_continue = false;
    bool has_host = false;
    std::optional<std::uint64_t> content_length;
    std::string_view method_text;
    std::string_view path;
    std::string_view query;
    std::string_view host;
    std::size_t header_count = 0;
  };
  Parts parts_;
  std::array<Header, kMaxHeaders> headers_;  // the first parts_.header_count
};

}  // namespace leat::http
