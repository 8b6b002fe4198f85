#include "leat/http/sigv4.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>

#include "leat/base/check.h"

namespace leat::http {
namespace {

constexpr std::string_view kRegion = "us-east-1";

std::string_view view(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// By name, then by value.
std::string canonical_query(std::string_view query) {
  std::vector<std::pair<std::string_view, std::string_view>> parameters;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    const std::size_t equals = std::min(one.find('='), one.size());
    parameters.emplace_back(one.substr(0, equals), one.substr(std::min(one.size(), equals + 1)));
  }
  std::sort(parameters.begin(), parameters.end());
  std::string text;
  for (const auto& [name, value] : parameters) {
    text += fmt::format("{}{}={}", text.empty() ? "" : "&", name, value);
  }
  return text;
}

std::string time_text(std::time_t time) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace

std::string hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Digest sha256(std::string_view bytes) {
  Digest digest;
  unsigned int size = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1);
  return digest;
}

Digest hmac_sha256(std::string_view key, std::string_view bytes) {
  Digest digest;
  unsigned int size = 0;
  CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data(),
             &size) != nullptr);
  return digest;
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  CHECK(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

void Sha256::Free::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

void Sha256::add(std::span<const std::byte> bytes) {
  CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::finish() {
  Digest digest;
  CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1);
  return hex(digest);
}

Digest signing_key(std::string_view secret, std::string_view date, std::string_view region) {
  const Digest date_key = hmac_sha256("AWS4" + std::string(secret), date);
  const Digest region_key = hmac_sha256(view(date_key), region);
  const Digest service_key = hmac_sha256(view(region_key), "s3");
  return hmac_sha256(view(service_key), "aws4_request");
}

std::string sign(const SignedRequest& request, const SigningKeys& keys, std::time_t now) {
  const std::string date = time_text(now);
  std::vector<std::pair<std::string, std::string>> headers(request.headers.begin(),
                                                           request.headers.end());
  headers.emplace_back("host", request.host);
  headers.emplace_back("x-amz-content-sha256", kUnsignedPayload);
  headers.emplace_back("x-amz-date", date);
  std::sort(headers.begin(), headers.end());
  std::string lines;
  std::string names;
  for (const auto& [name, value] : headers) {
    lines += fmt::format("{}:{}\n", name, value);
    names += names.empty() ? name : ";" + name;
  }
  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, request.path,
                  canonical_query(request.query), lines, names, kUnsignedPayload);
  const std::string_view day = std::string_view(date).substr(0, 8);
  const std::string scope = fmt::format("{}/{}/s3/aws4_request", day, kRegion);
  const Digest key = signing_key(keys.secret, day, kRegion);
  const std::string signature = hex(hmac_sha256(
      view(key), fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", date, scope, hex(sha256(canonical)))));
  return fmt::format(
      "x-amz-date: {}\r\nx-amz-content-sha256: {}\r\nAuthorization: AWS4-HMAC-SHA256 "
      "Credential={}/{}, SignedHeaders={}, Signature={}\r\n",
      date, kUnsignedPayload, keys.access_key, scope, names, signature);
}

}  // namespace leat::http
