#include "leat/doors/http/s3/chunked_payload.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <charconv>

#include "leat/base/check.h"

namespace leat::doors::http::s3 {
namespace {

constexpr std::size_t kMostLineBytes = 1024;
constexpr std::size_t kMostTrailerBytes = 8 << 10;
constexpr std::string_view kSignatureLabel = "chunk-signature=";
constexpr std::string_view kTrailerSignature = "x-amz-trailer-signature";
constexpr std::string_view kHashOfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

Error malformed(std::string_view what) {
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("the aws-chunked body is malformed: {}", what));
}

bool has_signatures(PayloadKind kind) {
  return kind == PayloadKind::kChunksSigned || kind == PayloadKind::kChunksSignedTrailer;
}

}  // namespace

ChunkedPayload::ChunkedPayload(const Signer& signer)
    : signer_(signer),
      is_signed_(has_signatures(signer.payload)),
      has_trailers_(signer.payload != PayloadKind::kChunksSigned),
      previous_signature_(signer.signature) {
  CHECK(is_signed_ || signer.payload == PayloadKind::kChunksUnsignedTrailer);
}

Status ChunkedPayload::feed(std::span<const std::byte> bytes, const Sink& sink) {
  while (!bytes.empty()) {
    if (state_ == State::kDone) return malformed("something follows its end");
    if (state_ == State::kData) {
      const auto piece =
          bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(left_bytes_, bytes.size())));
      if (digest_) digest_->add(piece);
      RETURN_IF_ERROR(sink(piece));
      bytes = bytes.subspan(piece.size());
      left_bytes_ -= piece.size();
      decoded_bytes_ += piece.size();
      if (left_bytes_ == 0) state_ = State::kDataEnd;
      continue;
    }
    const char c = static_cast<char>(bytes.front());
    bytes = bytes.subspan(1);
    line_ += c;
    if (line_.size() > kMostLineBytes) return malformed("a line is too long");
    if (c != '\n') continue;
    if (!line_.ends_with("\r\n")) return malformed("a line does not end with CR LF");
    line_.resize(line_.size() - 2);
    RETURN_IF_ERROR(take_line(line_));
    line_.clear();
  }
  return ok_status();
}

Status ChunkedPayload::take_line(std::string_view line) {
  switch (state_) {
    case State::kSize:
      return take_size_line(line);
    case State::kDataEnd:
      if (!line.empty()) return malformed("a chunk is longer than it says");
      state_ = State::kSize;
      return end_chunk();
    case State::kTrailers:
      return take_trailer(line);
    case State::kData:
    case State::kDone:
      break;
  }
  return malformed("a line where none can be");
}

Status ChunkedPayload::take_size_line(std::string_view line) {
  const std::string_view size = line.substr(0, line.find(';'));
  const auto [end, error] =
      std::from_chars(size.data(), size.data() + size.size(), left_bytes_, 16);
  if (size.empty() || error != std::errc() || end != size.data() + size.size()) {
    return malformed("a chunk has no size");
  }
  if (is_signed_) {
    const std::string_view extension = line.substr(std::min(line.size(), size.size() + 1));
    if (!extension.starts_with(kSignatureLabel)) return malformed("a chunk has no signature");
    signature_ = extension.substr(kSignatureLabel.size());
    digest_.emplace();
  }
  if (left_bytes_ > 0) {
    state_ = State::kData;
    return ok_status();
  }
  state_ = State::kTrailers;
  return end_chunk();
}

Status ChunkedPayload::end_chunk() {
  if (!is_signed_) return ok_status();
  const std::string hash = digest_->finish();
  digest_.reset();
  return check_signature("AWS4-HMAC-SHA256-PAYLOAD", fmt::format("{}\n{}", kHashOfNothing, hash));
}

Status ChunkedPayload::check_signature(std::string_view kind, std::string_view signed_text) {
  const std::string text = fmt::format("{}\n{}\n{}\n{}\n{}", kind, signer_.date, signer_.scope,
                                       previous_signature_, signed_text);
  const std::string expected = hex(hmac_sha256(
      {reinterpret_cast<const char*>(signer_.signing_key.data()), signer_.signing_key.size()},
      text));
  if (signature_.size() != expected.size() ||
      CRYPTO_memcmp(signature_.data(), expected.data(), expected.size()) != 0) {
    return Error(ErrorCode::kPermissionDenied, "the signature of a part of the body is wrong");
  }
  previous_signature_ = expected;
  return ok_status();
}

Status ChunkedPayload::take_trailer(std::string_view line) {
  if (line.empty()) {
    if (signer_.payload == PayloadKind::kChunksSignedTrailer) {
      RETURN_IF_ERROR(check_signature("AWS4-HMAC-SHA256-TRAILER", hex(sha256(trailer_text_))));
    }
    state_ = State::kDone;
    return ok_status();
  }
  if (!has_trailers_) return malformed("a trailer that nobody announced");
  trailer_bytes_ += line.size();
  const std::size_t colon = line.find(':');
  const bool has_control = std::any_of(line.begin(), line.end(),
                                       [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (colon == line.npos || colon == 0 || has_control || trailer_bytes_ > kMostTrailerBytes) {
    return malformed("a trailer that is none");
  }
  std::string name(line.substr(0, colon));
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  std::string_view value = line.substr(colon + 1);
  while (value.starts_with(' ')) value.remove_prefix(1);
  while (value.ends_with(' ')) value.remove_suffix(1);
  if (name == kTrailerSignature) {
    signature_ = value;
    return ok_status();
  }
  trailer_text_ += fmt::format("{}:{}\n", name, value);
  if (!trailers_.emplace(std::move(name), value).second) return malformed("a trailer twice");
  return ok_status();
}

Status ChunkedPayload::finish() const {
  if (state_ == State::kDone) return ok_status();
  return malformed("it ends too early");
}

}  // namespace leat::doors::http::s3
