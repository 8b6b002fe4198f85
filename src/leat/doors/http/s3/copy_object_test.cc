#include <fmt/format.h>
#include <gtest/gtest.h>

#include "leat/doors/http/s3/checksum.h"
#include "leat/doors/http/s3/copy_source.h"
#include "leat/doors/http/s3/testing/s3_fixture.h"

namespace leat::doors::http::s3 {
namespace {

class CopyObjectTest : public testing::S3Test {
 protected:
  void SetUp() override {
    S3Test::SetUp();
    ASSERT_TRUE(store_->create_bucket("archive", {}, {}).ok());
    ASSERT_EQ(
        ask("PUT /photos/a%20cat", "Content-Type: image/jpeg\r\nx-amz-meta-kind: cat\r\n", "meow")
            .status,
        200);
  }
  testing::Answered copy(const std::string& target, const std::string& source,
                         const std::string& headers = "") {
    return ask("PUT " + target, "x-amz-copy-source: " + source + "\r\n" + headers);
  }
};

TEST_F(CopyObjectTest, KeepsBytesMetadataAndEtag) {
  const std::string etag = ask("GET /photos/a%20cat").header("ETag");
  for (const char* target : {"/photos/copy", "/archive/copy"}) {
    for (const char* source : {"photos/a%20cat", "/photos/a%20cat", "photos%2Fa%20cat",
                               "/photos/a%20cat?versionId=null"}) {
      const auto copied = copy(target, source);
      EXPECT_EQ(copied.status, 200) << source;
      EXPECT_TRUE(copied.says("<CopyObjectResult"));
      EXPECT_EQ(copied.element("ETag"), "&quot;" + etag.substr(1, 32) + "&quot;");
      const auto got = ask(std::string("GET ") + target);
      EXPECT_EQ(got.body, "meow");
      EXPECT_TRUE(got.has("Content-Type: image/jpeg\r\n"));
      EXPECT_TRUE(got.has("x-amz-meta-kind: cat\r\n"));
      EXPECT_EQ(got.header("ETag"), etag);
    }
  }
}

TEST_F(CopyObjectTest, KeepsTheEtagOfALargeObject) {
  const std::string large(100'000, 'x');
  const std::string etag = ask("PUT /photos/large", "", large).header("ETag");
  EXPECT_EQ(copy("/photos/copy", "/photos/large").status, 200);
  EXPECT_EQ(ask("GET /photos/copy").header("ETag"), etag);
  EXPECT_EQ(ask("GET /photos/copy").body, large);
  EXPECT_EQ(copy("/archive/copy", "/photos/large").status, 200);
  EXPECT_EQ(ask("GET /archive/copy").header("ETag"), etag);
}

TEST_F(CopyObjectTest, ReplacesMetadataWhenAskedTo) {
  EXPECT_EQ(copy("/photos/a%20cat", "/photos/a%20cat").status, 400);
  EXPECT_EQ(copy("/photos/a%20cat", "/photos/a%20cat", "x-amz-metadata-directive: COPY\r\n").status,
            400);
  EXPECT_EQ(copy("/photos/b", "/photos/a%20cat", "x-amz-metadata-directive: MERGE\r\n").status,
            400);
  EXPECT_EQ(copy("/photos/a%20cat", "/photos/a%20cat",
                 "x-amz-metadata-directive: REPLACE\r\nx-amz-meta-mtime: 5\r\n")
                .status,
            200);
  const auto got = ask("GET /photos/a%20cat");
  EXPECT_EQ(got.body, "meow");
  EXPECT_TRUE(got.has("x-amz-meta-mtime: 5\r\n"));
  EXPECT_FALSE(got.has("x-amz-meta-kind"));
  EXPECT_TRUE(got.has("Content-Type: binary/octet-stream\r\n"));
  // By nothing at all.
  EXPECT_EQ(copy("/photos/b", "/photos/a%20cat", "x-amz-metadata-directive: REPLACE\r\n").status,
            200);
  EXPECT_FALSE(ask("GET /photos/b").has("x-amz-meta"));
}

TEST_F(CopyObjectTest, KeepsOrComputesChecksums) {
  const std::string crc = to_base64(digest_of(Algorithm::kCrc32, "meow"));
  ASSERT_EQ(ask("PUT /photos/sum", "x-amz-checksum-crc32: " + crc + "\r\n", "meow").status, 200);
  const auto crc_of = [&](const std::string& path, const std::string& name) {
    return ask("HEAD " + path, "x-amz-checksum-mode: ENABLED\r\n").header("x-amz-checksum-" + name);
  };
  EXPECT_EQ(copy("/photos/sum2", "/photos/sum").element("ChecksumCRC32"), crc);
  EXPECT_EQ(crc_of("/photos/sum2", "crc32"), crc);
  EXPECT_EQ(copy("/photos/sum", "/photos/sum", "x-amz-metadata-directive: REPLACE\r\n").status,
            200);
  EXPECT_EQ(crc_of("/photos/sum", "crc32"), crc);
  EXPECT_EQ(copy("/photos/sum3", "/photos/a%20cat", "x-amz-checksum-algorithm: SHA1\r\n").status,
            200);
  EXPECT_EQ(crc_of("/photos/sum3", "sha1"), to_base64(digest_of(Algorithm::kSha1, "meow")));
  EXPECT_EQ(copy("/photos/sum3", "/photos/sum", "x-amz-checksum-algorithm: MD4\r\n").status, 400);
}

TEST_F(CopyObjectTest, ObeysConditionsOfSourceAndTarget) {
  const std::string etag = ask("GET /photos/a%20cat").header("ETag");
  const auto status = [&](const std::string& header) {
    return copy("/photos/copy", "/photos/a%20cat", header + "\r\n").status;
  };
  EXPECT_EQ(status("x-amz-copy-source-if-match: \"x\""), 412);
  EXPECT_EQ(status("x-amz-copy-source-if-none-match: " + etag), 412);
  EXPECT_EQ(status("x-amz-copy-source-if-modified-since: Fri, 01 Jan 2100 00:00:00 GMT"), 412);
  EXPECT_EQ(status("x-amz-copy-source-if-unmodified-since: Sun, 06 Nov 1994 08:49:37 GMT"), 412);
  EXPECT_EQ(ask("GET /photos/copy").status, 404);
  EXPECT_EQ(status("x-amz-copy-source-if-match: " + etag), 200);
  EXPECT_EQ(status("If-None-Match: *"), 412);
  EXPECT_EQ(status("If-Match: \"x\""), 412);
  EXPECT_EQ(status("If-Match: " + etag), 200);
}

TEST_F(CopyObjectTest, TellsWhatIsMissingOrMalformed) {
  EXPECT_TRUE(copy("/photos/b", "/photos/none").says("NoSuchKey"));
  EXPECT_TRUE(copy("/photos/b", "/none/a").says("NoSuchBucket"));
  EXPECT_TRUE(copy("/none/b", "/photos/a%20cat").says("NoSuchBucket"));
  for (const char* source : {"photos", "/photos/", "//cat", "/", "photos/%4"}) {
    EXPECT_EQ(copy("/photos/b", source).status, 400) << source;
  }
  EXPECT_EQ(copy("/photos/b", "/photos/a%20cat?versionId=7").status, 501);
  EXPECT_EQ(copy("/photos/b", "/photos/a%20cat", "x-amz-tagging-directive: REPLACE\r\n").status,
            501);
  EXPECT_EQ(ask("GET /photos/b").status, 404);
}

// The rights of the door alone would let a writer read everything.
TEST_F(CopyObjectTest, AsksForTheRightToReadTheSource) {
  const auto may = [&](const std::string& line, const std::string& target,
                       const std::string& source) {
    Access access;
    EXPECT_TRUE(access.add_keys(line).ok());
    S3Request request;
    request.signer.access_key = "key";
    request.access = &access;
    const std::string text = fmt::format(
        "PUT {} HTTP/1.1\r\nHost: node\r\nx-amz-copy-source: {}\r\n\r\n", target, source);
    RequestHead head;
    EXPECT_TRUE(head.parse(text).ok());
    request.head = &head;
    Buckets buckets(store_);
    CopySource opened;
    const auto error = open_copy_source(request, buckets, {}, opened);
    return error ? error->code : "";
  };
  EXPECT_EQ(may("key secret write:archive", "/archive/b", "/photos/a%20cat"), "AccessDenied");
  EXPECT_EQ(may("key secret write:archive read:photos/b", "/archive/b", "/photos/a%20cat"),
            "AccessDenied");
  EXPECT_EQ(may("key secret write:archive read:photos/a", "/archive/b", "/photos/a%20cat"), "");
}

}  // namespace
}  // namespace leat::doors::http::s3
