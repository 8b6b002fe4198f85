// What is compared before an object is replaced, and what is told of it afterwards.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "leat/doors/http/s3/checksum.h"
#include "leat/doors/http/s3/testing/s3_fixture.h"

namespace leat::doors::http::s3 {
namespace {

constexpr std::string_view kUnsignedTrailer =
    "x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\r\nContent-Encoding: aws-chunked\r\n";

class PutObjectTest : public testing::S3Test {
 protected:
  void SetUp() override {
    S3Test::SetUp();
    ASSERT_EQ(ask("PUT /photos/cat", "", "old").status, 200);
  }
  std::string code_of(const std::string& headers, const std::string& body) {
    const auto answered = ask("PUT /photos/cat", headers, body);
    EXPECT_EQ(ask("GET /photos/cat").body, answered.status == 200 ? "hello" : "old") << headers;
    return answered.status == 200 ? "" : answered.element("Code");
  }
};

TEST_F(PutObjectTest, GivesTheMd5AsTheEtag) {
  const std::string etag = "\"5d41402abc4b2a76b9719d911017c592\"";
  const auto put = ask("PUT /photos/cat", "", "hello");
  EXPECT_EQ(put.header("ETag"), etag);
  EXPECT_EQ(ask("GET /photos/cat").header("ETag"), etag);
  EXPECT_EQ(ask("HEAD /photos/cat").header("ETag"), etag);
  EXPECT_EQ(ask_now("GET /photos/cat").header("ETag"), etag);
  EXPECT_TRUE(ask("GET /photos").says("&quot;5d41402abc4b2a76b9719d911017c592&quot;"));
  EXPECT_EQ(ask("PUT /photos/empty").header("ETag"), "\"d41d8cd98f00b204e9800998ecf8427e\"");
  EXPECT_EQ(ask("PUT /photos/cat", "If-Match: " + etag + "\r\n", "x").status, 200);
  EXPECT_EQ(ask("PUT /photos/cat", "If-Match: " + etag + "\r\n", "x").status, 412);
  EXPECT_EQ(ask("PUT /photos/cat", "If-None-Match: *\r\n", "x").status, 412);
}

TEST_F(PutObjectTest, NeverShowsAnotherDoorsEtagAsAnMd5) {
  const auto bucket = *store_->bucket("photos");
  const std::string_view text = "elsewhere";
  ASSERT_TRUE(write_object(*bucket, "other", std::as_bytes(std::span(text)), {}, {}).ok());
  const std::string etag = ask("GET /photos/other").header("ETag");
  EXPECT_NE(etag.find('-'), etag.npos);
  EXPECT_EQ(ask("HEAD /photos/other").header("ETag"), etag);
  EXPECT_EQ(ask_now("GET /photos/other").header("ETag"), etag);
  EXPECT_TRUE(ask("GET /photos").says(etag.substr(1, etag.size() - 2)));
  EXPECT_EQ(ask("PUT /photos/other", "If-Match: " + etag + "\r\n", "x").status, 200);
}

TEST_F(PutObjectTest, ComparesContentMd5) {
  EXPECT_EQ(code_of("Content-MD5: XUFAKrxLKna5cZ2REBfFkQ==\r\n", "hello"), "BadDigest");
  EXPECT_EQ(code_of("Content-MD5: XUFAKrxLKna5cZ2REBfFkg\r\n", "hello"), "InvalidDigest");
  EXPECT_EQ(code_of("Content-MD5: aGVsbG8=\r\n", "hello"), "InvalidDigest");
  EXPECT_EQ(code_of("Content-MD5: XUFAKrxLKna5cZ2REBfFkg==\r\n", "hello"), "");
}

TEST_F(PutObjectTest, ComparesKeepsAndReturnsEveryChecksum) {
  for (const Algorithm algorithm : kChecksumAlgorithms) {
    ASSERT_EQ(ask("PUT /photos/cat", "", "old").status, 200);
    const std::string name = fmt::format("x-amz-checksum-{}", name_of(algorithm));
    const std::string good = to_base64(digest_of(algorithm, "hello"));
    const std::string bad = to_base64(digest_of(algorithm, "hallo"));
    EXPECT_EQ(code_of(fmt::format("{}: {}\r\n", name, bad), "hello"), "BadDigest");
    EXPECT_EQ(code_of(fmt::format("{}: {}\r\n", name, "AAA="), "hello"), "InvalidRequest");
    EXPECT_EQ(code_of(fmt::format("{}: x{}\r\n", name, good), "hello"), "InvalidRequest");
    EXPECT_EQ(code_of(fmt::format("{}: {}\r\n{}: {}\r\n", name, good, name, good), "hello"),
              "InvalidRequest");
    const auto put = ask("PUT /photos/cat", fmt::format("{}: {}\r\n", name, good), "hello");
    EXPECT_EQ(put.status, 200);
    EXPECT_EQ(put.header(name), good);
    for (const char* method : {"GET", "HEAD"}) {
      const std::string line = std::string(method) + " /photos/cat";
      const auto got = ask(line, "x-amz-checksum-mode: ENABLED\r\n");
      EXPECT_EQ(got.header(name), good);
      EXPECT_EQ(got.header("x-amz-checksum-type"), "FULL_OBJECT");
      EXPECT_EQ(ask(line).header(name), "");
      EXPECT_EQ(ask(line, "x-amz-checksum-mode: ENABLED\r\nRange: bytes=0-1\r\n").header(name), "");
    }
    EXPECT_EQ(ask_now("GET /photos/cat", "x-amz-checksum-mode: ENABLED\r\n").status, 0);
  }
  EXPECT_EQ(ask("PUT /photos/cat", "x-amz-checksum-xxhash3: AAAA\r\n", "x").status, 501);
}

TEST_F(PutObjectTest, WantsTheChecksumThatTheSdkAnnounces) {
  const std::string crc =
      "x-amz-checksum-crc32: " + to_base64(digest_of(Algorithm::kCrc32, "hello"));
  EXPECT_EQ(code_of("x-amz-sdk-checksum-algorithm: CRC32\r\n", "hello"), "InvalidRequest");
  EXPECT_EQ(code_of("x-amz-sdk-checksum-algorithm: SHA256\r\n" + crc + "\r\n", "hello"),
            "InvalidRequest");
  EXPECT_EQ(code_of("x-amz-sdk-checksum-algorithm: CRC32\r\n" + crc + "\r\n", "hello"), "");
}

TEST_F(PutObjectTest, ComparesTheChecksumInATrailer) {
  const auto chunked = [](const std::string& trailer) {
    return "5\r\nhello\r\n0\r\n" + trailer + "\r\n";
  };
  const std::string announced =
      std::string(kUnsignedTrailer) + "x-amz-trailer: x-amz-checksum-crc32\r\n";
  const std::string good =
      "x-amz-checksum-crc32:" + to_base64(digest_of(Algorithm::kCrc32, "hello")) + "\r\n";
  EXPECT_EQ(code_of(announced, chunked("x-amz-checksum-crc32:AAAAAA==\r\n")), "BadDigest");
  EXPECT_EQ(code_of(announced, chunked("x-amz-checksum-crc32:AAAA\r\n")), "InvalidRequest");
  EXPECT_EQ(code_of(announced, chunked("x-amz-checksum-sha1:AAAA\r\n")), "MalformedTrailerError");
  EXPECT_EQ(code_of(announced, chunked("")), "MalformedTrailerError");
  EXPECT_EQ(code_of(std::string(kUnsignedTrailer), chunked(good)), "MalformedTrailerError");
  EXPECT_EQ(code_of(announced + "x-amz-checksum-crc32: AAAAAA==\r\n", chunked(good)),
            "InvalidRequest");
  EXPECT_EQ(code_of(announced + "x-amz-decoded-content-length: 6\r\n", chunked(good)),
            "IncompleteBody");
  EXPECT_EQ(code_of(announced, "5\r\nhello\r\n"), "InvalidArgument");
  EXPECT_EQ(code_of("x-amz-trailer: x-amz-checksum-crc32\r\n", "hello"), "InvalidRequest");
  EXPECT_EQ(code_of("Content-Encoding: aws-chunked\r\n", chunked("")), "InvalidRequest");
  EXPECT_EQ(code_of("x-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\r\n", chunked("")),
            "AccessDenied");
  EXPECT_EQ(code_of(announced + "x-amz-sdk-checksum-algorithm: CRC32\r\n"
                                "x-amz-decoded-content-length: 5\r\n",
                    chunked(good)),
            "");
  EXPECT_EQ(
      ask("GET /photos/cat", "x-amz-checksum-mode: ENABLED\r\n").header("x-amz-checksum-crc32"),
      to_base64(digest_of(Algorithm::kCrc32, "hello")));
  EXPECT_FALSE(ask("GET /photos/cat").has("aws-chunked"));
}

TEST_F(PutObjectTest, KeepsTheEncodingOfTheContentOnly) {
  ASSERT_EQ(ask("PUT /photos/cat",
                "x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\r\n"
                "Content-Encoding: aws-chunked, gzip\r\n",
                "5\r\nhello\r\n0\r\n\r\n")
                .status,
            200);
  EXPECT_TRUE(ask("GET /photos/cat").has("content-encoding: gzip\r\n"));
}

TEST_F(PutObjectTest, AcceptsWhatIsTrueAnyway) {
  EXPECT_EQ(code_of("x-amz-acl: private\r\nx-amz-storage-class: STANDARD\r\n", "hello"), "");
  ASSERT_EQ(ask("PUT /photos/cat", "", "old").status, 200);
  EXPECT_EQ(code_of("x-amz-storage-class: GLACIER\r\n", "hello"), "InvalidStorageClass");
  EXPECT_EQ(code_of("x-amz-acl: public-read\r\n", "hello"), "NotImplemented");
}

}  // namespace
}  // namespace leat::doors::http::s3
