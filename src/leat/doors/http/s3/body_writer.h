// BodyWriter: the body of a request on its way into an object, for PutObject and UploadPart.
//
// The writer is made with the first byte, or at the end when there is none. For one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "leat/doors/http/s3/request_body.h"
#include "leat/store/object_store.h"

namespace leat::doors::http::s3 {

class BodyWriter {
 public:
  // Makes the writer.
  using Create = std::function<Result<std::unique_ptr<ObjectWriter>>()>;

  // `request` must outlive this.
  explicit BodyWriter(const S3Request& request) : body_(request) {}

  RequestBody& body() noexcept { return body_; }
  const RequestBody& body() const noexcept { return body_; }
  // REQUIRES: start() was ok.
  ObjectWriter& writer() noexcept { return *writer_; }

  // Sees to it that there is a writer. The first error stays.
  Status start(const Create& create);
  Status append(std::span<const std::byte> piece, const Create& create, const Context& context);

 private:
  Status keep(Status status);

  RequestBody body_;
  std::unique_ptr<ObjectWriter> writer_;
  std::optional<Error> error_;
};

}  // namespace leat::doors::http::s3
