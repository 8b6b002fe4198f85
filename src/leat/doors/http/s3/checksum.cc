#include "leat/doors/http/s3/checksum.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>

#include "leat/base/check.h"
#include "leat/base/crc.h"
#include "leat/base/hash.h"
#include "leat/base/hex.h"
#include "leat/http/request_head.h"

namespace leat::doors::http::s3 {
namespace {

struct Traits {
  std::string_view name;
  std::string_view xml_name;
  std::size_t bytes;
};
// In the order of the enum.
constexpr std::array<Traits, 6> kTraits{{{"md5", "ChecksumMD5", 16},
                                         {"crc32", "ChecksumCRC32", 4},
                                         {"crc32c", "ChecksumCRC32C", 4},
                                         {"crc64nvme", "ChecksumCRC64NVME", 8},
                                         {"sha1", "ChecksumSHA1", 20},
                                         {"sha256", "ChecksumSHA256", 32}}};

const Traits& traits_of(Algorithm algorithm) {
  return kTraits[static_cast<std::size_t>(algorithm)];
}

const EVP_MD* evp_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kMd5:
      return EVP_md5();
    case Algorithm::kSha1:
      return EVP_sha1();
    default:
      return EVP_sha256();
  }
}

constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string big_endian(std::uint64_t value, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = bytes; i-- > 0; value >>= 8) text[i] = static_cast<char>(value & 255);
  return text;
}

std::uint64_t from_big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = (value << 8) | static_cast<unsigned char>(c);
  return value;
}

// One checksum of an object, as clients are told it.
struct Told {
  Algorithm algorithm = Algorithm::kCrc32;
  std::string text;  // base64, and "-PARTS" of a composite one
  std::string_view type = "FULL_OBJECT";
};

std::optional<Told> told(std::string_view key, std::string_view value) {
  Told told;
  if (key.ends_with(kCompositeSuffix)) {
    key.remove_suffix(kCompositeSuffix.size());
    told.type = "COMPOSITE";
  }
  const auto algorithm = checksum_algorithm(key);
  const std::string_view digits = value.substr(0, value.find('-'));
  const auto bytes = from_hex(digits);
  if (!algorithm || !bytes) return std::nullopt;
  told.algorithm = *algorithm;
  told.text = to_base64(*bytes) + std::string(value.substr(digits.size()));
  return told;
}

}  // namespace

std::string_view name_of(Algorithm algorithm) noexcept {
  return traits_of(algorithm).name;
}

std::string_view xml_name_of(Algorithm algorithm) noexcept {
  return traits_of(algorithm).xml_name;
}

std::string_view upper_case_name_of(Algorithm algorithm) noexcept {
  constexpr std::string_view kPrefix = "Checksum";
  return xml_name_of(algorithm).substr(kPrefix.size());
}

std::optional<Algorithm> checksum_algorithm(std::string_view name) noexcept {
  for (const Algorithm algorithm : kChecksumAlgorithms) {
    if (leat::http::equals_ignoring_case(name, name_of(algorithm))) return algorithm;
  }
  return std::nullopt;
}

std::size_t digest_bytes(Algorithm algorithm) noexcept {
  return traits_of(algorithm).bytes;
}

bool is_crc(Algorithm algorithm) noexcept {
  return algorithm == Algorithm::kCrc32 || algorithm == Algorithm::kCrc32c ||
         algorithm == Algorithm::kCrc64Nvme;
}

RunningDigest::RunningDigest(Algorithm algorithm) : algorithm_(algorithm) {
  if (is_crc(algorithm)) return;
  context_.reset(EVP_MD_CTX_new());
  CHECK(context_ != nullptr && EVP_DigestInit_ex(context_.get(), evp_of(algorithm), nullptr) == 1);
}

void RunningDigest::Free::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

void RunningDigest::add(std::span<const std::byte> bytes) {
  switch (algorithm_) {
    case Algorithm::kCrc32:
      crc_ = crc32(static_cast<std::uint32_t>(crc_), bytes);
      break;
    case Algorithm::kCrc32c:
      crc_ = crc32c(static_cast<std::uint32_t>(crc_), bytes);
      break;
    case Algorithm::kCrc64Nvme:
      crc_ = crc64nvme(crc_, bytes);
      break;
    default:
      CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }
}

std::string RunningDigest::finish() {
  if (is_crc(algorithm_)) return big_endian(crc_, digest_bytes(algorithm_));
  std::string digest(digest_bytes(algorithm_), '\0');
  CHECK(EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()),
                           nullptr) == 1);
  return digest;
}

std::string digest_of(Algorithm algorithm, std::string_view bytes) {
  RunningDigest digest(algorithm);
  digest.add(std::as_bytes(std::span(bytes)));
  return digest.finish();
}

std::string combine(Algorithm algorithm, std::string_view a, std::string_view b,
                    std::uint64_t length_b) {
  CHECK(is_crc(algorithm));
  const std::uint64_t crc_a = from_big_endian(a);
  const std::uint64_t crc_b = from_big_endian(b);
  if (algorithm == Algorithm::kCrc64Nvme) {
    return big_endian(crc64nvme_combine(crc_a, crc_b, length_b), 8);
  }
  const auto combine_32 = algorithm == Algorithm::kCrc32 ? crc32_combine : crc32c_combine;
  return big_endian(
      combine_32(static_cast<std::uint32_t>(crc_a), static_cast<std::uint32_t>(crc_b), length_b),
      4);
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    const std::uint64_t bits = from_big_endian(group) << (8 * (3 - group.size()));
    for (std::size_t digit = 0; digit < 4; ++digit) {
      text += digit <= group.size() ? kBase64Digits[(bits >> (6 * (3 - digit))) & 63] : '=';
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  std::uint64_t bits = 0;
  std::size_t count = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const std::size_t digit = kBase64Digits.find(c);
    if (digit == kBase64Digits.npos) return std::nullopt;
    bits = (bits << 6) | digit;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>((bits >> count) & 255);
  }
  // The padding, and bits that stand for nothing, have one form.
  if (to_base64(bytes) != text) return std::nullopt;
  return bytes;
}

std::string hex_of(std::string_view bytes) {
  return to_hex(std::as_bytes(std::span(bytes)));
}

std::optional<std::string> from_hex(std::string_view text) {
  const auto bytes = parse_hex_bytes(text);
  if (!bytes.ok()) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

std::string checksum_headers(const std::map<std::string, std::string>& checksums) {
  std::string lines;
  for (const auto& [key, value] : checksums) {
    if (const auto one = told(key, value)) {
      lines += fmt::format("x-amz-checksum-{}: {}\r\nx-amz-checksum-type: {}\r\n",
                           name_of(one->algorithm), one->text, one->type);
    }
  }
  return lines;
}

std::map<std::string, std::string> checksum_elements(
    const std::map<std::string, std::string>& checksums) {
  std::map<std::string, std::string> elements;
  for (const auto& [key, value] : checksums) {
    if (const auto one = told(key, value)) {
      elements[std::string(xml_name_of(one->algorithm))] = one->text;
      elements["ChecksumType"] = one->type;
    }
  }
  return elements;
}

}  // namespace leat::doors::http::s3
