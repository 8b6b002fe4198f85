// XmlOperation: the base of operations whose body is a document.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "leat/doors/http/s3/operation.h"
#include "leat/doors/http/s3/request_body.h"

namespace leat::doors::http::s3 {

// A thousand keys of the longest kind, every byte escaped, and ten thousand parts with checksums.
inline constexpr std::size_t kMostXmlBytes = 8 << 20;

class XmlOperation : public Operation {
 public:
  XmlOperation(S3Request request, Buckets& buckets, RequestBody::Checksums checksums)
      : Operation(std::move(request), buckets), body_(request_, checksums) {}

  bool wants_body() const override;
  Status consume(std::span<const std::byte> piece, const Context& context) override;

 protected:
  // What is wrong with the body; call it before document().
  std::optional<S3Error> finish_body();
  const std::string& document() const noexcept { return document_; }

 private:
  RequestBody body_;
  std::string document_;
  std::optional<S3Error> error_;
};

S3Error malformed_xml(std::string_view what);

}  // namespace leat::doors::http::s3
