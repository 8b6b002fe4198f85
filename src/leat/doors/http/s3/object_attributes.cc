// GetObjectAttributes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "leat/doors/http/s3/checksum.h"
#include "leat/doors/http/s3/operation.h"
#include "leat/doors/http/s3/xml_writer.h"
#include "leat/http/date.h"

namespace leat::doors::http::s3 {
namespace {

constexpr std::array<std::string_view, 5> kAttributes{"ETag", "Checksum", "ObjectParts",
                                                      "StorageClass", "ObjectSize"};
constexpr std::uint32_t kMostParts = 1000;

class ObjectAttributes final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    if (!read_wanted()) {
      return failure({400, "InvalidArgument",
                      "x-amz-object-attributes names ETag, Checksum, ObjectParts, StorageClass or "
                      "ObjectSize"});
    }
    ASSIGN_OR_RETURN(const auto store, bucket());
    ASSIGN_OR_RETURN(const auto all, uploads());
    ASSIGN_OR_RETURN(const auto info, store->stat(request_.address.key, context));
    std::vector<std::uint64_t> sizes;
    if (wants("ObjectParts")) {
      auto found = all->part_sizes(request_.address.key, info.generation, context);
      // Replaced between the two looks: asked again, it is another one.
      if (found.failed_with(ErrorCode::kNotFound)) return ErrorCode::kUnavailable;
      ASSIGN_OR_RETURN(sizes, std::move(found));
    }
    Answer answer = xml_answer(to_xml(info, sizes));
    answer.headers += fmt::format("Last-Modified: {}\r\n",
                                  leat::http::format_date(info.mtime_ns / 1'000'000'000));
    return answer;
  }

 private:
  // False when the header is not a list of attributes.
  bool read_wanted() {
    std::string_view names = header("x-amz-object-attributes").value_or("");
    while (!names.empty()) {
      std::string_view name = names.substr(0, names.find(','));
      names.remove_prefix(std::min(names.size(), name.size() + 1));
      while (name.starts_with(' ')) name.remove_prefix(1);
      while (name.ends_with(' ')) name.remove_suffix(1);
      const auto* known = std::find(kAttributes.begin(), kAttributes.end(), name);
      if (known == kAttributes.end()) return false;
      wanted_[static_cast<std::size_t>(known - kAttributes.begin())] = true;
    }
    return std::find(wanted_.begin(), wanted_.end(), true) != wanted_.end();
  }
  bool wants(std::string_view name) const {
    const auto* known = std::find(kAttributes.begin(), kAttributes.end(), name);
    return wanted_[static_cast<std::size_t>(known - kAttributes.begin())];
  }

  XmlWriter to_xml(const ObjectInfo& info, const std::vector<std::uint64_t>& sizes) const {
    XmlWriter xml;
    {
      const auto root = xml.root("GetObjectAttributesResponse");
      if (wants("ETag")) xml.text("ETag", info.etag);
      if (wants("Checksum") && info.metadata && !info.metadata->checksums.empty()) {
        const auto checksum = xml.element("Checksum");
        for (const auto& [name, value] : checksum_elements(info.metadata->checksums)) {
          xml.text(name, value);
        }
      }
      if (!sizes.empty()) add_parts(xml, sizes);
      if (wants("StorageClass")) xml.text("StorageClass", "STANDARD");
      if (wants("ObjectSize")) xml.number("ObjectSize", info.size_bytes);
    }
    return xml;
  }

  void add_parts(XmlWriter& xml, const std::vector<std::uint64_t>& sizes) const {
    const std::size_t marker =
        parse_number(header("x-amz-part-number-marker").value_or("")).value_or(0);
    const std::size_t most = std::min(
        parse_number(header("x-amz-max-parts").value_or("")).value_or(kMostParts), kMostParts);
    const std::size_t first = std::min(marker, sizes.size());
    const std::size_t end = std::min(first + most, sizes.size());
    const auto parts = xml.element("ObjectParts");
    xml.number("PartsCount", sizes.size());
    xml.number("PartNumberMarker", marker);
    xml.number("NextPartNumberMarker", end);
    xml.number("MaxParts", most);
    xml.boolean("IsTruncated", end < sizes.size());
    for (std::size_t i = first; i < end; ++i) {
      const auto part = xml.element("Part");
      xml.number("PartNumber", i + 1);
      xml.number("Size", sizes[i]);
    }
  }

  std::array<bool, kAttributes.size()> wanted_{};
};

}  // namespace

std::unique_ptr<Exchange> make_object_attributes(S3Request request, Buckets& buckets) {
  return std::make_unique<ObjectAttributes>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
