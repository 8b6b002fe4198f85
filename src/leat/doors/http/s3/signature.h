// Signatures of requests, AWS Signature Version 4: in the Authorization header, or in the query of
// a presigned URL.
//
// Pure functions; secrets are compared in constant time and never part of a message.
#pragma once

#include <array>
#include <cstddef>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "leat/doors/http/s3/error.h"
#include "leat/doors/http/s3/request.h"

namespace leat::doors::http::s3 {

using Digest = std::array<unsigned char, 32>;

Digest sha256(std::string_view bytes);
Digest hmac_sha256(std::string_view key, std::string_view bytes);

// How the body of a signed request is protected.
enum class PayloadKind : std::uint8_t {
  kUnsigned,               // not at all
  kHashed,                 // by the SHA-256 in `payload_hash`
  kChunksSigned,           // in chunks, each with a signature
  kChunksSignedTrailer,    // the same, and a signed trailer
  kChunksUnsignedTrailer,  // in chunks without signatures, and a trailer with a checksum
};

// Who sent a request, as far as its signature shows.
struct Signer {
  std::string access_key;  // empty: nobody says
  PayloadKind payload = PayloadKind::kUnsigned;
  std::string payload_hash;  // hexadecimal, of kHashed
  // For signatures of chunks: the key, what they are signed for, and the signature before the
  // first.
  Digest signing_key{};
  std::string date;   // "20130524T000000Z"
  std::string scope;  // "20130524/us-east-1/s3/aws4_request"
  std::string signature;
};

// The secret of an access key; nothing when there is none.
using SecretOf = std::function<std::optional<std::string>(std::string_view access_key)>;

struct SignatureCheck {
  std::optional<S3Error> error;  // when the request is not what its signer signed
  Signer signer;
};

SignatureCheck check_signature(const S3Request& request, const SecretOf& secret_of,
                               std::time_t now);

}  // namespace leat::doors::http::s3
