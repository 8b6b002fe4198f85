#include "leat/doors/http/s3/operation.h"

namespace leat::doors::http::s3 {

Answer Operation::respond(const Context& context) {
  auto answer = perform(context);
  if (answer.ok()) {
    answer->headers += fmt::format("x-amz-request-id: {}\r\n", request_.request_id);
    return *std::move(answer);
  }
  S3Error error = s3_error(answer.error());
  if (has_no_bucket_) error = {404, "NoSuchBucket", "there is no such bucket"};
  return failure(error);
}

Result<std::shared_ptr<ObjectStore>> Operation::bucket() {
  auto found = buckets_.open(request_.address.bucket);
  has_no_bucket_ = found.failed_with(ErrorCode::kNotFound);
  return found;
}

Result<Precondition> precondition_of(const leat::http::RequestHead& head) {
  const auto match = head.header("if-match");
  const auto none_match = head.header("if-none-match");
  if (match && none_match) {
    return Error(ErrorCode::kInvalidArgument, "If-Match and If-None-Match exclude each other");
  }
  if (none_match) {
    if (*none_match == "*") return Precondition::absent();
    return Error(ErrorCode::kUnsupported, "of a change only \"If-None-Match: *\" is understood");
  }
  if (!match) return Precondition::none();
  std::string_view etag = *match;
  if (etag == "*") return Precondition::present();
  if (etag.size() >= 2 && etag.starts_with('"') && etag.ends_with('"')) {
    etag = etag.substr(1, etag.size() - 2);
  }
  return Precondition::has_etag(std::string(etag));
}

Answer Operation::failure(const S3Error& error) const {
  const std::string resource = fmt::format("/{}/{}", request_.address.bucket, request_.address.key);
  Answer answer = error_answer(error, resource, request_.request_id);
  if (request_.head->method() == leat::http::Method::kHead) answer.body = std::string();
  return answer;
}

}  // namespace leat::doors::http::s3
