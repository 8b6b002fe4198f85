#include "leat/doors/http/s3/operations.h"

#include <algorithm>
#include <array>

#include "leat/doors/http/s3/operation.h"

namespace leat::doors::http::s3 {
namespace {

using leat::http::Method;

class Refusal final : public Exchange {
 public:
  Refusal(S3Request request, S3Error error)
      : request_(std::move(request)), error_(std::move(error)) {}
  bool wants_body() const override { return false; }
  Status consume(std::span<const std::byte> /*piece*/, const Context& /*context*/) override {
    return ok_status();
  }
  Answer respond(const Context& /*context*/) override {
    return error_answer(error_, "", request_.request_id);
  }

 private:
  const S3Request request_;
  const S3Error error_;
};

// Parameters that do not change what is asked for: names that clients give their requests, the
// signature of a presigned one, and what the operations below understand.
constexpr std::array<std::string_view, 15> kKnownParameters{"continuation-token",
                                                            "delimiter",
                                                            "encoding-type",
                                                            "fetch-owner",
                                                            "list-type",
                                                            "location",
                                                            "marker",
                                                            "max-keys",
                                                            "prefix",
                                                            "start-after",
                                                            "x-id",
                                                            "response-cache-control",
                                                            "response-content-disposition",
                                                            "response-content-type",
                                                            "response-expires"};

bool is_understood(const Query& query) {
  return std::all_of(query.all().begin(), query.all().end(), [](const auto& parameter) {
    return parameter.first.starts_with("X-Amz-") ||
           std::find(kKnownParameters.begin(), kKnownParameters.end(), parameter.first) !=
               kKnownParameters.end();
  });
}

}  // namespace

std::unique_ptr<Exchange> make_refusal(S3Request request, S3Error error) {
  return std::make_unique<Refusal>(std::move(request), std::move(error));
}

std::unique_ptr<Exchange> make_operation(S3Request request, Buckets& buckets) {
  const Method method = request.head->method();
  const bool reads = method == Method::kGet || method == Method::kHead;
  // A parameter that is not understood, "?acl" or "?tagging", asks for something else altogether.
  if (is_understood(request.query)) {
    if (!request.address.key.empty()) {
      if (reads) return make_get_object(std::move(request), buckets);
      if (method == Method::kPut && !request.head->header("x-amz-copy-source")) {
        return make_put_object(std::move(request), buckets);
      }
      if (method == Method::kDelete) return make_delete_object(std::move(request), buckets);
    } else if (!request.address.bucket.empty()) {
      if (method == Method::kGet && !request.query.has("location")) {
        return make_list_objects(std::move(request), buckets);
      }
      if (reads || method == Method::kPut || method == Method::kDelete) {
        return make_bucket_operation(std::move(request), buckets);
      }
    } else if (method == Method::kGet) {
      return make_list_buckets(std::move(request), buckets);
    }
  }
  return make_refusal(std::move(request),
                      {501, "NotImplemented", "this operation is not supported"});
}

}  // namespace leat::doors::http::s3
