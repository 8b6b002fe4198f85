#include "leat/doors/http/s3/operation.h"

#include "leat/doors/http/s3/xml_writer.h"

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

Result<std::shared_ptr<local::Uploads>> Operation::uploads() {
  RETURN_IF_ERROR(bucket());
  return buckets_.store()->uploads(request_.address.bucket);
}

Answer xml_answer(XmlWriter xml) {
  Answer answer;
  answer.headers = "Content-Type: application/xml\r\n";
  answer.body = std::move(xml).take();
  return answer;
}

Answer Operation::failure(const S3Error& error) const {
  const std::string resource = fmt::format("/{}/{}", request_.address.bucket, request_.address.key);
  Answer answer = error_answer(error, resource, request_.request_id);
  if (request_.head->method() == leat::http::Method::kHead) answer.body = std::string();
  return answer;
}

}  // namespace leat::doors::http::s3
