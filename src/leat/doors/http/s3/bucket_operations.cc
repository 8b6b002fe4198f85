// ListBuckets, CreateBucket, HeadBucket, DeleteBucket, GetBucketLocation.
#include "leat/doors/http/s3/operation.h"
#include "leat/doors/http/s3/times.h"
#include "leat/doors/http/s3/xml_writer.h"

namespace leat::doors::http::s3 {
namespace {

using leat::http::Method;

class ListBuckets final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    ASSIGN_OR_RETURN(const auto buckets, buckets_.list(context));
    XmlWriter xml;
    {
      const auto root = xml.root("ListAllMyBucketsResult");
      {
        const auto owner = xml.element("Owner");
        xml.text("ID", "leat");
        xml.text("DisplayName", "leat");
      }
      const auto list = xml.element("Buckets");
      for (const local::BucketInfo& info : buckets) {
        const auto item = xml.element("Bucket");
        xml.text("Name", info.name);
        xml.text("CreationDate", iso_time(info.created_ns));
      }
    }
    return xml_answer(std::move(xml));
  }
};

class BucketOperation final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    switch (request_.head->method()) {
      case Method::kPut: {
        const auto created = buckets_.create(request_.address.bucket, {}, context);
        if (created.failed_with(ErrorCode::kAlreadyExists)) {
          return failure({409, "BucketAlreadyOwnedByYou", "the bucket exists already"});
        }
        if (created.failed_with(ErrorCode::kInvalidArgument)) {
          return failure({400, "InvalidBucketName", std::string(created.error().message())});
        }
        RETURN_IF_ERROR(created);
        Answer answer;
        answer.headers = fmt::format("Location: /{}\r\n", request_.address.bucket);
        return answer;
      }
      case Method::kDelete: {
        RETURN_IF_ERROR(bucket());
        const auto removed = buckets_.remove(request_.address.bucket, context);
        if (removed.failed_with(ErrorCode::kPreconditionFailed)) {
          return failure({409, "BucketNotEmpty", "the bucket is not empty"});
        }
        RETURN_IF_ERROR(removed);
        Answer answer;
        answer.status = 204;
        return answer;
      }
      default:
        RETURN_IF_ERROR(bucket());
        return request_.query.has("location") ? location() : head();
    }
  }

 private:
  static Answer head() {
    Answer answer;
    answer.headers = "x-amz-bucket-region: us-east-1\r\n";
    return answer;
  }
  static Answer location() {
    XmlWriter xml;
    { const auto root = xml.root("LocationConstraint"); }
    return xml_answer(std::move(xml));
  }
};

}  // namespace

std::unique_ptr<Exchange> make_list_buckets(S3Request request, Buckets& buckets) {
  return std::make_unique<ListBuckets>(std::move(request), buckets);
}

std::unique_ptr<Exchange> make_bucket_operation(S3Request request, Buckets& buckets) {
  return std::make_unique<BucketOperation>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
