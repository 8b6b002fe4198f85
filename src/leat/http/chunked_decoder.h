// ChunkedDecoder: the body of a message with "Transfer-Encoding: chunked", piece by piece.
//
// For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "leat/base/result.h"

namespace leat::http {

class ChunkedDecoder {
 public:
  // Takes bytes off the front of `input` and returns the next piece of the body, a view into it.
  // An empty piece: all of `input` was used and more is needed, or is_done().
  Result<std::string_view> next(std::string_view& input);
  bool is_done() const noexcept { return state_ == State::kDone; }

  // So many bytes that come next are data: who wants to may take them past next(), and say so.
  std::uint64_t data_bytes() const noexcept { return state_ == State::kData ? left_bytes_ : 0; }
  // REQUIRES: count <= data_bytes().
  void took(std::uint64_t count) noexcept {
    left_bytes_ -= count;
    if (left_bytes_ == 0 && state_ == State::kData) state_ = State::kDataEnd;
  }
  // The last `count` bytes of the piece that next() just gave will be shown to it again.
  void give_back(std::uint64_t count) noexcept {
    left_bytes_ += count;
    if (count > 0) state_ = State::kData;
  }

 private:
  enum class State : std::uint8_t { kSize, kExtension, kSizeEnd, kData, kDataEnd, kTrailer, kDone };

  // One byte of what is not data.
  Status step(char c);
  Status end_size_line();
  Status step_trailer(char c);

  State state_ = State::kSize;
  std::uint64_t left_bytes_ = 0;  // of the chunk
  std::size_t line_bytes_ = 0;    // of the size line, or of all trailers
  std::size_t trailer_line_bytes_ = 0;
  bool has_digits_ = false;
  bool after_cr_ = false;
};

}  // namespace leat::http
