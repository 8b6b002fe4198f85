// CompleteMultipartUpload.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "leat/base/url.h"
#include "leat/doors/http/s3/conditions.h"
#include "leat/doors/http/s3/etag.h"
#include "leat/doors/http/s3/multipart.h"
#include "leat/doors/http/s3/xml_operation.h"
#include "leat/doors/http/s3/xml_reader.h"
#include "leat/doors/http/s3/xml_writer.h"

namespace leat::doors::http::s3 {
namespace {

constexpr std::string_view kRoot = "CompleteMultipartUpload";
constexpr std::string_view kPart = "CompleteMultipartUpload/Part";
constexpr std::string_view kInPart = "CompleteMultipartUpload/Part/";
constexpr std::string_view kChecksum = "Checksum";

class CompleteUpload final : public XmlOperation {
 public:
  CompleteUpload(S3Request request, Buckets& buckets)
      : XmlOperation(std::move(request), buckets, RequestBody::Checksums::kOfSomethingElse) {}

 protected:
  Result<Answer> perform(const Context& context) override {
    if (const auto error = finish_body()) return failure(*error);
    ASSIGN_OR_RETURN(const auto all, uploads());
    if (const Status read = read_document(); !read.ok()) {
      return failure(malformed_xml(read.error().message()));
    }
    const auto upload = all->find(request_.address.key, upload_id(), context);
    if (upload.failed_with(ErrorCode::kNotFound)) return repeat(*all, context);
    RETURN_IF_ERROR(upload);
    ASSIGN_OR_RETURN(const auto stored, all->parts(request_.address.key, upload_id(), 0,
                                                   local::kMaxPartNumber, context));
    if (const auto error = choose_parts(stored)) return failure(*error);
    CommitOptions commit;
    if (const auto error = check_whole(upload_checksum(upload->options), commit)) {
      return failure(*error);
    }
    CreateOptions options;
    options.metadata = upload->metadata;
    ASSIGN_OR_RETURN(options.precondition, precondition_of(*request_.head));
    const auto info =
        all->complete(request_.address.key, upload_id(), parts_, options, commit, context);
    // A part was replaced, or the upload ended, since they were looked at.
    if (info.failed_with(ErrorCode::kNotFound)) return repeat(*all, context);
    RETURN_IF_ERROR(info);
    return answer(*info);
  }

 private:
  struct Listed {
    std::uint32_t number = 0;
    std::string etag;
    std::map<Algorithm, std::string> checksums;  // base64
  };

  Status read_document() {
    Listed item;
    RETURN_IF_ERROR(read_xml(document(), [&](std::string_view path, std::string_view text) {
      return take(item, path, text);
    }));
    if (listed_.empty()) return Error(ErrorCode::kInvalidArgument, "no parts");
    return ok_status();
  }

  Status take(Listed& item, std::string_view path, std::string_view text) {
    if (path.substr(0, path.find('/')) != kRoot)
      return Error(ErrorCode::kInvalidArgument, "another root");
    if (path == kPart) {
      if (item.number == 0 || item.etag.empty()) {
        return Error(ErrorCode::kInvalidArgument, "a part without PartNumber and ETag");
      }
      if (listed_.size() == local::kMaxPartNumber) {
        return Error(ErrorCode::kInvalidArgument, "more than 10000 parts");
      }
      listed_.push_back(std::exchange(item, Listed()));
      return ok_status();
    }
    if (!path.starts_with(kInPart)) return ok_status();
    const std::string_view name = path.substr(kInPart.size());
    if (name == "PartNumber") {
      item.number = parse_number(text).value_or(0);
    } else if (name == "ETag") {
      item.etag = unquoted(text);
    } else if (name.starts_with(kChecksum)) {
      const auto algorithm = checksum_algorithm(name.substr(kChecksum.size()));
      if (!algorithm) return Error(ErrorCode::kInvalidArgument, "an unknown checksum");
      item.checksums[*algorithm] = text;
    }
    return ok_status();
  }

  // The stored parts that the client lists, which must be those that it means.
  std::optional<S3Error> choose_parts(const std::vector<local::PartInfo>& stored) {
    std::uint32_t previous = 0;
    for (const Listed& item : listed_) {
      if (item.number <= previous) {
        return S3Error{400, "InvalidPartOrder",
                       "The list of parts was not in ascending order. Parts must be ordered by "
                       "part number."};
      }
      previous = item.number;
    }
    for (const Listed& item : listed_) {
      const auto part = std::lower_bound(
          stored.begin(), stored.end(), item.number,
          [](const auto& one, std::uint32_t number) { return one.number < number; });
      if (part == stored.end() || !is_meant(item, *part)) {
        return S3Error{400, "InvalidPart",
                       fmt::format("Part {} could not be found, or is not the one that was listed.",
                                   item.number)};
      }
      parts_.push_back(*part);
    }
    for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
      if (parts_[i].info.size_bytes >= kLeastPartBytes) continue;
      return S3Error{
          400, "EntityTooSmall",
          fmt::format("Part {} is smaller than 5 MiB and not the last.", parts_[i].number)};
    }
    return std::nullopt;
  }

  static bool is_meant(const Listed& item, const local::PartInfo& part) {
    if (part.number != item.number || part.info.etag != item.etag) return false;
    return std::all_of(item.checksums.begin(), item.checksums.end(), [&](const auto& listed) {
      const auto& [algorithm, text] = listed;
      const auto digest = part_checksum(part, algorithm);
      return digest && to_base64(*digest) == text;
    });
  }

  // What the request says of the whole object, and what is to be kept of it.
  std::optional<S3Error> check_whole(std::optional<UploadChecksum> agreed, CommitOptions& commit) {
    std::uint64_t size_bytes = 0;
    std::vector<std::string> etags;
    for (const local::PartInfo& part : parts_) {
      size_bytes += part.info.size_bytes;
      etags.push_back(part.info.etag);
    }
    commit.etag = multipart_etag(etags);
    if (const auto expected = header("x-amz-mp-object-size");
        expected && *expected != std::to_string(size_bytes)) {
      return S3Error{400, "InvalidRequest",
                     "The parts together are not as long as x-amz-mp-object-size says."};
    }
    if (const auto type = header("x-amz-checksum-type");
        type && agreed && *type != name_of(agreed->type)) {
      return S3Error{400, "InvalidRequest", "the upload was begun with another checksum type"};
    }
    for (const Algorithm algorithm : kChecksumAlgorithms) {
      const auto sent = header(fmt::format("x-amz-checksum-{}", name_of(algorithm)));
      if (!sent) continue;
      // Nothing was agreed on, but a CRC of the whole can be had if all parts have theirs.
      if (!agreed) agreed = UploadChecksum{algorithm, ChecksumType::kFullObject};
      if (agreed->algorithm != algorithm) {
        return S3Error{400, "InvalidRequest", "the upload was begun with another checksum"};
      }
      const auto whole = whole_checksum(*agreed, parts_);
      if (!whole) {
        return S3Error{400, "InvalidRequest",
                       "the upload was begun without a checksum that this could be compared with"};
      }
      const std::string digest = to_base64(whole->digest);
      if (*sent != digest && *sent != digest + whole->suffix) {
        return S3Error{
            400, "BadDigest",
            fmt::format("the object does not have the {} that was sent", name_of(algorithm))};
      }
    }
    if (!agreed) return std::nullopt;
    if (const auto whole = whole_checksum(*agreed, parts_)) {
      commit.checksums = to_metadata(*agreed, *whole);
    }
    return std::nullopt;
  }

  // The upload is not there. If it was this client's answer that got lost, it gets another one.
  Result<Answer> repeat(local::Uploads& all, const Context& context) const {
    const auto info = all.completed(request_.address.key, upload_id(), context);
    if (info.ok()) return answer(*info);
    if (!info.failed_with(ErrorCode::kNotFound)) return info.error();
    const auto upload = all.find(request_.address.key, upload_id(), context);
    if (upload.ok()) return failure({400, "InvalidPart", "A part was replaced meanwhile."});
    return failure(no_such_upload());
  }

  Answer answer(const ObjectInfo& info) const {
    const Address& address = request_.address;
    XmlWriter xml;
    {
      const auto root = xml.root("CompleteMultipartUploadResult");
      xml.text("Location", fmt::format("http://{}/{}/{}", request_.head->host(), address.bucket,
                                       percent_encode(address.key, "/")));
      xml.text("Bucket", address.bucket);
      xml.text("Key", address.key);
      xml.text("ETag", fmt::format("\"{}\"", info.etag));
      if (info.metadata) {
        for (const auto& [name, value] : checksum_elements(info.metadata->checksums)) {
          xml.text(name, value);
        }
      }
    }
    return xml_answer(std::move(xml));
  }

  std::vector<Listed> listed_;
  std::vector<local::PartInfo> parts_;
};

}  // namespace

std::unique_ptr<Exchange> make_complete_upload(S3Request request, Buckets& buckets) {
  return std::make_unique<CompleteUpload>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
