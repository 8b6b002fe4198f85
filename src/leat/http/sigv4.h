// AWS Signature Version 4: the primitives that both sides need, and how a client signs a request.
//
// Pure functions, thread-safe; secrets never become part of a message.
#pragma once

#include <array>
#include <cstddef>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct evp_md_ctx_st;  // OpenSSL's

namespace leat::http {

using Digest = std::array<unsigned char, 32>;

inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";

std::string hex(const Digest& digest);
Digest sha256(std::string_view bytes);
Digest hmac_sha256(std::string_view key, std::string_view bytes);

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

// The key that signs the requests of one day. `date` is "20130524".
Digest signing_key(std::string_view secret, std::string_view date, std::string_view region);

struct SigningKeys {
  std::string access_key;  // empty: requests are not signed
  std::string secret;
};

// What of a request is signed. Names are in lower case.
struct SignedRequest {
  std::string_view method;
  std::string_view path;   // percent-encoded
  std::string_view query;  // percent-encoded, without the '?'
  std::string_view host;
  std::span<const std::pair<std::string, std::string>> headers;
};

// The headers, as whole lines, that sign `request` and leave its body unsigned.
std::string sign(const SignedRequest& request, const SigningKeys& keys, std::time_t now);

}  // namespace leat::http
