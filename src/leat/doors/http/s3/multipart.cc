#include "leat/doors/http/s3/multipart.h"

#include <fmt/format.h>

namespace leat::doors::http::s3 {
namespace {

constexpr std::string_view kAlgorithmOption = "checksum-algorithm";
constexpr std::string_view kTypeOption = "checksum-type";

std::optional<ChecksumType> checksum_type(std::string_view name) {
  for (const ChecksumType type : {ChecksumType::kComposite, ChecksumType::kFullObject}) {
    if (name == name_of(type)) return type;
  }
  return std::nullopt;
}

// A CRC-64 is never made of CRC-64s, and no SHA can be had from those of parts.
bool is_possible(const UploadChecksum& checksum) {
  return checksum.type == ChecksumType::kComposite ? checksum.algorithm != Algorithm::kCrc64Nvme
                                                   : is_crc(checksum.algorithm);
}

}  // namespace

std::string_view name_of(ChecksumType type) noexcept {
  return type == ChecksumType::kComposite ? "COMPOSITE" : "FULL_OBJECT";
}

std::optional<S3Error> read_upload_checksum(const leat::http::RequestHead& head,
                                            std::optional<UploadChecksum>& checksum) {
  const auto algorithm_name = head.header("x-amz-checksum-algorithm");
  const auto type_name = head.header("x-amz-checksum-type");
  if (!algorithm_name) {
    if (!type_name) return std::nullopt;
    return S3Error{400, "InvalidRequest", "x-amz-checksum-type without an algorithm"};
  }
  const auto algorithm = checksum_algorithm(*algorithm_name);
  if (!algorithm) return S3Error{400, "InvalidRequest", "the checksum is of no known kind"};
  checksum.emplace();
  checksum->algorithm = *algorithm;
  if (*algorithm == Algorithm::kCrc64Nvme) checksum->type = ChecksumType::kFullObject;
  if (type_name) {
    const auto type = checksum_type(*type_name);
    if (!type) {
      return S3Error{400, "InvalidRequest", "x-amz-checksum-type is COMPOSITE or FULL_OBJECT"};
    }
    checksum->type = *type;
  }
  if (is_possible(*checksum)) return std::nullopt;
  return S3Error{400, "InvalidRequest",
                 fmt::format("The {} checksum type cannot be used with the {} checksum algorithm.",
                             name_of(checksum->type), name_of(*algorithm))};
}

std::map<std::string, std::string> to_options(const std::optional<UploadChecksum>& checksum) {
  if (!checksum) return {};
  return {{std::string(kAlgorithmOption), std::string(name_of(checksum->algorithm))},
          {std::string(kTypeOption), std::string(name_of(checksum->type))}};
}

std::optional<UploadChecksum> upload_checksum(const std::map<std::string, std::string>& options) {
  const auto algorithm = options.find(std::string(kAlgorithmOption));
  const auto type = options.find(std::string(kTypeOption));
  if (algorithm == options.end() || type == options.end()) return std::nullopt;
  const auto known_algorithm = checksum_algorithm(algorithm->second);
  const auto known_type = checksum_type(type->second);
  if (!known_algorithm || !known_type) return std::nullopt;
  return UploadChecksum{*known_algorithm, *known_type};
}

std::optional<std::string> part_checksum(const local::PartInfo& part, Algorithm algorithm) {
  if (!part.info.metadata) return std::nullopt;
  const auto& checksums = part.info.metadata->checksums;
  const auto found = checksums.find(std::string(name_of(algorithm)));
  if (found == checksums.end()) return std::nullopt;
  auto digest = from_hex(found->second);
  if (digest && digest->size() != digest_bytes(algorithm)) return std::nullopt;
  return digest;
}

std::optional<WholeChecksum> whole_checksum(const UploadChecksum& checksum,
                                            std::span<const local::PartInfo> parts) {
  if (!is_possible(checksum)) return std::nullopt;
  const bool is_composite = checksum.type == ChecksumType::kComposite;
  WholeChecksum whole;
  if (is_composite) {
    whole.suffix = fmt::format("-{}", parts.size());
  } else {
    whole.digest = digest_of(checksum.algorithm, "");
  }
  for (const local::PartInfo& part : parts) {
    const auto digest = part_checksum(part, checksum.algorithm);
    if (!digest) return std::nullopt;
    if (is_composite) {
      whole.digest += *digest;
    } else {
      whole.digest = combine(checksum.algorithm, whole.digest, *digest, part.info.size_bytes);
    }
  }
  if (is_composite) whole.digest = digest_of(checksum.algorithm, whole.digest);
  return whole;
}

std::map<std::string, std::string> to_metadata(const UploadChecksum& checksum,
                                               const WholeChecksum& whole) {
  std::string key(name_of(checksum.algorithm));
  if (checksum.type == ChecksumType::kComposite) key += kCompositeSuffix;
  return {{std::move(key), hex_of(whole.digest) + whole.suffix}};
}

std::optional<S3Error> read_part_number(const S3Request& request, std::uint32_t& number) {
  const auto parsed = parse_number(request.query.find("partNumber").value_or(""));
  if (!parsed || *parsed == 0 || *parsed > local::kMaxPartNumber) {
    return S3Error{400, "InvalidArgument",
                   "Part number must be an integer between 1 and 10000, inclusive"};
  }
  number = *parsed;
  return std::nullopt;
}

S3Error no_such_upload() {
  return {404, "NoSuchUpload",
          "The specified upload does not exist. The upload ID may be invalid, or the upload may "
          "have been aborted or completed."};
}

}  // namespace leat::doors::http::s3
