// PutObject.
#include <fmt/format.h>

#include <string>

#include "leat/doors/http/s3/body_writer.h"
#include "leat/doors/http/s3/conditions.h"
#include "leat/doors/http/s3/object_metadata.h"
#include "leat/doors/http/s3/operation.h"

namespace leat::doors::http::s3 {
namespace {

class PutObject final : public Operation {
 public:
  using Operation::Operation;

  bool wants_body() const override { return !body_.body().refusal(); }

  Status consume(std::span<const std::byte> piece, const Context& context) override {
    return body_.append(
        piece, [&] { return create(context); }, context);
  }

 protected:
  Result<Answer> perform(const Context& context) override {
    RequestBody& body = body_.body();
    if (body.refusal()) return failure(*body.refusal());
    RETURN_IF_ERROR(body_.start([&] { return create(context); }));
    if (const auto error = body.finish()) return failure(*error);
    ASSIGN_OR_RETURN(const ObjectInfo info,
                     body_.writer().commit({body.etag(), body.checksums()}, context));
    Answer answer;
    answer.headers =
        fmt::format("ETag: \"{}\"\r\n", info.etag) + checksum_headers(body.checksums());
    return answer;
  }

 private:
  Result<std::unique_ptr<ObjectWriter>> create(const Context& context) {
    ASSIGN_OR_RETURN(const auto store, bucket());
    CreateOptions options;
    options.expected_size_bytes = body_.body().announced_bytes();
    options.metadata = metadata_of(*request_.head);
    ASSIGN_OR_RETURN(options.precondition, precondition_of(*request_.head));
    return store->create(request_.address.key, options, context);
  }

  BodyWriter body_{request_};
};

}  // namespace

std::unique_ptr<Exchange> make_put_object(S3Request request, Buckets& buckets) {
  if (auto error = refuse_unhonoured(*request.head)) {
    return make_refusal(std::move(request), *std::move(error));
  }
  return std::make_unique<PutObject>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
