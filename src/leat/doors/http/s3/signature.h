// Signatures of requests, AWS Signature Version 4: in the Authorization header, or in the query of
// a presigned URL.
//
// Pure functions; secrets are compared in constant time and never part of a message.
#pragma once

#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "leat/doors/http/s3/error.h"
#include "leat/doors/http/s3/request.h"
#include "leat/doors/http/s3/signer.h"
#include "leat/http/sigv4.h"

namespace leat::doors::http::s3 {

using leat::http::hex;
using leat::http::hmac_sha256;
using leat::http::sha256;
using leat::http::Sha256;

// The secret of an access key; nothing when there is none.
using SecretOf = std::function<std::optional<std::string>(std::string_view access_key)>;

struct SignatureCheck {
  std::optional<S3Error> error;  // when the request is not what its signer signed
  Signer signer;
};

SignatureCheck check_signature(const S3Request& request, const SecretOf& secret_of,
                               std::time_t now);

}  // namespace leat::doors::http::s3
