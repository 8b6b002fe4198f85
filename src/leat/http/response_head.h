// ResponseHead: the first line and the headers of an HTTP/1 answer, as views into the bytes that
// came; as strict as RequestHead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "leat/base/result.h"
#include "leat/http/request_head.h"

namespace leat::http {

class ResponseHead {
 public:
  static constexpr std::size_t kMaxHeaders = 512;

  // Takes a whole head apart; RequestHead::find_end() says where it ends. kCorrupted for what is no
  // answer, so that the caller does not blame its own request.
  Status parse(std::string_view head);

  int status() const noexcept { return code_; }
  std::span<const Header> headers() const noexcept { return headers_; }
  // Of the first header of that name; nothing when there is none.
  std::optional<std::string_view> header(std::string_view lower_case_name) const noexcept;

  bool keeps_alive() const noexcept { return keeps_alive_; }
  bool is_chunked() const noexcept { return is_chunked_; }
  // Neither this nor chunked: the body ends with the connection.
  std::optional<std::uint64_t> content_length() const noexcept { return content_length_; }

 private:
  Status parse_first_line(std::string_view line);
  Status note(const Header& header);

  int code_ = 0;
  bool keeps_alive_ = true;
  bool is_chunked_ = false;
  std::optional<std::uint64_t> content_length_;
  std::vector<Header> headers_;
};

}  // namespace leat::http
