#include "leat/doors/http/s3/operations.h"

#include <algorithm>
#include <array>

#include "leat/doors/http/s3/copy_source.h"
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

// Parameters that do not say what is asked for, but how, and names that clients give their
// requests.
constexpr std::array<std::string_view, 16> kModifiers{"continuation-token",
                                                      "delimiter",
                                                      "encoding-type",
                                                      "fetch-owner",
                                                      "key-marker",
                                                      "list-type",
                                                      "marker",
                                                      "max-keys",
                                                      "max-parts",
                                                      "max-uploads",
                                                      "partNumber",
                                                      "part-number-marker",
                                                      "prefix",
                                                      "start-after",
                                                      "upload-id-marker",
                                                      "x-id"};

bool is_modifier(std::string_view name) {
  return name.starts_with("X-Amz-") || name.starts_with("response-") ||
         std::find(kModifiers.begin(), kModifiers.end(), name) != kModifiers.end();
}

// The parameter that says what is asked for: "acl", "uploads". Empty when it is the object or the
// bucket itself; nothing when there are several, which ask for nothing that is known.
std::optional<std::string_view> subresource_of(const Query& query) {
  std::string_view found;
  for (const auto& [name, value] : query.all()) {
    if (is_modifier(name)) continue;
    if (!found.empty()) return std::nullopt;
    found = name;
  }
  return found;
}

enum class Place : std::uint8_t { kService, kBucket, kObject };

Place place_of(const Address& address) {
  if (!address.key.empty()) return Place::kObject;
  return address.bucket.empty() ? Place::kService : Place::kBucket;
}

using Make = std::unique_ptr<Exchange> (*)(S3Request request, Buckets& buckets);

// Where the bytes of what is made come from.
enum class Bytes : std::uint8_t { kOfBody, kOfCopySource };

struct Route {
  Place place;
  Method method;
  std::string_view subresource;
  std::string_view name;
  Make make;
  Bytes bytes = Bytes::kOfBody;
};
constexpr std::array<Route, 41> kRoutes{{
    {Place::kService, Method::kGet, "", "ListBuckets", make_list_buckets},
    {Place::kBucket, Method::kGet, "", "ListObjects", make_list_objects},
    {Place::kBucket, Method::kGet, "location", "GetBucketLocation", make_bucket_operation},
    {Place::kBucket, Method::kHead, "", "HeadBucket", make_bucket_operation},
    {Place::kBucket, Method::kPut, "", "CreateBucket", make_bucket_operation},
    {Place::kBucket, Method::kDelete, "", "DeleteBucket", make_bucket_operation},
    {Place::kBucket, Method::kPost, "delete", "DeleteObjects", make_delete_objects},
    {Place::kBucket, Method::kGet, "uploads", "ListMultipartUploads", make_list_uploads},
    {Place::kObject, Method::kGet, "", "GetObject", make_get_object},
    {Place::kObject, Method::kHead, "", "HeadObject", make_get_object},
    {Place::kObject, Method::kPut, "", "PutObject", make_put_object},
    {Place::kObject, Method::kPut, "", "CopyObject", make_copy_object, Bytes::kOfCopySource},
    {Place::kObject, Method::kDelete, "", "DeleteObject", make_delete_object},
    {Place::kObject, Method::kPost, "uploads", "CreateMultipartUpload", make_create_upload},
    {Place::kObject, Method::kPut, "uploadId", "UploadPart", make_upload_part},
    {Place::kObject, Method::kPut, "uploadId", "UploadPartCopy", make_upload_part_copy,
     Bytes::kOfCopySource},
    {Place::kObject, Method::kPost, "uploadId", "CompleteMultipartUpload", make_complete_upload},
    {Place::kObject, Method::kDelete, "uploadId", "AbortMultipartUpload", make_abort_upload},
    {Place::kObject, Method::kGet, "uploadId", "ListParts", make_list_parts},
    {Place::kBucket, Method::kGet, "accelerate", "GetBucketAccelerateConfiguration",
     make_configuration},
    {Place::kBucket, Method::kGet, "acl", "GetBucketAcl", make_configuration},
    {Place::kBucket, Method::kGet, "cors", "GetBucketCors", make_configuration},
    {Place::kBucket, Method::kGet, "encryption", "GetBucketEncryption", make_configuration},
    {Place::kBucket, Method::kGet, "lifecycle", "GetBucketLifecycleConfiguration",
     make_configuration},
    {Place::kBucket, Method::kGet, "logging", "GetBucketLogging", make_configuration},
    {Place::kBucket, Method::kGet, "notification", "GetBucketNotificationConfiguration",
     make_configuration},
    {Place::kBucket, Method::kGet, "object-lock", "GetObjectLockConfiguration", make_configuration},
    {Place::kBucket, Method::kGet, "ownershipControls", "GetBucketOwnershipControls",
     make_configuration},
    {Place::kBucket, Method::kGet, "policy", "GetBucketPolicy", make_configuration},
    {Place::kBucket, Method::kGet, "policyStatus", "GetBucketPolicyStatus", make_configuration},
    {Place::kBucket, Method::kGet, "publicAccessBlock", "GetPublicAccessBlock", make_configuration},
    {Place::kBucket, Method::kGet, "replication", "GetBucketReplication", make_configuration},
    {Place::kBucket, Method::kGet, "requestPayment", "GetBucketRequestPayment", make_configuration},
    {Place::kBucket, Method::kGet, "tagging", "GetBucketTagging", make_configuration},
    {Place::kBucket, Method::kGet, "versioning", "GetBucketVersioning", make_configuration},
    {Place::kBucket, Method::kGet, "website", "GetBucketWebsite", make_configuration},
    {Place::kObject, Method::kGet, "acl", "GetObjectAcl", make_configuration},
    {Place::kObject, Method::kGet, "legal-hold", "GetObjectLegalHold", make_configuration},
    {Place::kObject, Method::kGet, "retention", "GetObjectRetention", make_configuration},
    {Place::kObject, Method::kGet, "tagging", "GetObjectTagging", make_configuration},
    {Place::kObject, Method::kGet, "attributes", "GetObjectAttributes", make_object_attributes},
}};

const Route* find_route(const S3Request& request) {
  const auto subresource = subresource_of(request.query);
  if (!subresource) return nullptr;
  const Method method = request.head->method();
  const bool puts = method == Method::kPut;
  // A part of nothing.
  if (request.query.has("partNumber") && puts && *subresource != "uploadId") return nullptr;
  const bool copies = puts && request.head->header(kCopySourceHeader).has_value();
  const Bytes bytes = copies ? Bytes::kOfCopySource : Bytes::kOfBody;
  for (const Route& route : kRoutes) {
    if (route.place == place_of(request.address) && route.method == method &&
        route.subresource == *subresource && route.bytes == bytes) {
      return &route;
    }
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Exchange> make_refusal(S3Request request, S3Error error) {
  return std::make_unique<Refusal>(std::move(request), std::move(error));
}

std::string_view operation_name(const S3Request& request) {
  const Route* route = find_route(request);
  return route != nullptr ? route->name : "Refused";
}

std::unique_ptr<Exchange> make_operation(S3Request request, Buckets& buckets) {
  if (const Route* route = find_route(request)) return route->make(std::move(request), buckets);
  return make_refusal(std::move(request),
                      {501, "NotImplemented", "this operation is not supported"});
}

}  // namespace leat::doors::http::s3
