// The framed body of a PUT: for a client that knows only at the end what belongs to the object.
//
// Little-endian: pieces, each u32 length (not 0) and so many bytes; then u32 0, u32 bytes of the
// last words, and these: lines "name: value\n" with the headers that a plain PUT has at its start
// (x-leat-etag, x-leat-crc32c, x-leat-checksum-NAME). A body that ends before its last words is no
// object, whatever ended it.
//
// For one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"
#include "leat/http/request_head.h"
#include "leat/wire/object_headers.h"

namespace leat::wire {

class UploadDecoder {
 public:
  using Sink = std::function<Status(std::span<const std::byte> bytes)>;
  // Hands the object's bytes in `input` on. kInvalidArgument for a malformed body.
  Status feed(std::span<const std::byte> input, const Sink& sink);
  // The headers at the end. kInvalidArgument when that was not reached.
  Result<std::vector<http::Header>> last_words() const;

 private:
  enum class State : std::uint8_t { kLength, kBytes, kWordsLength, kWords, kDone };
  Status end_number(std::uint32_t value);

  State state_ = State::kLength;
  std::array<std::byte, 4> number_{};
  std::size_t number_bytes_ = 0;
  std::uint32_t left_bytes_ = 0;
  std::string words_;
};

std::string upload_piece_head(std::uint32_t length);
std::string upload_end(const HeaderList& headers);

}  // namespace leat::wire
