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

#include "leat/doors/http/query.h"
#include "leat/doors/http/signer.h"
#include "leat/http/request_head.h"
#include "leat/http/sigv4.h"

namespace leat::doors::http {

using leat::http::hex;
using leat::http::hmac_sha256;
using leat::http::sha256;
using leat::http::Sha256;

// The secret of an access key; nothing when there is none.
using SecretOf = std::function<std::optional<std::string>(std::string_view access_key)>;

// Status, code and message as S3 tells them.
struct SignatureError {
  int status = 403;
  std::string code;
  std::string message;
};

struct SignatureCheck {
  std::optional<SignatureError> error;  // when the request is not what its signer signed
  Signer signer;
};

// A request with its query, which was parsed before.
struct SignedRequest {
  const leat::http::RequestHead& head;
  const Query& query;
};
SignatureCheck check_signature(const SignedRequest& request, const SecretOf& secret_of,
                               std::time_t now);

}  // namespace leat::doors::http
