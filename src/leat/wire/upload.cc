#include "leat/wire/upload.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace leat::wire {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kMaxWordsBytes = 16 << 10;

Error malformed() {
  return Error(ErrorCode::kInvalidArgument, "the framed body is malformed");
}

std::string number_text(std::uint32_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

}  // namespace

Status UploadDecoder::feed(std::span<const std::byte> input, const Sink& sink) {
  while (!input.empty()) {
    std::size_t count = 0;
    switch (state_) {
      case State::kLength:
      case State::kWordsLength: {
        count = std::min(input.size(), number_.size() - number_bytes_);
        std::memcpy(number_.data() + number_bytes_, input.data(), count);
        number_bytes_ += count;
        if (number_bytes_ == number_.size()) {
          number_bytes_ = 0;
          RETURN_IF_ERROR(end_number(std::bit_cast<std::uint32_t>(number_)));
        }
        break;
      }
      case State::kBytes:
        count = std::min<std::size_t>(input.size(), left_bytes_);
        RETURN_IF_ERROR(sink(input.first(count)));
        left_bytes_ -= static_cast<std::uint32_t>(count);
        if (left_bytes_ == 0) state_ = State::kLength;
        break;
      case State::kWords:
        count = std::min<std::size_t>(input.size(), left_bytes_);
        words_.append(reinterpret_cast<const char*>(input.data()), count);
        left_bytes_ -= static_cast<std::uint32_t>(count);
        if (left_bytes_ == 0) state_ = State::kDone;
        break;
      case State::kDone:
        return malformed();
    }
    input = input.subspan(count);
  }
  return ok_status();
}

Status UploadDecoder::end_number(std::uint32_t value) {
  left_bytes_ = value;
  if (state_ == State::kLength) {
    state_ = value > 0 ? State::kBytes : State::kWordsLength;
    return ok_status();
  }
  if (value > kMaxWordsBytes) return malformed();
  state_ = value > 0 ? State::kWords : State::kDone;
  return ok_status();
}

Result<std::vector<http::Header>> UploadDecoder::last_words() const {
  if (state_ != State::kDone) {
    return Error(ErrorCode::kInvalidArgument, "the framed body ends too early");
  }
  std::vector<http::Header> headers;
  for (std::string_view rest = words_; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    if (end == rest.npos) return malformed();
    ASSIGN_OR_RETURN(const http::Header header, http::parse_header_line(rest.substr(0, end)));
    headers.push_back(header);
    rest.remove_prefix(end + 1);
  }
  return headers;
}

std::string upload_piece_head(std::uint32_t length) {
  return number_text(length);
}

std::string upload_end(const HeaderList& headers) {
  std::string words;
  for (const auto& [name, value] : headers) words.append(name).append(": ").append(value) += '\n';
  return number_text(0) + number_text(static_cast<std::uint32_t>(words.size())) + words;
}

}  // namespace leat::wire
