// What clients ask before and beside their work.
#include <gtest/gtest.h>

#include "leat/doors/http/s3/testing/s3_fixture.h"

namespace leat::doors::http::s3 {
namespace {

class ConfigurationTest : public testing::S3Test {
 protected:
  void SetUp() override {
    S3Test::SetUp();
    ASSERT_EQ(ask("PUT /photos/cat", "", "meow").status, 200);
  }
};

TEST_F(ConfigurationTest, SaysWhatIsNotThere) {
  for (const auto& [path, code] : std::vector<std::pair<std::string, std::string>>{
           {"/photos?policy", "NoSuchBucketPolicy"},
           {"/photos?policyStatus", "NoSuchBucketPolicy"},
           {"/photos?tagging", "NoSuchTagSet"},
           {"/photos?cors", "NoSuchCORSConfiguration"},
           {"/photos?lifecycle", "NoSuchLifecycleConfiguration"},
           {"/photos?encryption", "ServerSideEncryptionConfigurationNotFoundError"},
           {"/photos?object-lock", "ObjectLockConfigurationNotFoundError"},
           {"/photos?ownershipControls", "OwnershipControlsNotFoundError"},
           {"/photos?publicAccessBlock", "NoSuchPublicAccessBlockConfiguration"},
           {"/photos?replication", "ReplicationConfigurationNotFoundError"},
           {"/photos?website", "NoSuchWebsiteConfiguration"},
           {"/photos/cat?retention", "NoSuchObjectLockConfiguration"},
           {"/photos/cat?legal-hold", "NoSuchObjectLockConfiguration"}}) {
    const auto answered = ask("GET " + path);
    EXPECT_EQ(answered.status, 404) << path;
    EXPECT_EQ(answered.element("Code"), code) << path;
    // Whoever configures it is told that it does nothing.
    EXPECT_EQ(ask("PUT " + path, "", "<a/>").status, 501) << path;
  }
  EXPECT_EQ(ask("GET /none?policy").element("Code"), "NoSuchBucket");
  EXPECT_EQ(ask("GET /photos/none?acl").element("Code"), "NoSuchKey");
  EXPECT_EQ(ask("GET /photos/none?tagging").element("Code"), "NoSuchKey");
}

TEST_F(ConfigurationTest, SaysWhatIsTrueOfEverything) {
  const auto versioning = ask("GET /photos?versioning");
  EXPECT_EQ(versioning.status, 200);
  EXPECT_TRUE(versioning.says("<VersioningConfiguration xmlns="));
  EXPECT_FALSE(versioning.says("<Status>"));
  for (const char* path : {"/photos?acl", "/photos/cat?acl"}) {
    const auto acl = ask(std::string("GET ") + path);
    EXPECT_EQ(acl.status, 200);
    EXPECT_EQ(acl.element("Permission"), "FULL_CONTROL");
    EXPECT_TRUE(acl.says("xsi:type=\"CanonicalUser\">"));
    EXPECT_TRUE(acl.says("</Grantee>"));
    EXPECT_EQ(ask(std::string("PUT ") + path).status, 501);
  }
  // Asked by awscli for every large copy.
  EXPECT_TRUE(ask("GET /photos/cat?tagging").says("<TagSet></TagSet>"));
  EXPECT_EQ(ask("GET /photos?requestPayment").element("Payer"), "BucketOwner");
  for (const char* path : {"/photos?logging", "/photos?notification", "/photos?accelerate"}) {
    EXPECT_EQ(ask(std::string("GET ") + path).status, 200);
    EXPECT_EQ(ask(std::string("PUT ") + path, "", "<a/>").status, 501);
  }
  EXPECT_EQ(ask("PUT /photos?versioning", "", "<a/>").status, 501);
  EXPECT_EQ(ask("GET /photos/cat").body, "meow");
}

TEST_F(ConfigurationTest, TellsAttributes) {
  const auto all = ask("GET /photos/cat?attributes",
                       "x-amz-object-attributes: ETag,ObjectSize, StorageClass,ObjectParts\r\n");
  EXPECT_EQ(all.element("ETag"), "4a4be40c96ac6314e91d93f38043a634");
  EXPECT_EQ(all.element("ObjectSize"), "4");
  EXPECT_EQ(all.element("StorageClass"), "STANDARD");
  EXPECT_FALSE(all.says("ObjectParts"));
  const auto size = ask("GET /photos/cat?attributes", "x-amz-object-attributes: ObjectSize\r\n");
  EXPECT_FALSE(size.says("<ETag>"));
  EXPECT_EQ(ask("GET /photos/cat?attributes").status, 400);
  EXPECT_EQ(ask("GET /photos/cat?attributes", "x-amz-object-attributes: Colour\r\n").status, 400);
  EXPECT_EQ(ask("GET /photos/none?attributes", "x-amz-object-attributes: ETag\r\n").status, 404);
}

}  // namespace
}  // namespace leat::doors::http::s3
