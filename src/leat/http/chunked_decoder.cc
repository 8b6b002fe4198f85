#include "leat/http/chunked_decoder.h"

#include <algorithm>
#include <utility>

namespace leat::http {
namespace {

constexpr std::size_t kMaxSizeLineBytes = 256;
constexpr std::size_t kMaxTrailerBytes = 8 << 10;

Error malformed() {
  return Error(ErrorCode::kInvalidArgument, "the chunked body is malformed");
}

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<std::string_view> ChunkedDecoder::next(std::string_view& input) {
  while (!input.empty() && state_ != State::kDone) {
    if (state_ == State::kData) {
      const std::string_view piece = input.substr(
          0, static_cast<std::size_t>(std::min<std::uint64_t>(left_bytes_, input.size())));
      input.remove_prefix(piece.size());
      left_bytes_ -= piece.size();
      if (left_bytes_ == 0) state_ = State::kDataEnd;
      return piece;
    }
    RETURN_IF_ERROR(step(input.front()));
    input.remove_prefix(1);
  }
  return std::string_view();
}

Status ChunkedDecoder::step(char c) {
  switch (state_) {
    case State::kSize:
      if (++line_bytes_ > kMaxSizeLineBytes) return malformed();
      if (const int digit = hex_value(c); digit >= 0) {
        if (left_bytes_ >> 60 != 0) return malformed();
        left_bytes_ = left_bytes_ << 4 | static_cast<std::uint64_t>(digit);
        has_digits_ = true;
        return ok_status();
      }
      if (!has_digits_) return malformed();
      if (c == ';')
        state_ = State::kExtension;
      else if (c == '\r')
        state_ = State::kSizeEnd;
      else
        return malformed();
      return ok_status();
    case State::kExtension:
      if (++line_bytes_ > kMaxSizeLineBytes || c == '\n') return malformed();
      if (c == '\r') state_ = State::kSizeEnd;
      return ok_status();
    case State::kSizeEnd:
      return c == '\n' ? end_size_line() : malformed();
    case State::kDataEnd:
      if (c != (after_cr_ ? '\n' : '\r')) return malformed();
      if (std::exchange(after_cr_, !after_cr_)) state_ = State::kSize;
      return ok_status();
    case State::kTrailer:
      return step_trailer(c);
    case State::kData:
    case State::kDone:
      break;
  }
  return malformed();
}

Status ChunkedDecoder::end_size_line() {
  state_ = left_bytes_ > 0 ? State::kData : State::kTrailer;
  line_bytes_ = 0;
  has_digits_ = false;
  return ok_status();
}

// Trailers are read and dropped; an empty line ends them.
Status ChunkedDecoder::step_trailer(char c) {
  if (++line_bytes_ > kMaxTrailerBytes)
    return Error(ErrorCode::kTooLarge, "the trailers are too long");
  if (after_cr_) {
    if (c != '\n') return malformed();
    after_cr_ = false;
    if (std::exchange(trailer_line_bytes_, 0) == 0) state_ = State::kDone;
  } else if (c == '\r') {
    after_cr_ = true;
  } else if (c == '\n') {
    return malformed();
  } else {
    ++trailer_line_bytes_;
  }
  return ok_status();
}

}  // namespace leat::http
