// CreateMultipartUpload and AbortMultipartUpload.
#include <fmt/format.h>

#include "leat/doors/http/s3/multipart.h"
#include "leat/doors/http/s3/object_metadata.h"
#include "leat/doors/http/s3/operation.h"
#include "leat/doors/http/s3/operations.h"
#include "leat/doors/http/s3/xml_writer.h"

namespace leat::doors::http::s3 {
namespace {

class CreateUpload final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    std::optional<UploadChecksum> checksum;
    if (const auto error = read_upload_checksum(*request_.head, checksum)) return failure(*error);
    ASSIGN_OR_RETURN(const auto all, uploads());
    ASSIGN_OR_RETURN(const auto upload,
                     all->begin(request_.address.key, metadata_of(*request_.head),
                                to_options(checksum), context));
    XmlWriter xml;
    {
      const auto root = xml.root("InitiateMultipartUploadResult");
      xml.text("Bucket", request_.address.bucket);
      xml.text("Key", request_.address.key);
      xml.text("UploadId", upload.id);
    }
    Answer answer = xml_answer(std::move(xml));
    if (checksum) {
      answer.headers +=
          fmt::format("x-amz-checksum-algorithm: {}\r\nx-amz-checksum-type: {}\r\n",
                      upper_case_name_of(checksum->algorithm), name_of(checksum->type));
    }
    return answer;
  }
};

class AbortUpload final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    ASSIGN_OR_RETURN(const auto all, uploads());
    const Status aborted = all->abort(request_.address.key, upload_id(), context);
    if (aborted.failed_with(ErrorCode::kNotFound)) return failure(no_such_upload());
    RETURN_IF_ERROR(aborted);
    Answer answer;
    answer.status = 204;
    return answer;
  }
};

}  // namespace

std::unique_ptr<Exchange> make_create_upload(S3Request request, Buckets& buckets) {
  if (auto error = refuse_unhonoured(*request.head)) {
    return make_refusal(std::move(request), *std::move(error));
  }
  return std::make_unique<CreateUpload>(std::move(request), buckets);
}

std::unique_ptr<Exchange> make_abort_upload(S3Request request, Buckets& buckets) {
  return std::make_unique<AbortUpload>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
