// What clients ask of a bucket or an object on an ordinary day, and what is true of all of ours:
// no versions, no policy, no tags, one owner who may do everything.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "leat/doors/http/s3/operation.h"
#include "leat/doors/http/s3/xml_writer.h"

namespace leat::doors::http::s3 {
namespace {

// A configuration that is not there, and how S3 says so.
struct Absence {
  std::string_view subresource;
  std::string_view code;
  std::string_view message;
};
constexpr std::array<Absence, 12> kAbsences{{
    {"cors", "NoSuchCORSConfiguration", "The CORS configuration does not exist"},
    {"encryption", "ServerSideEncryptionConfigurationNotFoundError",
     "The server side encryption configuration was not found"},
    {"legal-hold", "NoSuchObjectLockConfiguration",
     "The specified object does not have a ObjectLock configuration"},
    {"lifecycle", "NoSuchLifecycleConfiguration", "The lifecycle configuration does not exist"},
    {"object-lock", "ObjectLockConfigurationNotFoundError",
     "Object Lock configuration does not exist for this bucket"},
    {"ownershipControls", "OwnershipControlsNotFoundError",
     "The bucket ownership controls were not found"},
    {"policy", "NoSuchBucketPolicy", "The bucket policy does not exist"},
    {"policyStatus", "NoSuchBucketPolicy", "The bucket policy does not exist"},
    {"publicAccessBlock", "NoSuchPublicAccessBlockConfiguration",
     "The public access block configuration was not found"},
    {"replication", "ReplicationConfigurationNotFoundError",
     "The replication configuration was not found"},
    {"retention", "NoSuchObjectLockConfiguration",
     "The specified object does not have a ObjectLock configuration"},
    {"website", "NoSuchWebsiteConfiguration",
     "The specified bucket does not have a website configuration"},
}};

// A document that says that nothing is configured.
struct EmptyDocument {
  std::string_view subresource;
  std::string_view root;
};
constexpr std::array<EmptyDocument, 4> kEmptyDocuments{{
    {"accelerate", "AccelerateConfiguration"},
    {"logging", "BucketLoggingStatus"},
    {"notification", "NotificationConfiguration"},
    {"versioning", "VersioningConfiguration"},
}};

void add_owner(XmlWriter& xml) {
  xml.text("ID", "leat");
  xml.text("DisplayName", "leat");
}

XmlWriter access_control() {
  XmlWriter xml;
  {
    const auto root = xml.root("AccessControlPolicy");
    {
      const auto owner = xml.element("Owner");
      add_owner(xml);
    }
    const auto list = xml.element("AccessControlList");
    const auto grant = xml.element("Grant");
    {
      const auto grantee = xml.element(
          "Grantee xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
          "xsi:type=\"CanonicalUser\"");
      add_owner(xml);
    }
    xml.text("Permission", "FULL_CONTROL");
  }
  return xml;
}

class Configuration final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    ASSIGN_OR_RETURN(const auto store, bucket());
    const bool is_object = !request_.address.key.empty();
    if (is_object) RETURN_IF_ERROR(store->stat(request_.address.key, context));
    for (const Absence& absence : kAbsences) {
      if (request_.query.has(absence.subresource)) {
        return failure({404, std::string(absence.code), std::string(absence.message)});
      }
    }
    XmlWriter xml;
    for (const EmptyDocument& document : kEmptyDocuments) {
      if (!request_.query.has(document.subresource)) continue;
      { const auto root = xml.root(document.root); }
      return xml_answer(std::move(xml));
    }
    if (request_.query.has("acl")) return xml_answer(access_control());
    if (request_.query.has("requestPayment")) {
      {
        const auto root = xml.root("RequestPaymentConfiguration");
        xml.text("Payer", "BucketOwner");
      }
      return xml_answer(std::move(xml));
    }
    // Tags: those of an object are a set that may be empty, those of a bucket are there or not.
    if (!is_object) return failure({404, "NoSuchTagSet", "The TagSet does not exist"});
    {
      const auto root = xml.root("Tagging");
      const auto set = xml.element("TagSet");
    }
    return xml_answer(std::move(xml));
  }
};

}  // namespace

std::unique_ptr<Exchange> make_configuration(S3Request request, Buckets& buckets) {
  return std::make_unique<Configuration>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
