// The documents that S3 clients send, and what we would write of any text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "leat/base/check.h"
#include "leat/doors/http/s3/xml_reader.h"
#include "leat/doors/http/s3/xml_writer.h"

namespace leat::doors::http::s3 {
namespace {

// Nothing grows beyond the text, in size or in depth.
void check_document(std::string_view document) {
  std::size_t text_bytes = 0;
  std::size_t elements = 0;
  const Status status = read_xml(document, [&](std::string_view path, std::string_view text) {
    CHECK(!path.empty());
    std::size_t depth = 1;
    for (const char c : path) depth += c == '/' ? 1 : 0;
    CHECK(depth <= kMostXmlDepth);
    text_bytes += text.size();
    ++elements;
    return ok_status();
  });
  CHECK(text_bytes <= document.size() && elements <= document.size());
  CHECK(!status.ok() || elements > 0);
}

std::string written(std::string_view text) {
  XmlWriter xml;
  {
    const auto root = xml.root("ListBucketResult");
    xml.text("Key", text);
  }
  return std::move(xml).take();
}

std::string read_back(std::string_view document) {
  std::string key;
  const Status status = read_xml(document, [&](std::string_view path, std::string_view text) {
    if (path == "ListBucketResult/Key") key = text;
    return ok_status();
  });
  CHECK(status.ok());
  return key;
}

}  // namespace
}  // namespace leat::doors::http::s3

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace s3 = leat::doors::http::s3;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  s3::check_document(text);
  // Whatever a name is, what we say of it is well-formed and means one thing.
  const std::string document = s3::written(text);
  CHECK(s3::written(s3::read_back(document)) == document);
  return 0;
}
