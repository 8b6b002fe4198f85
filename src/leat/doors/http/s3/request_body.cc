#include "leat/doors/http/s3/request_body.h"

#include <fmt/format.h>

#include <charconv>

namespace leat::doors::http::s3 {
namespace {

constexpr std::string_view kChecksumPrefix = "x-amz-checksum-";

S3Error invalid(std::string message) {
  return {400, "InvalidRequest", std::move(message)};
}

S3Error bad_digest(std::string_view algorithm) {
  return {400, "BadDigest", fmt::format("the body does not have the {} that was sent", algorithm)};
}

bool has_prefix(std::string_view name, std::string_view lower_case_prefix) {
  return leat::http::equals_ignoring_case(name.substr(0, lower_case_prefix.size()),
                                          lower_case_prefix);
}

bool is_chunked(PayloadKind kind) {
  return kind != PayloadKind::kUnsigned && kind != PayloadKind::kHashed;
}

std::optional<std::string> parse_digest(std::string_view text, Algorithm algorithm) {
  auto bytes = from_base64(text);
  if (bytes && bytes->size() != digest_bytes(algorithm)) return std::nullopt;
  return bytes;
}

}  // namespace

RequestBody::RequestBody(const S3Request& request, Checksums checksums) : request_(request) {
  refusal_ = begin_decoding();
  if (!refusal_) refusal_ = read_headers(checksums);
  if (algorithm_) digest_.emplace(*algorithm_);
}

std::optional<S3Error> RequestBody::begin_decoding() {
  const PayloadKind kind = request_.signer.payload;
  if (kind == PayloadKind::kHashed) signed_digest_.emplace();
  if (is_chunked(kind)) {
    chunks_.emplace(request_.signer);
    return std::nullopt;
  }
  // Who encodes but does not say so where it counts would have the encoding stored.
  const auto encoding = request_.head->header("content-encoding");
  if (encoding && encoding->find("aws-chunked") != encoding->npos) {
    return invalid("aws-chunked, but x-amz-content-sha256 says nothing of it");
  }
  return std::nullopt;
}

std::optional<S3Error> RequestBody::read_headers(Checksums checksums) {
  if (const auto md5 = request_.head->header("content-md5")) {
    expected_md5_ = parse_digest(*md5, Algorithm::kMd5);
    if (!expected_md5_) return S3Error{400, "InvalidDigest", "Content-MD5 is not one"};
  }
  if (checksums == Checksums::kOfBody) {
    if (auto error = read_checksum_headers()) return error;
  }
  const auto trailer = request_.head->header("x-amz-trailer");
  if (trailer) {
    if (auto error = read_announced_trailer(*trailer)) return error;
  }
  const auto wanted = request_.head->header("x-amz-sdk-checksum-algorithm");
  if (!wanted || checksums == Checksums::kOfSomethingElse) return std::nullopt;
  if (!algorithm_ || checksum_algorithm(*wanted) != algorithm_) {
    return invalid("x-amz-sdk-checksum-algorithm without the checksum that it names");
  }
  return std::nullopt;
}

std::optional<S3Error> RequestBody::read_checksum_headers() {
  for (const leat::http::Header& header : request_.head->headers()) {
    if (!has_prefix(header.name, kChecksumPrefix)) continue;
    const std::string_view name = header.name.substr(kChecksumPrefix.size());
    if (leat::http::equals_ignoring_case(name, "mode") ||
        leat::http::equals_ignoring_case(name, "algorithm") ||
        leat::http::equals_ignoring_case(name, "type")) {
      continue;  // say something of other operations, and no value
    }
    const auto algorithm = checksum_algorithm(name);
    if (!algorithm) return S3Error{501, "NotImplemented", "a checksum of an unknown kind"};
    if (algorithm_) return invalid("only one checksum can be sent");
    algorithm_ = algorithm;
    expected_digest_ = parse_digest(header.value, *algorithm);
    if (!expected_digest_) return invalid(fmt::format("the value of {} is not one", header.name));
  }
  return std::nullopt;
}

std::optional<S3Error> RequestBody::read_announced_trailer(std::string_view announced) {
  if (!chunks_ || request_.signer.payload == PayloadKind::kChunksSigned) {
    return invalid("x-amz-trailer with a body that can have none");
  }
  if (algorithm_) return invalid("a checksum can be sent in a header or in a trailer");
  if (has_prefix(announced, kChecksumPrefix)) {
    algorithm_ = checksum_algorithm(announced.substr(kChecksumPrefix.size()));
  }
  if (!algorithm_) return invalid("x-amz-trailer names no checksum that is known");
  return std::nullopt;
}

std::optional<S3Error> RequestBody::agree(Algorithm algorithm) {
  if (algorithm_ == algorithm) return std::nullopt;
  if (algorithm_) {
    return invalid(
        fmt::format("Checksum Type mismatch occurred, expected checksum Type: {}, "
                    "actual checksum Type: {}",
                    name_of(algorithm), name_of(*algorithm_)));
  }
  algorithm_ = algorithm;
  digest_.emplace(algorithm);
  is_only_computed_ = true;
  return std::nullopt;
}

std::optional<std::uint64_t> RequestBody::announced_bytes() const {
  if (!chunks_) return request_.head->content_length();
  const auto text = request_.head->header("x-amz-decoded-content-length");
  std::uint64_t value = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

Status RequestBody::feed(std::span<const std::byte> piece, const Sink& sink) {
  if (signed_digest_) signed_digest_->add(piece);
  const auto take = [&](std::span<const std::byte> bytes) -> Status {
    md5_.add(bytes);
    if (digest_) digest_->add(bytes);
    return sink(bytes);
  };
  return chunks_ ? chunks_->feed(piece, take) : take(piece);
}

std::optional<S3Error> RequestBody::finish() {
  if (refusal_) return refusal_;
  if (signed_digest_ && signed_digest_->finish() != request_.signer.payload_hash) {
    return S3Error{400, "XAmzContentSHA256Mismatch",
                   "the body is not the one whose SHA-256 was signed"};
  }
  if (chunks_) {
    if (auto error = finish_chunks()) return error;
  }
  const std::string md5 = md5_.finish();
  if (expected_md5_ && *expected_md5_ != md5) return bad_digest("MD5");
  etag_ = hex_of(md5);
  return algorithm_ ? compare_checksum() : std::nullopt;
}

// All of it came, as long as announced, with the trailer that was announced and no other.
std::optional<S3Error> RequestBody::finish_chunks() {
  if (const Status status = chunks_->finish(); !status.ok()) return s3_error(status.error());
  if (const auto announced = request_.head->header("x-amz-decoded-content-length");
      announced && *announced != std::to_string(chunks_->decoded_bytes())) {
    return S3Error{400, "IncompleteBody", "the body is not as long as announced"};
  }
  const bool wants_trailer = algorithm_ && !expected_digest_ && !is_only_computed_;
  const auto& trailers = chunks_->trailers();
  if (trailers.size() != (wants_trailer ? 1 : 0)) {
    return S3Error{400, "MalformedTrailerError", "the trailers are not those that were announced"};
  }
  if (!wants_trailer) return std::nullopt;
  const auto& [name, value] = *trailers.begin();
  if (name != fmt::format("{}{}", kChecksumPrefix, name_of(*algorithm_))) {
    return S3Error{400, "MalformedTrailerError", "the trailer is not the one that was announced"};
  }
  expected_digest_ = parse_digest(value, *algorithm_);
  if (!expected_digest_) return invalid(fmt::format("the value of {} is not one", name));
  return std::nullopt;
}

std::optional<S3Error> RequestBody::compare_checksum() {
  const std::string digest = digest_->finish();
  if (!is_only_computed_ && digest != *expected_digest_) return bad_digest(name_of(*algorithm_));
  checksums_[std::string(name_of(*algorithm_))] = hex_of(digest);
  return std::nullopt;
}

}  // namespace leat::doors::http::s3
