// Operation: the base of what S3 requests ask for.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "leat/doors/http/application.h"
#include "leat/doors/http/buckets.h"
#include "leat/doors/http/s3/error.h"
#include "leat/doors/http/s3/operations.h"
#include "leat/doors/http/s3/request.h"

namespace leat::doors::http::s3 {

inline constexpr std::string_view kDefaultContentType = "binary/octet-stream";
inline constexpr std::string_view kUserPrefix = "x-amz-meta-";

// Performs, and tells an error as S3 does. A body is read and dropped unless consume() is
// overridden.
class Operation : public Exchange {
 public:
  Operation(S3Request request, Buckets& buckets)
      : request_(std::move(request)), buckets_(buckets) {}

  Status consume(std::span<const std::byte> /*piece*/, const Context& /*context*/) override {
    return ok_status();
  }
  Answer respond(const Context& context) final;

 protected:
  virtual Result<Answer> perform(const Context& context) = 0;

  // kNotFound with S3's own code.
  Result<std::shared_ptr<ObjectStore>> bucket();
  // The same for the uploads of the bucket.
  Result<std::shared_ptr<local::Uploads>> uploads();
  // The upload that the query names.
  std::string upload_id() const {
    return std::string(request_.query.find("uploadId").value_or(""));
  }
  Answer failure(const S3Error& error) const;
  std::optional<std::string_view> header(std::string_view name) const {
    return request_.head->header(name);
  }

  const S3Request request_;
  Buckets& buckets_;

 private:
  bool has_no_bucket_ = false;
};

class XmlWriter;
Answer xml_answer(XmlWriter xml);

// One function a file.
std::unique_ptr<Exchange> make_get_object(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_object_attributes(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_configuration(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_put_object(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_copy_object(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_create_upload(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_abort_upload(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_complete_upload(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_upload_part(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_upload_part_copy(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_list_parts(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_list_uploads(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_delete_objects(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_delete_object(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_list_objects(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_list_buckets(S3Request request, Buckets& buckets);
std::unique_ptr<Exchange> make_bucket_operation(S3Request request, Buckets& buckets);

}  // namespace leat::doors::http::s3
