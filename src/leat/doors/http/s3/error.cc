#include "leat/doors/http/s3/error.h"

#include <fmt/format.h>

#include "leat/doors/http/s3/xml_writer.h"

namespace leat::doors::http::s3 {

S3Error s3_error(const Error& error) {
  const ErrorTraits& traits = error_traits(error.code());
  const std::string_view message = error.message();
  return {traits.http_status, std::string(traits.s3_code),
          std::string(message.empty() ? traits.name : message)};
}

Answer error_answer(const S3Error& error, std::string_view resource, std::string_view request_id) {
  XmlWriter xml;
  {
    const auto root = xml.element("Error");
    xml.text("Code", error.code);
    xml.text("Message", error.message);
    if (!resource.empty()) xml.text("Resource", resource);
    xml.text("RequestId", request_id);
  }
  Answer answer;
  answer.status = error.status;
  answer.headers =
      fmt::format("Content-Type: application/xml\r\nx-amz-request-id: {}\r\n", request_id);
  answer.body = std::move(xml).take();
  return answer;
}

}  // namespace leat::doors::http::s3
