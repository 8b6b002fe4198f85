// The digests of S3: MD5 for etags, and the checksums that clients may send with a body and ask for
// later.
//
// A digest is its raw bytes, most significant first, in a string; headers and XML have it in
// base64, Metadata::checksums in hexadecimal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's

namespace leat::doors::http::s3 {

enum class Algorithm : std::uint8_t { kMd5, kCrc32, kCrc32c, kCrc64Nvme, kSha1, kSha256 };
// Those that "x-amz-checksum-…" can name.
inline constexpr std::array kChecksumAlgorithms{Algorithm::kCrc32, Algorithm::kCrc32c,
                                                Algorithm::kCrc64Nvme, Algorithm::kSha1,
                                                Algorithm::kSha256};

std::string_view name_of(Algorithm algorithm) noexcept;             // "crc32c"
std::string_view xml_name_of(Algorithm algorithm) noexcept;         // "ChecksumCRC32C"
std::string_view upper_case_name_of(Algorithm algorithm) noexcept;  // "CRC32C"
// In any case; only of kChecksumAlgorithms.
std::optional<Algorithm> checksum_algorithm(std::string_view name) noexcept;
std::size_t digest_bytes(Algorithm algorithm) noexcept;
// Whether the checksum of a whole can be had from those of its parts.
bool is_crc(Algorithm algorithm) noexcept;

// A digest of bytes that come in pieces. For one thread.
class RunningDigest {
 public:
  explicit RunningDigest(Algorithm algorithm);
  void add(std::span<const std::byte> bytes);
  std::string finish();  // once

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  Algorithm algorithm_;
  std::uint64_t crc_ = 0;
  std::unique_ptr<evp_md_ctx_st, Free> context_;  // null for a CRC
};

std::string digest_of(Algorithm algorithm, std::string_view bytes);
// Of a followed by b. REQUIRES: is_crc(algorithm), and digests of its length.
std::string combine(Algorithm algorithm, std::string_view a, std::string_view b,
                    std::uint64_t length_b);

std::string to_base64(std::string_view bytes);
// Nothing unless it is the one text of some bytes.
std::optional<std::string> from_base64(std::string_view text);
std::string hex_of(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view text);

// The lines of an answer that tell an object's checksums, as kept in Metadata::checksums: of the
// whole object by "crc32", of a multipart one by "crc32-composite", "HEX-PARTS".
std::string checksum_headers(const std::map<std::string, std::string>& checksums);
// The same as XML names and values, with "ChecksumType".
std::map<std::string, std::string> checksum_elements(
    const std::map<std::string, std::string>& checksums);
inline constexpr std::string_view kCompositeSuffix = "-composite";

}  // namespace leat::doors::http::s3
