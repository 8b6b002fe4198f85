#include <fmt/format.h>
#include <gtest/gtest.h>

#include "leat/doors/http/s3/checksum.h"
#include "leat/doors/http/s3/operation.h"
#include "leat/doors/http/s3/testing/s3_fixture.h"

namespace leat::doors::http::s3 {
namespace {

class DeleteObjectsTest : public testing::S3Test {
 protected:
  void SetUp() override {
    S3Test::SetUp();
    for (const char* name : {"a", "b&c", "d", "keep/e"}) {
      ASSERT_TRUE(write_object(*bucket(), name, {}, {}, {}).ok());
    }
  }
  std::shared_ptr<ObjectStore> bucket() { return *store_->bucket("photos"); }
  bool has(std::string_view name) { return bucket()->stat(name, {}).ok(); }
};

TEST_F(DeleteObjectsTest, DeletesAndTellsOfEach) {
  const auto answered =
      ask("POST /photos?delete", "",
          "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Object><Key>a</Key>"
          "</Object><Object><Key>b&amp;c</Key></Object><Object><Key>none</Key>"
          "<VersionId>null</VersionId></Object></Delete>");
  EXPECT_EQ(answered.status, 200);
  EXPECT_TRUE(
      answered.says("<Deleted><Key>a</Key></Deleted><Deleted><Key>b&amp;c</Key></Deleted>"
                    "<Deleted><Key>none</Key></Deleted></DeleteResult>"));
  EXPECT_FALSE(has("a"));
  EXPECT_FALSE(has("b&c"));
  EXPECT_TRUE(has("d"));
}

TEST_F(DeleteObjectsTest, QuietlyTellsOfErrorsOnly) {
  const std::string etag = bucket()->stat("d", {})->etag;
  const auto answered = ask("POST /photos?delete", "",
                            fmt::format("<Delete><Quiet>true</Quiet><Object><Key>a</Key></Object>"
                                        "<Object><Key>b&amp;c</Key><ETag>x</ETag></Object>"
                                        "<Object><Key>d</Key><ETag>\"{}\"</ETag></Object>"
                                        "<Object><Key>keep/e</Key><VersionId>7</VersionId></Object>"
                                        "<Object><Key>keep/e</Key><Size>5</Size></Object></Delete>",
                                        etag));
  EXPECT_FALSE(answered.says("<Deleted>"));
  EXPECT_TRUE(answered.says("<Error><Key>b&amp;c</Key><Code>PreconditionFailed</Code>"));
  EXPECT_TRUE(answered.says("<Error><Key>keep/e</Key><Code>NotImplemented</Code>"));
  EXPECT_FALSE(has("a"));
  EXPECT_FALSE(has("d"));
  EXPECT_TRUE(has("b&c"));
  EXPECT_TRUE(has("keep/e"));
}

TEST_F(DeleteObjectsTest, DeletesNothingOfAWrongBody) {
  const std::string good = "<Delete><Object><Key>a</Key></Object></Delete>";
  const auto code = [&](const std::string& headers, const std::string& body) {
    return ask("POST /photos?delete", headers, body).element("Code");
  };
  EXPECT_EQ(code("Content-MD5: XUFAKrxLKna5cZ2REBfFkg==\r\n", good), "BadDigest");
  EXPECT_EQ(code("x-amz-checksum-crc32: AAAAAA==\r\n", good), "BadDigest");
  EXPECT_EQ(code("x-amz-sdk-checksum-algorithm: CRC32\r\n", good), "InvalidRequest");
  EXPECT_EQ(code("", ""), "MalformedXML");
  EXPECT_EQ(code("", "<Delete></Delete>"), "MalformedXML");
  EXPECT_EQ(code("", "<Delete><Object><Key></Key></Object></Delete>"), "MalformedXML");
  EXPECT_EQ(code("", "<Delete><Object><Key>a</Key></Object>"), "MalformedXML");
  EXPECT_EQ(code("", "<Remove><Object><Key>a</Key></Object></Remove>"), "MalformedXML");
  EXPECT_EQ(code("", "<!DOCTYPE x [<!ENTITY a \"b\">]>" + good), "MalformedXML");
  std::string many = "<Delete>";
  for (int i = 0; i < 1001; ++i) many += "<Object><Key>a</Key></Object>";
  EXPECT_EQ(code("", many + "</Delete>"), "MalformedXML");
  EXPECT_EQ(code("", std::string((8 << 20) + 1, ' ')), "EntityTooLarge");
  EXPECT_TRUE(has("a"));
  EXPECT_EQ(
      code("x-amz-checksum-crc32: " + to_base64(digest_of(Algorithm::kCrc32, good)) + "\r\n", good),
      "");
  EXPECT_FALSE(has("a"));
  EXPECT_TRUE(ask("POST /none?delete", "", good).says("NoSuchBucket"));
}

TEST_F(DeleteObjectsTest, ChecksTheRightToEachKey) {
  Access access;
  ASSERT_TRUE(access.add_keys("key secret read:photos write:photos/keep/").ok());
  EXPECT_TRUE(access.allows_some("key", Right::kWrite, "photos"));
  EXPECT_FALSE(access.allows_some("key", Right::kWrite, "others"));
  EXPECT_FALSE(access.allows_some("", Right::kWrite, "photos"));
  const std::string body =
      "<Delete><Object><Key>a</Key></Object><Object><Key>keep/e</Key></Object></Delete>";
  const std::string text = fmt::format(
      "POST /photos?delete HTTP/1.1\r\nHost: node\r\nContent-Length: {}\r\n\r\n", body.size());
  RequestHead head;
  ASSERT_TRUE(head.parse(text).ok());
  S3Request request;
  request.head = &head;
  request.address = {"photos", ""};
  request.access = &access;
  request.signer.access_key = "key";
  Buckets buckets(store_);
  const auto exchange = make_delete_objects(std::move(request), buckets);
  ASSERT_TRUE(exchange->consume(std::as_bytes(std::span(body)), {}).ok());
  const Answer answer = exchange->respond({});
  EXPECT_NE(std::get<std::string>(answer.body).find("<Error><Key>a</Key><Code>AccessDenied</Code>"),
            std::string::npos);
  EXPECT_TRUE(has("a"));
  EXPECT_FALSE(has("keep/e"));
}

}  // namespace
}  // namespace leat::doors::http::s3
