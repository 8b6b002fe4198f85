// Signatures of requests, AWS Signature Version 4: in the Authorization header, or in the query of
// a presigned URL.
//
// Pure functions; secrets are compared in constant time and never part of a message.
#pragma once

#include <cstddef>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "leat/doors/http/s3/error.h"
#include "leat/doors/http/s3/request.h"
#include "leat/doors/http/s3/signer.h"

struct evp_md_ctx_st;  // OpenSSL's

namespace leat::doors::http::s3 {

std::string hex(const Digest& digest);
Digest sha256(std::string_view bytes);
// Of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  void add(std::span<const std::byte> bytes);
  std::string finish();  // hexadecimal; once

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};
Digest hmac_sha256(std::string_view key, std::string_view bytes);

// The secret of an access key; nothing when there is none.
using SecretOf = std::function<std::optional<std::string>(std::string_view access_key)>;

struct SignatureCheck {
  std::optional<S3Error> error;  // when the request is not what its signer signed
  Signer signer;
};

SignatureCheck check_signature(const S3Request& request, const SecretOf& secret_of,
                               std::time_t now);

}  // namespace leat::doors::http::s3
