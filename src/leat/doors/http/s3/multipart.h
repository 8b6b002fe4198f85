// What the operations on multipart uploads share: part numbers, and the checksums that an upload
// agreed on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "leat/doors/http/s3/checksum.h"
#include "leat/doors/http/s3/error.h"
#include "leat/doors/http/s3/request.h"
#include "leat/local/uploads.h"

namespace leat::doors::http::s3 {

// All parts but the last have at least so many bytes.
inline constexpr std::uint64_t kLeastPartBytes = 5 << 20;

// The checksum of an object that comes in parts: of the checksums of its parts, or of its bytes.
enum class ChecksumType : std::uint8_t { kComposite, kFullObject };
std::string_view name_of(ChecksumType type) noexcept;  // "COMPOSITE"

struct UploadChecksum {
  Algorithm algorithm = Algorithm::kCrc32;
  ChecksumType type = ChecksumType::kComposite;
};

// What a request to create an upload asks for; nothing when it says nothing.
std::optional<S3Error> read_upload_checksum(const leat::http::RequestHead& head,
                                            std::optional<UploadChecksum>& checksum);
// As the store keeps it with an upload, and back.
std::map<std::string, std::string> to_options(const std::optional<UploadChecksum>& checksum);
std::optional<UploadChecksum> upload_checksum(const std::map<std::string, std::string>& options);

// Of a whole made of these parts: the digest, and "-PARTS" of a composite one. Nothing when a part
// does not have it, or when it cannot be had from those of parts.
struct WholeChecksum {
  std::string digest;
  std::string suffix;
};
std::optional<WholeChecksum> whole_checksum(const UploadChecksum& checksum,
                                            std::span<const local::PartInfo> parts);
// As Metadata keeps it.
std::map<std::string, std::string> to_metadata(const UploadChecksum& checksum,
                                               const WholeChecksum& whole);

// The checksum of a part, if it has this one; raw.
std::optional<std::string> part_checksum(const local::PartInfo& part, Algorithm algorithm);

// "partNumber" of the query.
std::optional<S3Error> read_part_number(const S3Request& request, std::uint32_t& number);

S3Error no_such_upload();

}  // namespace leat::doors::http::s3
