// ChunkedPayload: a body in "aws-chunked" encoding, taken apart and its signatures checked.
//
//   SIZE;chunk-signature=SIGNATURE CR LF bytes CR LF … 0;chunk-signature=SIGNATURE CR LF trailers
//   CR LF
//
// Each signature covers its chunk and the signature before it; unsigned payloads have none. What is
// given out is known to be genuine only after finish(): nothing may be committed before.
//
// For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "leat/base/result.h"
#include "leat/doors/http/signature.h"
#include "leat/doors/http/signer.h"

namespace leat::doors::http::s3 {

class ChunkedPayload {
 public:
  using Sink = std::function<Status(std::span<const std::byte> piece)>;

  // REQUIRES: signer.payload is one of the kinds in chunks.
  explicit ChunkedPayload(const Signer& signer);

  // kPermissionDenied when a signature is wrong, kInvalidArgument when the encoding is.
  Status feed(std::span<const std::byte> bytes, const Sink& sink);
  // kInvalidArgument when the body ended too early.
  Status finish() const;

  std::uint64_t decoded_bytes() const noexcept { return decoded_bytes_; }
  // By lower-case name; complete after finish().
  const std::map<std::string, std::string>& trailers() const noexcept { return trailers_; }

 private:
  enum class State : std::uint8_t { kSize, kData, kDataEnd, kTrailers, kDone };

  Status take_line(std::string_view line);
  Status take_size_line(std::string_view line);
  Status take_trailer(std::string_view line);
  Status end_chunk();
  // Compares a signature with what it should be, and goes on from it.
  Status check_signature(std::string_view kind, std::string_view signed_text);

  const Signer signer_;
  const bool is_signed_;
  const bool has_trailers_;
  State state_ = State::kSize;
  std::string line_;
  std::uint64_t left_bytes_ = 0;
  std::uint64_t decoded_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
  std::string previous_signature_;
  std::string signature_;  // of this chunk, or of the trailers
  std::optional<Sha256> digest_;
  std::string trailer_text_;
  std::map<std::string, std::string> trailers_;
};

}  // namespace leat::doors::http::s3
