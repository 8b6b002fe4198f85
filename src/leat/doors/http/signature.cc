#include "leat/doors/http/signature.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "leat/base/url.h"

namespace leat::doors::http {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
using leat::http::kUnsignedPayload;
using leat::http::RequestHead;
using leat::http::to_lower;
constexpr std::time_t kMostSkewSeconds = 15 * 60;
constexpr std::uint64_t kMostExpirySeconds = 7 * 24 * 3600;

std::string_view view(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// What a signature says of itself, from the header or the query.
struct Claim {
  std::string credential;  // "ACCESS/20130524/us-east-1/s3/aws4_request"
  std::string signed_headers;
  std::string signature;
  std::string date;
  std::string payload_hash;  // as it is signed
  bool is_presigned = false;
  std::uint64_t expires_seconds = 0;
};

SignatureCheck refused(int status, std::string code, std::string message) {
  SignatureCheck check;
  check.error = SignatureError{status, std::move(code), std::move(message)};
  return check;
}

SignatureCheck malformed(std::string message) {
  return refused(400, "AuthorizationHeaderMalformed", std::move(message));
}

// "AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…"
std::optional<Claim> claim_of_header(const SignedRequest& request, std::string_view text) {
  if (!text.starts_with(kAlgorithm)) return std::nullopt;
  text.remove_prefix(kAlgorithm.size());
  Claim claim;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    while (part.starts_with(' ')) part.remove_prefix(1);
    const std::size_t equals = part.find('=');
    if (equals == part.npos) return std::nullopt;
    const std::string_view name = part.substr(0, equals);
    const std::string value(part.substr(equals + 1));
    if (name == "Credential") claim.credential = value;
    if (name == "SignedHeaders") claim.signed_headers = value;
    if (name == "Signature") claim.signature = value;
  }
  claim.date = request.head.header("x-amz-date").value_or("");
  claim.payload_hash = request.head.header("x-amz-content-sha256").value_or("");
  // curl before 8 leaves it out, and signs what a request without a body must have there.
  if (claim.payload_hash.empty() && !request.head.has_body()) claim.payload_hash = hex(sha256(""));
  return claim;
}

std::optional<Claim> claim_of_query(const Query& query) {
  if (query.find("X-Amz-Algorithm") != kAlgorithm) return std::nullopt;
  Claim claim;
  claim.is_presigned = true;
  claim.credential = query.find("X-Amz-Credential").value_or("");
  claim.signed_headers = query.find("X-Amz-SignedHeaders").value_or("");
  claim.signature = query.find("X-Amz-Signature").value_or("");
  claim.date = query.find("X-Amz-Date").value_or("");
  claim.payload_hash = kUnsignedPayload;
  const std::string_view expires = query.find("X-Amz-Expires").value_or("");
  const auto [end, error] =
      std::from_chars(expires.data(), expires.data() + expires.size(), claim.expires_seconds);
  if (error != std::errc() || end != expires.data() + expires.size()) return std::nullopt;
  return claim;
}

// "20130524T000000Z"
std::optional<std::time_t> parse_time(std::string_view text) {
  if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t count) -> std::optional<int> {
    int value = 0;
    const char* const begin = text.data() + at;
    const auto [end, error] = std::from_chars(begin, begin + count, value);
    if (error != std::errc() || end != begin + count || *begin == '-') return std::nullopt;
    return value;
  };
  const auto year = number(0, 4);
  const auto month = number(4, 2);
  const auto day = number(6, 2);
  const auto hour = number(9, 2);
  const auto minute = number(11, 2);
  const auto second = number(13, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  std::tm parts{};
  parts.tm_year = *year - 1900;
  parts.tm_mon = *month - 1;
  parts.tm_mday = *day;
  parts.tm_hour = *hour;
  parts.tm_min = *minute;
  parts.tm_sec = *second;
  return timegm(&parts);
}

// Trimmed, with single spaces.
std::string canonical_value(std::string_view value) {
  std::string canonical;
  for (const char c : value) {
    const bool is_space = c == ' ' || c == '\t';
    if (is_space && (canonical.empty() || canonical.back() == ' ')) continue;
    canonical += is_space ? ' ' : c;
  }
  while (canonical.ends_with(' ')) canonical.pop_back();
  return canonical;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// All headers of a name, joined; nothing when there is none.
std::optional<std::string> header_text(const RequestHead& head, std::string_view lower_case_name) {
  std::optional<std::string> text;
  for (const leat::http::Header& header : head.headers()) {
    if (!leat::http::equals_ignoring_case(header.name, lower_case_name)) continue;
    text = text ? *text + "," + canonical_value(header.value) : canonical_value(header.value);
  }
  return text;
}

// What must be signed: the host, and everything that speaks to S3 or to the native API. The mark
// that a request was not made by a stranger's web page says nothing else.
bool signs_enough(const RequestHead& head, const std::vector<std::string>& names) {
  const auto is_signed = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!is_signed("host")) return false;
  return std::all_of(head.headers().begin(), head.headers().end(), [&](const auto& header) {
    const std::string name = to_lower(header.name);
    const bool speaks_to_us = name.starts_with("x-amz-") || name.starts_with("x-leat-");
    return !speaks_to_us || name == "x-leat-request" || is_signed(name);
  });
}

std::string canonical_query(const Query& query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  for (const auto& [name, value] : query.all()) {
    if (name != "X-Amz-Signature")
      parameters.emplace_back(percent_encode(name), percent_encode(value));
  }
  std::sort(parameters.begin(), parameters.end());
  std::string text;
  for (const auto& [name, value] : parameters) {
    if (!text.empty()) text += '&';
    text.append(name).append("=").append(value);
  }
  return text;
}

// Nothing when a header that was signed is not there.
std::optional<std::string> canonical_request(const SignedRequest& request, const Claim& claim,
                                             const std::vector<std::string>& names) {
  const auto path = percent_decode(request.head.path());
  if (!path.ok()) return std::nullopt;
  std::string text = fmt::format("{}\n{}\n{}\n", request.head.method_text(),
                                 percent_encode(*path, "/"), canonical_query(request.query));
  for (const std::string& name : names) {
    const auto value = header_text(request.head, name);
    if (!value) return std::nullopt;
    text += fmt::format("{}:{}\n", name, *value);
  }
  text += fmt::format("\n{}\n{}", claim.signed_headers, claim.payload_hash);
  return text;
}

std::optional<PayloadKind> payload_kind(std::string_view hash) {
  if (hash == kUnsignedPayload) return PayloadKind::kUnsigned;
  if (hash == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD") return PayloadKind::kChunksSigned;
  if (hash == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER")
    return PayloadKind::kChunksSignedTrailer;
  if (hash == "STREAMING-UNSIGNED-PAYLOAD-TRAILER") return PayloadKind::kChunksUnsignedTrailer;
  const bool is_hash = hash.size() == 64 && hash.find_first_not_of("0123456789abcdef") == hash.npos;
  return is_hash ? std::optional(PayloadKind::kHashed) : std::nullopt;
}

// An error when the request comes at the wrong time.
std::optional<SignatureError> check_time(const Claim& claim, std::time_t signed_at,
                                         std::time_t now) {
  if (!claim.is_presigned) {
    if (std::abs(now - signed_at) <= kMostSkewSeconds) return std::nullopt;
    return SignatureError{403, "RequestTimeTooSkewed",
                          "the time of the request and that of the server differ too much"};
  }
  if (claim.expires_seconds == 0 || claim.expires_seconds > kMostExpirySeconds) {
    return SignatureError{400, "AuthorizationQueryParametersError",
                          "X-Amz-Expires must be between 1 second and 7 days"};
  }
  if (now + kMostSkewSeconds < signed_at) {
    return SignatureError{403, "AccessDenied", "the request is not valid yet"};
  }
  if (now > signed_at + static_cast<std::time_t>(claim.expires_seconds)) {
    return SignatureError{403, "AccessDenied", "the request has expired"};
  }
  return std::nullopt;
}

// Clients sign a day long with one key, whose derivation costs more than the rest.
leat::http::Digest signing_key(const std::string& secret, const std::string& date,
                               const std::string& region) {
  struct Last {
    std::string secret;
    std::string date;
    std::string region;
    leat::http::Digest key{};
  };
  thread_local Last last;
  if (last.secret != secret || last.date != date || last.region != region) {
    last = {secret, date, region, leat::http::signing_key(secret, date, region)};
  }
  return last.key;
}

SignatureCheck check_claim(const SignedRequest& request, const Claim& claim,
                           const SecretOf& secret_of, std::time_t now) {
  const auto credential = split(claim.credential, '/');
  const auto signed_at = parse_time(claim.date);
  if (credential.size() != 5 || credential[3] != "s3" || credential[4] != "aws4_request") {
    return malformed("the credential is not ACCESS-KEY/DATE/REGION/s3/aws4_request");
  }
  if (!signed_at || !claim.date.starts_with(credential[1]) || credential[1].size() != 8) {
    return malformed("the date of the request is missing or not that of its credential");
  }
  const auto kind = payload_kind(claim.payload_hash);
  if (!kind) return refused(400, "InvalidRequest", "x-amz-content-sha256 is missing or malformed");
  if (auto error = check_time(claim, *signed_at, now)) {
    return refused(error->status, error->code, error->message);
  }
  const auto names = split(claim.signed_headers, ';');
  if (!signs_enough(request.head, names)) {
    return refused(403, "AccessDenied",
                   "the host or an x-amz- or x-leat- header of the request is not signed");
  }
  const auto secret = secret_of(credential[0]);
  if (!secret) return refused(403, "InvalidAccessKeyId", "there is no such access key");
  const auto canonical = canonical_request(request, claim, names);
  if (!canonical) return refused(403, "AccessDenied", "a header that was signed is missing");

  SignatureCheck check;
  Signer& signer = check.signer;
  signer.access_key = credential[0];
  signer.payload = *kind;
  if (*kind == PayloadKind::kHashed) signer.payload_hash = claim.payload_hash;
  signer.date = claim.date;
  signer.scope = fmt::format("{}/{}/s3/aws4_request", credential[1], credential[2]);
  signer.signing_key = signing_key(*secret, std::string(credential[1]), std::string(credential[2]));
  signer.signature = hex(
      hmac_sha256(view(signer.signing_key), fmt::format("{}\n{}\n{}\n{}", kAlgorithm, signer.date,
                                                        signer.scope, hex(sha256(*canonical)))));
  if (claim.signature.size() != signer.signature.size() ||
      CRYPTO_memcmp(claim.signature.data(), signer.signature.data(), claim.signature.size()) != 0) {
    return refused(403, "SignatureDoesNotMatch",
                   "the signature is not that of this request with this key's secret");
  }
  return check;
}

// Nobody signed, but the body may still be hashed or in chunks.
SignatureCheck check_unsigned(const RequestHead& head) {
  SignatureCheck check;
  const auto hash = head.header("x-amz-content-sha256");
  if (!hash) return check;
  const auto kind = payload_kind(*hash);
  if (!kind) return refused(400, "InvalidRequest", "x-amz-content-sha256 is malformed");
  if (*kind == PayloadKind::kChunksSigned || *kind == PayloadKind::kChunksSignedTrailer) {
    return refused(403, "AccessDenied", "the chunks of the body are signed, the request is not");
  }
  check.signer.payload = *kind;
  if (*kind == PayloadKind::kHashed) check.signer.payload_hash = *hash;
  return check;
}

}  // namespace

SignatureCheck check_signature(const SignedRequest& request, const SecretOf& secret_of,
                               std::time_t now) {
  const auto header = request.head.header("authorization");
  const bool is_presigned = request.query.has("X-Amz-Signature");
  if (!header && !is_presigned) {
    // The links that some clients still make by default; as nobody's they would only be "denied".
    if (request.query.has("AWSAccessKeyId")) {
      return refused(400, "InvalidRequest",
                     "signatures of version 2 are not supported, use AWS4-HMAC-SHA256");
    }
    return check_unsigned(request.head);
  }
  if (header && is_presigned) {
    return refused(400, "InvalidRequest", "a request is signed in its header or in its query");
  }
  const auto claim = header ? claim_of_header(request, *header) : claim_of_query(request.query);
  if (!claim) return malformed("only AWS4-HMAC-SHA256 is understood");
  return check_claim(request, *claim, secret_of, now);
}

}  // namespace leat::doors::http
