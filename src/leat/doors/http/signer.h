// Signer: who sent a request, as far as its signature shows.
#pragma once

#include <cstdint>
#include <string>

#include "leat/http/sigv4.h"

namespace leat::doors::http {

using leat::http::Digest;

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

}  // namespace leat::doors::http
