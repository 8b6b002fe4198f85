// ListObjects and ListObjectsV2.
#include <algorithm>

#include "leat/base/url.h"
#include "leat/doors/http/s3/operation.h"
#include "leat/doors/http/s3/times.h"
#include "leat/doors/http/s3/xml_writer.h"

namespace leat::doors::http::s3 {
namespace {

constexpr std::uint32_t kMostKeys = 1000;

class ListObjects final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    ASSIGN_OR_RETURN(const auto store, bucket());
    RETURN_IF_ERROR(read_parameters());
    ListPage page;
    if (list_.limit > 0) {
      ASSIGN_OR_RETURN(page, store->list(list_, context));
    }
    Answer answer;
    answer.headers = "Content-Type: application/xml\r\n";
    answer.body = to_xml(page);
    return answer;
  }

 private:
  std::string parameter(std::string_view name) const {
    return std::string(request_.query.find(name).value_or(""));
  }

  Status read_parameters() {
    is_v2_ = parameter("list-type") == "2";
    list_.prefix = parameter("prefix");
    list_.delimiter = parameter("delimiter");
    list_.limit = kMostKeys;
    const std::string encoding = parameter("encoding-type");
    encodes_ = encoding == "url";
    if (!encoding.empty() && !encodes_) {
      return Error(ErrorCode::kInvalidArgument, "encoding-type can only be \"url\"");
    }
    if (const auto most = request_.query.find("max-keys")) {
      const auto limit = parse_number(*most);
      if (!limit) return Error(ErrorCode::kInvalidArgument, "max-keys is not a number");
      list_.limit = std::min(*limit, kMostKeys);
    }
    list_.start_after = parameter(is_v2_ ? "start-after" : "marker");
    if (const auto token = request_.query.find("continuation-token"); is_v2_ && token) {
      ASSIGN_OR_RETURN(list_.start_after, percent_decode(*token));
    }
    return ok_status();
  }

  std::string encoded(std::string_view name) const {
    return encodes_ ? percent_encode(name, "/") : std::string(name);
  }

  std::string to_xml(const ListPage& page) const {
    XmlWriter xml;
    {
      const auto root = xml.root("ListBucketResult");
      xml.text("Name", request_.address.bucket);
      xml.text("Prefix", encoded(list_.prefix));
      if (!list_.delimiter.empty()) xml.text("Delimiter", encoded(list_.delimiter));
      xml.number("MaxKeys", list_.limit);
      if (encodes_) xml.text("EncodingType", "url");
      xml.boolean("IsTruncated", !page.next_start_after.empty());
      add_position(xml, page);
      for (const ListPage::Entry& entry : page.entries) {
        const auto item = xml.element("Contents");
        xml.text("Key", encoded(entry.name));
        xml.text("LastModified", iso_time(entry.info.mtime_ns));
        xml.text("ETag", fmt::format("\"{}\"", entry.info.etag));
        xml.number("Size", entry.info.size_bytes);
        xml.text("StorageClass", "STANDARD");
      }
      for (const std::string& prefix : page.common_prefixes) {
        const auto item = xml.element("CommonPrefixes");
        xml.text("Prefix", encoded(prefix));
      }
    }
    return std::move(xml).take();
  }

  // Where this page starts and the next one does. The token is the name, so encoded that any name
  // survives the way through XML and back.
  void add_position(XmlWriter& xml, const ListPage& page) const {
    if (!is_v2_) {
      xml.text("Marker", encoded(list_.start_after));
      if (!page.next_start_after.empty()) xml.text("NextMarker", encoded(page.next_start_after));
      return;
    }
    xml.number("KeyCount", page.entries.size() + page.common_prefixes.size());
    if (const auto token = request_.query.find("continuation-token")) {
      xml.text("ContinuationToken", *token);
    }
    if (const auto after = request_.query.find("start-after")) {
      xml.text("StartAfter", encoded(*after));
    }
    if (!page.next_start_after.empty()) {
      xml.text("NextContinuationToken", percent_encode(page.next_start_after));
    }
  }

  ListRequest list_;
  bool is_v2_ = false;
  bool encodes_ = false;
};

}  // namespace

std::unique_ptr<Exchange> make_list_objects(S3Request request, Buckets& buckets) {
  return std::make_unique<ListObjects>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
