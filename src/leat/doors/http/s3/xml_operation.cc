#include "leat/doors/http/s3/xml_operation.h"

namespace leat::doors::http::s3 {

bool XmlOperation::wants_body() const {
  return !body_.refusal() && request_.head->content_length().value_or(0) <= kMostXmlBytes;
}

Status XmlOperation::consume(std::span<const std::byte> piece, const Context& /*context*/) {
  Status status = body_.feed(piece, [&](std::span<const std::byte> bytes) -> Status {
    if (document_.size() + bytes.size() > kMostXmlBytes) return ErrorCode::kTooLarge;
    document_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return ok_status();
  });
  if (!status.ok()) error_ = s3_error(status.error());
  return status;
}

std::optional<S3Error> XmlOperation::finish_body() {
  if (request_.head->content_length().value_or(0) > kMostXmlBytes) {
    return s3_error(Error(ErrorCode::kTooLarge));
  }
  return error_ ? error_ : body_.finish();
}

S3Error malformed_xml(std::string_view what) {
  return {400, "MalformedXML", std::string(what)};
}

}  // namespace leat::doors::http::s3
