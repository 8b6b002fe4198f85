// ListParts and ListMultipartUploads.
#include <fmt/format.h>

#include <algorithm>

#include "leat/base/url.h"
#include "leat/doors/http/s3/multipart.h"
#include "leat/doors/http/s3/operation.h"
#include "leat/doors/http/s3/times.h"
#include "leat/doors/http/s3/xml_writer.h"

namespace leat::doors::http::s3 {
namespace {

constexpr std::uint32_t kMostListed = 1000;

// There is one owner.
void add_people(XmlWriter& xml) {
  for (const std::string_view role : {"Initiator", "Owner"}) {
    const auto person = xml.element(role);
    xml.text("ID", "leat");
    xml.text("DisplayName", "leat");
  }
  xml.text("StorageClass", "STANDARD");
}

void add_checksum_kind(XmlWriter& xml, const std::optional<UploadChecksum>& checksum) {
  if (!checksum) return;
  xml.text("ChecksumAlgorithm", upper_case_name_of(checksum->algorithm));
  xml.text("ChecksumType", name_of(checksum->type));
}

// A number of the query.
Result<std::uint32_t> number_parameter(const Query& query, std::string_view name,
                                       std::uint32_t otherwise) {
  const auto text = query.find(name);
  if (!text || text->empty()) return otherwise;
  const auto number = parse_number(*text);
  if (number) return *number;
  return Error(ErrorCode::kInvalidArgument, fmt::format("{} is not a number", name));
}

class ListParts final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    ASSIGN_OR_RETURN(const auto all, uploads());
    ASSIGN_OR_RETURN(marker_, number_parameter(request_.query, "part-number-marker", 0));
    ASSIGN_OR_RETURN(limit_, number_parameter(request_.query, "max-parts", kMostListed));
    limit_ = std::min(limit_, kMostListed);
    const std::string& key = request_.address.key;
    const auto upload = all->find(key, upload_id(), context);
    if (upload.failed_with(ErrorCode::kNotFound)) return failure(no_such_upload());
    RETURN_IF_ERROR(upload);
    auto parts = all->parts(key, upload_id(), marker_, limit_ + 1, context);
    if (parts.failed_with(ErrorCode::kNotFound)) return failure(no_such_upload());
    RETURN_IF_ERROR(parts);
    const bool is_truncated = limit_ > 0 && parts->size() > limit_;
    parts->resize(std::min<std::size_t>(parts->size(), limit_));
    return xml_answer(to_xml(*upload, *parts, is_truncated));
  }

 private:
  XmlWriter to_xml(const local::UploadInfo& upload, const std::vector<local::PartInfo>& parts,
                   bool is_truncated) const {
    XmlWriter xml;
    {
      const auto root = xml.root("ListPartsResult");
      xml.text("Bucket", request_.address.bucket);
      xml.text("Key", request_.address.key);
      xml.text("UploadId", upload.id);
      add_people(xml);
      xml.number("PartNumberMarker", marker_);
      xml.number("NextPartNumberMarker", parts.empty() ? 0 : parts.back().number);
      xml.number("MaxParts", limit_);
      xml.boolean("IsTruncated", is_truncated);
      add_checksum_kind(xml, upload_checksum(upload.options));
      for (const local::PartInfo& part : parts) {
        const auto item = xml.element("Part");
        xml.number("PartNumber", part.number);
        xml.text("LastModified", iso_time(part.info.mtime_ns));
        xml.text("ETag", fmt::format("\"{}\"", part.info.etag));
        xml.number("Size", part.info.size_bytes);
        for (const Algorithm algorithm : kChecksumAlgorithms) {
          const auto digest = part_checksum(part, algorithm);
          if (digest) xml.text(xml_name_of(algorithm), to_base64(*digest));
        }
      }
    }
    return xml;
  }

  std::uint32_t marker_ = 0;
  std::uint32_t limit_ = kMostListed;
};

class ListUploads final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    ASSIGN_OR_RETURN(const auto all, uploads());
    RETURN_IF_ERROR(read_parameters());
    local::UploadsPage page;
    if (list_.limit > 0) {
      ASSIGN_OR_RETURN(page, all->list(list_, context));
    }
    return xml_answer(to_xml(page));
  }

 private:
  std::string parameter(std::string_view name) const {
    return std::string(request_.query.find(name).value_or(""));
  }

  Status read_parameters() {
    const std::string encoding = parameter("encoding-type");
    encodes_ = encoding == "url";
    if (!encoding.empty() && !encodes_) {
      return Error(ErrorCode::kInvalidArgument, "encoding-type can only be \"url\"");
    }
    list_.prefix = parameter("prefix");
    list_.delimiter = parameter("delimiter");
    list_.after_name = parameter("key-marker");
    list_.after_id = parameter("upload-id-marker");
    ASSIGN_OR_RETURN(list_.limit, number_parameter(request_.query, "max-uploads", kMostListed));
    list_.limit = std::min(list_.limit, kMostListed);
    return ok_status();
  }

  std::string encoded(std::string_view name) const {
    return encodes_ ? percent_encode(name, "/") : std::string(name);
  }

  XmlWriter to_xml(const local::UploadsPage& page) const {
    XmlWriter xml;
    {
      const auto root = xml.root("ListMultipartUploadsResult");
      xml.text("Bucket", request_.address.bucket);
      xml.text("KeyMarker", encoded(list_.after_name));
      xml.text("UploadIdMarker", list_.after_id);
      if (!page.is_last) {
        xml.text("NextKeyMarker", encoded(page.next_after_name));
        xml.text("NextUploadIdMarker", page.next_after_id);
      }
      xml.text("Prefix", encoded(list_.prefix));
      if (!list_.delimiter.empty()) xml.text("Delimiter", encoded(list_.delimiter));
      if (encodes_) xml.text("EncodingType", "url");
      xml.number("MaxUploads", list_.limit);
      xml.boolean("IsTruncated", !page.is_last);
      for (const local::UploadInfo& upload : page.uploads) {
        const auto item = xml.element("Upload");
        xml.text("Key", encoded(upload.name));
        xml.text("UploadId", upload.id);
        add_people(xml);
        xml.text("Initiated", iso_time(upload.created_ns));
        add_checksum_kind(xml, upload_checksum(upload.options));
      }
      for (const std::string& prefix : page.common_prefixes) {
        const auto item = xml.element("CommonPrefixes");
        xml.text("Prefix", encoded(prefix));
      }
    }
    return xml;
  }

  local::UploadsRequest list_;
  bool encodes_ = false;
};

}  // namespace

std::unique_ptr<Exchange> make_list_parts(S3Request request, Buckets& buckets) {
  return std::make_unique<ListParts>(std::move(request), buckets);
}

std::unique_ptr<Exchange> make_list_uploads(S3Request request, Buckets& buckets) {
  return std::make_unique<ListUploads>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
