// RequestBody: the body of a request, decoded, and everything that its sender said of it compared.
//
// A body may come in "aws-chunked" encoding; its SHA-256 may be signed; Content-MD5 and a checksum
// may stand in a header, or the checksum in a trailer. Nothing may be committed before finish() had
// no error. Its MD5 is computed in any case: it is the etag.
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

#include "leat/base/result.h"
#include "leat/doors/http/s3/checksum.h"
#include "leat/doors/http/s3/chunked_payload.h"
#include "leat/doors/http/s3/error.h"
#include "leat/doors/http/s3/request.h"
#include "leat/doors/http/signature.h"

namespace leat::doors::http::s3 {

class RequestBody {
 public:
  using Sink = ChunkedPayload::Sink;

  // What "x-amz-checksum-…" of the request is the checksum of.
  enum class Checksums : std::uint8_t { kOfBody, kOfSomethingElse };

  // `request` must outlive this.
  explicit RequestBody(const S3Request& request, Checksums checksums = Checksums::kOfBody);

  // What is wrong with the headers; ask before the first byte.
  const std::optional<S3Error>& refusal() const noexcept { return refusal_; }
  // How long it will be when decoded, if that was said.
  std::optional<std::uint64_t> announced_bytes() const;

  // The sender agreed on this checksum before: another one is refused, and if there is none it is
  // computed all the same. Call it before the first byte.
  std::optional<S3Error> agree(Algorithm algorithm);

  // Hands the decoded bytes to `sink`. REQUIRES: no refusal().
  Status feed(std::span<const std::byte> piece, const Sink& sink);
  // Why this is not the body that the sender meant; once, after the last byte.
  std::optional<S3Error> finish();

  // After finish(). The MD5, hexadecimal, ...
  const std::string& etag() const noexcept { return etag_; }
  // ... and the checksum that was compared or agreed on, as Metadata keeps it.
  const std::map<std::string, std::string>& checksums() const noexcept { return checksums_; }

 private:
  std::optional<S3Error> read_headers(Checksums checksums);
  std::optional<S3Error> read_checksum_headers();
  std::optional<S3Error> read_announced_trailer(std::string_view announced);
  std::optional<S3Error> begin_decoding();
  std::optional<S3Error> finish_chunks();
  std::optional<S3Error> compare_checksum();

  const S3Request& request_;
  std::optional<S3Error> refusal_;
  std::optional<ChunkedPayload> chunks_;
  std::optional<Sha256> signed_digest_;  // of the body as it comes
  RunningDigest md5_{Algorithm::kMd5};
  std::optional<std::string> expected_md5_;
  std::optional<Algorithm> algorithm_;
  std::optional<RunningDigest> digest_;
  std::optional<std::string> expected_digest_;  // nothing: a trailer tells
  bool is_only_computed_ = false;               // the checksum: nobody tells what it should be
  std::string etag_;
  std::map<std::string, std::string> checksums_;
};

}  // namespace leat::doors::http::s3
