// PutObject.
#include <fmt/format.h>

#include <string>

#include "leat/doors/http/s3/conditions.h"
#include "leat/doors/http/s3/object_metadata.h"
#include "leat/doors/http/s3/operation.h"
#include "leat/doors/http/s3/request_body.h"

namespace leat::doors::http::s3 {
namespace {

class PutObject final : public Operation {
 public:
  using Operation::Operation;

  bool wants_body() const override { return !body_.refusal(); }

  Status consume(std::span<const std::byte> piece, const Context& context) override {
    Status status = start(context);
    if (status.ok()) {
      status = body_.feed(
          piece, [&](std::span<const std::byte> bytes) { return writer_->append(bytes, context); });
    }
    if (!status.ok()) error_ = status.error();
    return status;
  }

 protected:
  Result<Answer> perform(const Context& context) override {
    if (body_.refusal()) return failure(*body_.refusal());
    if (error_) return *error_;
    RETURN_IF_ERROR(start(context));
    if (const auto error = body_.finish()) return failure(*error);
    ASSIGN_OR_RETURN(const ObjectInfo info,
                     writer_->commit({body_.etag(), body_.checksums()}, context));
    Answer answer;
    answer.headers =
        fmt::format("ETag: \"{}\"\r\n", info.etag) + checksum_headers(body_.checksums());
    return answer;
  }

 private:
  Status start(const Context& context) {
    if (writer_) return ok_status();
    ASSIGN_OR_RETURN(const auto store, bucket());
    CreateOptions options;
    options.expected_size_bytes = body_.announced_bytes();
    options.metadata = metadata_of(*request_.head);
    ASSIGN_OR_RETURN(options.precondition, precondition_of(*request_.head));
    ASSIGN_OR_RETURN(writer_, store->create(request_.address.key, options, context));
    return ok_status();
  }

  RequestBody body_{request_};
  std::unique_ptr<ObjectWriter> writer_;
  std::optional<Error> error_;
};

}  // namespace

std::unique_ptr<Exchange> make_put_object(S3Request request, Buckets& buckets) {
  if (auto error = refuse_unhonoured(*request.head)) {
    return make_refusal(std::move(request), *std::move(error));
  }
  return std::make_unique<PutObject>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
