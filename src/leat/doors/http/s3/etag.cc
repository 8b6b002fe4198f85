#include "leat/doors/http/s3/etag.h"

#include <fmt/format.h>

#include "leat/doors/http/s3/checksum.h"

namespace leat::doors::http::s3 {
namespace {

constexpr std::size_t kMd5Digits = 32;

bool consists_of(std::string_view text, std::string_view alphabet) {
  return !text.empty() && text.find_first_not_of(alphabet) == text.npos;
}

}  // namespace

bool is_content_etag(std::string_view etag) noexcept {
  if (!consists_of(etag.substr(0, kMd5Digits), "0123456789abcdef")) return false;
  if (etag.size() <= kMd5Digits) return etag.size() == kMd5Digits;
  return etag[kMd5Digits] == '-' && consists_of(etag.substr(kMd5Digits + 1), "0123456789");
}

std::string multipart_etag(std::span<const std::string> part_etags) {
  std::string digests;
  for (const std::string& etag : part_etags) {
    const auto bytes = from_hex(etag);
    if (!bytes || bytes->size() != digest_bytes(Algorithm::kMd5)) return {};
    digests += *bytes;
  }
  return fmt::format("{}-{}", hex_of(digest_of(Algorithm::kMd5, digests)), part_etags.size());
}

}  // namespace leat::doors::http::s3
