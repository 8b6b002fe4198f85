// Multipart uploads as clients make them.
#include "leat/doors/http/s3/multipart.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "leat/doors/http/s3/checksum.h"
#include "leat/doors/http/s3/testing/s3_fixture.h"
#include "leat/doors/http/upload_sweeper.h"

namespace leat::doors::http::s3 {
namespace {

constexpr std::size_t kPartBytes = kLeastPartBytes;

class MultipartTest : public testing::S3Test {
 protected:
  std::string create(const std::string& path, const std::string& headers = "") {
    const auto created = ask("POST " + path + "?uploads", headers);
    EXPECT_EQ(created.status, 200) << created.body;
    return created.element("UploadId");
  }
  testing::Answered put(const std::string& path, const std::string& id, int number,
                        const std::string& bytes, const std::string& headers = "") {
    return ask(fmt::format("PUT {}?partNumber={}&uploadId={}", path, number, id), headers, bytes);
  }
  // A part as clients list it.
  static std::string listed(int number, const std::string& etag, const std::string& more = "") {
    return fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag>{}</Part>", number, etag,
                       more);
  }
  testing::Answered complete(const std::string& path, const std::string& id,
                             const std::string& parts, const std::string& headers = "") {
    return ask("POST " + path + "?uploadId=" + id, headers,
               "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" +
                   parts + "</CompleteMultipartUpload>");
  }
  std::string code_of(const testing::Answered& answered) { return answered.element("Code"); }

  const std::string first_ = std::string(kPartBytes, 'a');
  const std::string second_ = std::string(kPartBytes + 1, 'b');
};

TEST_F(MultipartTest, MakesOneObjectOfItsParts) {
  const std::string id =
      create("/photos/a%20cat", "Content-Type: image/jpeg\r\nx-amz-meta-kind: cat\r\n");
  EXPECT_EQ(put("/photos/a%20cat", id, 3, "end").status, 200);
  const std::string one = put("/photos/a%20cat", id, 1, first_).header("ETag");
  EXPECT_EQ(one, "\"" + hex_of(digest_of(Algorithm::kMd5, first_)) + "\"");
  restart();
  const std::string two = put("/photos/a%20cat", id, 2, second_).header("ETag");
  EXPECT_EQ(ask("GET /photos/a%20cat").status, 404);
  EXPECT_FALSE(ask("GET /photos").says("<Contents>"));

  const std::string three = "&quot;" + hex_of(digest_of(Algorithm::kMd5, "end")) + "&quot;";
  const auto completed =
      complete("/photos/a%20cat", id, listed(1, one) + listed(2, two) + listed(3, three));
  ASSERT_EQ(completed.status, 200) << completed.body;
  const std::string etag =
      hex_of(digest_of(Algorithm::kMd5, digest_of(Algorithm::kMd5, first_) +
                                            digest_of(Algorithm::kMd5, second_) +
                                            digest_of(Algorithm::kMd5, "end"))) +
      "-3";
  EXPECT_EQ(completed.element("ETag"), "&quot;" + etag + "&quot;");
  EXPECT_EQ(completed.element("Key"), "a cat");
  const auto got = ask("GET /photos/a%20cat");
  EXPECT_EQ(got.body, first_ + second_ + "end");
  EXPECT_EQ(got.header("ETag"), "\"" + etag + "\"");
  EXPECT_TRUE(got.has("Content-Type: image/jpeg\r\n"));
  EXPECT_TRUE(got.has("x-amz-meta-kind: cat\r\n"));
  EXPECT_FALSE(ask("GET /photos?uploads").says("<Upload>"));

  // A client that did not hear the answer asks again.
  EXPECT_EQ(complete("/photos/a%20cat", id, listed(1, one)).element("ETag"),
            "&quot;" + etag + "&quot;");
  EXPECT_EQ(code_of(put("/photos/a%20cat", id, 1, "x")), "NoSuchUpload");
  ASSERT_EQ(ask("PUT /photos/a%20cat", "", "new").status, 200);
  EXPECT_EQ(code_of(complete("/photos/a%20cat", id, listed(1, one))), "NoSuchUpload");
  EXPECT_EQ(ask("GET /photos/a%20cat").body, "new");
}

TEST_F(MultipartTest, RefusesPartsThatAreNotMeant) {
  const std::string id = create("/photos/cat");
  const std::string one = put("/photos/cat", id, 1, first_).header("ETag");
  const std::string two = put("/photos/cat", id, 2, "small").header("ETag");
  const std::string three = put("/photos/cat", id, 3, "end").header("ETag");
  const auto code = [&](const std::string& parts) {
    return code_of(complete("/photos/cat", id, parts));
  };
  EXPECT_EQ(code(listed(1, one) + listed(2, two) + listed(3, three)), "EntityTooSmall");
  EXPECT_EQ(code(listed(2, two) + listed(1, one)), "InvalidPartOrder");
  EXPECT_EQ(code(listed(1, one) + listed(1, one)), "InvalidPartOrder");
  EXPECT_EQ(code(listed(1, two)), "InvalidPart");
  EXPECT_EQ(code(listed(1, one) + listed(4, one)), "InvalidPart");
  EXPECT_EQ(code(listed(1, one, "<ChecksumCRC32>AAAAAA==</ChecksumCRC32>")), "InvalidPart");
  EXPECT_EQ(code(""), "MalformedXML");
  EXPECT_EQ(code("<Part><PartNumber>1</PartNumber></Part>"), "MalformedXML");
  EXPECT_EQ(code("<Part>"), "MalformedXML");
  EXPECT_EQ(code(listed(1, one, "<ChecksumXXH3>AA==</ChecksumXXH3>")), "MalformedXML");
  EXPECT_EQ(code_of(ask("POST /photos/cat?uploadId=" + id, "", "<Delete/>")), "MalformedXML");
  EXPECT_EQ(ask("GET /photos/cat").status, 404);
  // One replaces another, and what is not listed goes.
  EXPECT_EQ(put("/photos/cat", id, 1, second_).status, 200);
  EXPECT_EQ(code(listed(1, one)), "InvalidPart");
  EXPECT_EQ(complete("/photos/cat", id, listed(3, three)).status, 200);
  EXPECT_EQ(ask("GET /photos/cat").body, "end");
}

TEST_F(MultipartTest, BelongsToOneBucketAndKey) {
  ASSERT_TRUE(store_->create_bucket("archive", {}, {}).ok());
  const std::string id = create("/photos/cat");
  const std::string etag = put("/photos/cat", id, 1, "meow").header("ETag");
  for (const std::string path : {"/photos/dog", "/archive/cat"}) {
    EXPECT_EQ(code_of(put(path, id, 1, "x")), "NoSuchUpload");
    EXPECT_EQ(code_of(complete(path, id, listed(1, etag))), "NoSuchUpload");
    EXPECT_EQ(code_of(ask("GET " + path + "?uploadId=" + id)), "NoSuchUpload");
    EXPECT_EQ(code_of(ask("DELETE " + path + "?uploadId=" + id)), "NoSuchUpload");
    EXPECT_EQ(code_of(ask("PUT " + path + "?partNumber=1&uploadId=" + id,
                          "x-amz-copy-source: /photos/cat\r\n")),
              "NoSuchUpload");
  }
  for (const char* bad : {"", "x", "%00upload%00cat"}) {
    EXPECT_EQ(code_of(put("/photos/cat", bad, 1, "x")), "NoSuchUpload");
  }
  EXPECT_EQ(code_of(put("/none/cat", id, 1, "x")), "NoSuchBucket");
  EXPECT_EQ(code_of(ask("POST /none/cat?uploads")), "NoSuchBucket");
  for (const char* number : {"0", "10001", "x", "", "-1"}) {
    EXPECT_EQ(
        code_of(ask(fmt::format("PUT /photos/cat?partNumber={}&uploadId={}", number, id), "", "x")),
        "InvalidArgument");
  }
  EXPECT_EQ(complete("/photos/cat", id, listed(1, etag)).status, 200);
}

TEST_F(MultipartTest, IsForThoseWhoMayWriteTheKey) {
  const std::string id = create("/photos/cat");
  const std::string etag = put("/photos/cat", id, 1, "meow").header("ETag");
  service_.emplace(store_, Access(Anonymous::kRead), S3Options{});
  EXPECT_EQ(code_of(ask("POST /photos/cat?uploads")), "AccessDenied");
  EXPECT_EQ(code_of(put("/photos/cat", id, 2, "x")), "AccessDenied");
  EXPECT_EQ(code_of(ask("PUT /photos/cat?partNumber=1&uploadId=" + id,
                        "x-amz-copy-source: /photos/cat\r\n")),
            "AccessDenied");
  EXPECT_EQ(code_of(complete("/photos/cat", id, listed(1, etag))), "AccessDenied");
  EXPECT_EQ(code_of(ask("DELETE /photos/cat?uploadId=" + id)), "AccessDenied");
  service_.emplace(store_, Access(), S3Options{});
  EXPECT_EQ(code_of(ask("GET /photos/cat?uploadId=" + id)), "AccessDenied");
  EXPECT_EQ(code_of(ask("GET /photos?uploads")), "AccessDenied");
  service_.emplace(store_, Access(Anonymous::kWrite), S3Options{});
  EXPECT_EQ(complete("/photos/cat", id, listed(1, etag)).status, 200);
}

TEST_F(MultipartTest, LeavesNothingWhenAborted) {
  const std::string id = create("/photos/cat");
  ASSERT_EQ(put("/photos/cat", id, 1, first_).status, 200);
  EXPECT_EQ(ask("DELETE /photos/cat?uploadId=" + id).status, 204);
  EXPECT_EQ(ask("DELETE /photos/cat?uploadId=" + id).status, 404);
  EXPECT_EQ(code_of(put("/photos/cat", id, 1, "x")), "NoSuchUpload");
  EXPECT_EQ(ask("DELETE /photos").status, 204);
}

TEST_F(MultipartTest, ObeysConditions) {
  const std::string old = ask("PUT /photos/cat", "", "old").header("ETag");
  const std::string id = create("/photos/cat");
  const std::string etag = put("/photos/cat", id, 1, "new").header("ETag");
  EXPECT_EQ(complete("/photos/cat", id, listed(1, etag), "If-None-Match: *\r\n").status, 412);
  EXPECT_EQ(complete("/photos/cat", id, listed(1, etag), "If-Match: \"x\"\r\n").status, 412);
  EXPECT_EQ(ask("GET /photos/cat").body, "old");
  EXPECT_EQ(complete("/photos/cat", id, listed(1, etag), "If-Match: " + old + "\r\n").status, 200);
  EXPECT_EQ(ask("GET /photos/cat").body, "new");
}

TEST_F(MultipartTest, MakesCompositeChecksums) {
  for (const Algorithm algorithm :
       {Algorithm::kCrc32, Algorithm::kCrc32c, Algorithm::kSha1, Algorithm::kSha256}) {
    const auto created = ask("POST /photos/cat?uploads",
                             fmt::format("x-amz-checksum-algorithm: {}\r\n", name_of(algorithm)));
    EXPECT_EQ(created.header("x-amz-checksum-algorithm"), upper_case_name_of(algorithm));
    EXPECT_EQ(created.header("x-amz-checksum-type"), "COMPOSITE");
    const std::string id = created.element("UploadId");
    const std::string name = fmt::format("x-amz-checksum-{}", name_of(algorithm));
    const std::string sum_one = to_base64(digest_of(algorithm, first_));
    const auto one = put("/photos/cat", id, 1, first_, fmt::format("{}: {}\r\n", name, sum_one));
    EXPECT_EQ(one.header(name), sum_one);
    // A part without one gets it all the same; one of another kind, or a wrong one, is refused.
    EXPECT_EQ(
        code_of(put("/photos/cat", id, 2, "end", "x-amz-checksum-crc64nvme: AAAAAAAAAAA=\r\n")),
        "InvalidRequest");
    EXPECT_EQ(code_of(put("/photos/cat", id, 2, "end", fmt::format("{}: {}\r\n", name, sum_one))),
              "BadDigest");
    const auto two = put("/photos/cat", id, 2, "end");
    const std::string sum_two = to_base64(digest_of(algorithm, "end"));
    EXPECT_EQ(two.header(name), sum_two);
    const auto parts = ask("GET /photos/cat?uploadId=" + id);
    EXPECT_EQ(parts.element("ChecksumType"), "COMPOSITE");
    EXPECT_EQ(parts.element(std::string(xml_name_of(algorithm))), sum_one);
    const std::string whole =
        to_base64(digest_of(algorithm, digest_of(algorithm, first_) + digest_of(algorithm, "end")));
    const std::string list =
        listed(1, one.header("ETag"),
               fmt::format("<{0}>{1}</{0}>", xml_name_of(algorithm), sum_one)) +
        listed(2, two.header("ETag"),
               fmt::format("<{0}>{1}</{0}>", xml_name_of(algorithm), sum_two));
    EXPECT_EQ(code_of(complete("/photos/cat", id, list, fmt::format("{}: {}\r\n", name, sum_one))),
              "BadDigest");
    const auto completed =
        complete("/photos/cat", id, list, fmt::format("{}: {}-2\r\n", name, whole));
    EXPECT_EQ(completed.element(std::string(xml_name_of(algorithm))), whole + "-2");
    EXPECT_EQ(completed.element("ChecksumType"), "COMPOSITE");
    const auto head = ask("HEAD /photos/cat", "x-amz-checksum-mode: ENABLED\r\n");
    EXPECT_EQ(head.header(name), whole + "-2");
    EXPECT_EQ(head.header("x-amz-checksum-type"), "COMPOSITE");
  }
}

TEST_F(MultipartTest, MakesChecksumsOfTheFullObject) {
  for (const Algorithm algorithm : {Algorithm::kCrc32, Algorithm::kCrc32c, Algorithm::kCrc64Nvme}) {
    const std::string id =
        create("/photos/cat", fmt::format("x-amz-checksum-algorithm: {}\r\n{}", name_of(algorithm),
                                          algorithm == Algorithm::kCrc64Nvme
                                              ? ""
                                              : "x-amz-checksum-type: FULL_OBJECT\r\n"));
    const std::string one = put("/photos/cat", id, 1, first_).header("ETag");
    const std::string two = put("/photos/cat", id, 2, "end").header("ETag");
    const std::string name = fmt::format("x-amz-checksum-{}", name_of(algorithm));
    const std::string whole = to_base64(digest_of(algorithm, first_ + "end"));
    const std::string list = listed(1, one) + listed(2, two);
    EXPECT_EQ(
        code_of(complete("/photos/cat", id, list,
                         fmt::format("{}: {}\r\n", name, to_base64(digest_of(algorithm, "x"))))),
        "BadDigest");
    EXPECT_EQ(code_of(complete("/photos/cat", id, list, "x-amz-checksum-sha1: AAAA\r\n")),
              "InvalidRequest");
    EXPECT_EQ(code_of(complete("/photos/cat", id, list, "x-amz-mp-object-size: 7\r\n")),
              "InvalidRequest");
    EXPECT_EQ(code_of(complete("/photos/cat", id, list, "x-amz-checksum-type: COMPOSITE\r\n")),
              "InvalidRequest");
    const auto completed = complete(
        "/photos/cat", id, list,
        fmt::format("{}: {}\r\nx-amz-checksum-type: FULL_OBJECT\r\nx-amz-mp-object-size: {}\r\n",
                    name, whole, first_.size() + 3));
    EXPECT_EQ(completed.element(std::string(xml_name_of(algorithm))), whole) << completed.body;
    EXPECT_EQ(completed.element("ChecksumType"), "FULL_OBJECT");
    EXPECT_EQ(ask("HEAD /photos/cat", "x-amz-checksum-mode: ENABLED\r\n").header(name), whole);
  }
  const auto status = [&](const std::string& headers) {
    return ask("POST /photos/cat?uploads", headers).status;
  };
  EXPECT_EQ(status("x-amz-checksum-algorithm: SHA256\r\nx-amz-checksum-type: FULL_OBJECT\r\n"),
            400);
  EXPECT_EQ(status("x-amz-checksum-algorithm: CRC64NVME\r\nx-amz-checksum-type: COMPOSITE\r\n"),
            400);
  EXPECT_EQ(status("x-amz-checksum-type: COMPOSITE\r\n"), 400);
  EXPECT_EQ(status("x-amz-checksum-algorithm: MD4\r\n"), 400);
  EXPECT_EQ(status("x-amz-server-side-encryption: aws:kms\r\n"), 501);
}

// Newer SDKs send checksums with parts even of uploads that agreed on none.
TEST_F(MultipartTest, ComparesChecksumsThatNobodyAgreedOn) {
  const std::string id = create("/photos/cat");
  const std::string crc = to_base64(digest_of(Algorithm::kCrc32, "meow"));
  const auto one = put("/photos/cat", id, 1, "meow", "x-amz-checksum-crc32: " + crc + "\r\n");
  EXPECT_EQ(one.header("x-amz-checksum-crc32"), crc);
  const std::string list =
      listed(1, one.header("ETag"), "<ChecksumCRC32>" + crc + "</ChecksumCRC32>");
  EXPECT_EQ(code_of(complete("/photos/cat", id, list, "x-amz-checksum-sha1: AAAA\r\n")),
            "InvalidRequest");
  EXPECT_EQ(code_of(complete("/photos/cat", id, list, "x-amz-checksum-crc32: AAAAAA==\r\n")),
            "BadDigest");
  EXPECT_EQ(complete("/photos/cat", id, list, "x-amz-checksum-crc32: " + crc + "\r\n").status, 200);
}

TEST_F(MultipartTest, CopiesParts) {
  ASSERT_EQ(ask("PUT /photos/source", "", "0123456789").status, 200);
  const std::string id = create("/photos/copy", "x-amz-checksum-algorithm: CRC32\r\n");
  const auto copy = [&](int number, const std::string& headers) {
    return ask(fmt::format("PUT /photos/copy?partNumber={}&uploadId={}", number, id),
               "x-amz-copy-source: /photos/source\r\n" + headers);
  };
  const auto whole = copy(1, "");
  EXPECT_TRUE(whole.says("<CopyPartResult"));
  EXPECT_EQ(whole.element("ChecksumCRC32"), to_base64(digest_of(Algorithm::kCrc32, "0123456789")));
  const auto part = copy(1, "x-amz-copy-source-range: bytes=2-4\r\n");
  EXPECT_EQ(part.element("ETag"), "&quot;" + hex_of(digest_of(Algorithm::kMd5, "234")) + "&quot;");
  for (const char* bad : {"bytes=2-10", "bytes=4-2", "bytes=2-", "bytes=-2", "2-4", "bytes=2-4x"}) {
    EXPECT_EQ(code_of(copy(2, fmt::format("x-amz-copy-source-range: {}\r\n", bad))),
              "InvalidArgument")
        << bad;
  }
  EXPECT_EQ(copy(2, "x-amz-copy-source-if-match: \"x\"\r\n").status, 412);
  EXPECT_EQ(code_of(ask(fmt::format("PUT /photos/copy?partNumber=2&uploadId={}", id),
                        "x-amz-copy-source: /photos/none\r\n")),
            "NoSuchKey");
  EXPECT_EQ(complete("/photos/copy", id, listed(1, part.element("ETag"))).status, 200);
  EXPECT_EQ(ask("GET /photos/copy").body, "234");
}

TEST_F(MultipartTest, ServesPartsByNumber) {
  const std::string id = create("/photos/cat");
  const std::string one = put("/photos/cat", id, 3, first_).header("ETag");
  const std::string two = put("/photos/cat", id, 7, "end").header("ETag");
  ASSERT_EQ(complete("/photos/cat", id, listed(3, one) + listed(7, two)).status, 200);
  const auto part = ask("GET /photos/cat?partNumber=2");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "end");
  EXPECT_EQ(part.header("x-amz-mp-parts-count"), "2");
  EXPECT_EQ(part.header("Content-Range"),
            fmt::format("bytes {}-{}/{}", kPartBytes, kPartBytes + 2, kPartBytes + 3));
  EXPECT_EQ(ask("GET /photos/cat?partNumber=1").body, first_);
  EXPECT_EQ(ask("HEAD /photos/cat?partNumber=1").header("x-amz-mp-parts-count"), "2");
  EXPECT_EQ(ask("HEAD /photos/cat").header("x-amz-mp-parts-count"), "");
  EXPECT_EQ(code_of(ask("GET /photos/cat?partNumber=3")), "InvalidPartNumber");
  EXPECT_EQ(ask("GET /photos/cat?partNumber=3").status, 416);
  EXPECT_EQ(code_of(ask("GET /photos/cat?partNumber=0")), "InvalidArgument");
  EXPECT_EQ(code_of(ask("GET /photos/cat?partNumber=1", "Range: bytes=0-1\r\n")), "InvalidRequest");
  EXPECT_EQ(ask_now("GET /photos/cat?partNumber=1").status, 0);
  const auto attributes =
      ask("GET /photos/cat?attributes", "x-amz-object-attributes: ObjectParts\r\n");
  EXPECT_EQ(attributes.element("PartsCount"), "2");
  EXPECT_EQ(attributes.element("Size"), std::to_string(kPartBytes));
  const auto second = ask("GET /photos/cat?attributes",
                          "x-amz-object-attributes: ObjectParts\r\nx-amz-max-parts: 1\r\n"
                          "x-amz-part-number-marker: 1\r\n");
  EXPECT_EQ(second.element("PartNumber"), "2");
  EXPECT_EQ(second.element("IsTruncated"), "false");

  // What came as one is its own first part.
  ASSERT_EQ(ask("PUT /photos/one", "", "meow").status, 200);
  EXPECT_EQ(ask("GET /photos/one?partNumber=1").body, "meow");
  EXPECT_EQ(ask("GET /photos/one?partNumber=1").status, 206);
  EXPECT_EQ(ask("GET /photos/one?partNumber=1").header("x-amz-mp-parts-count"), "");
  EXPECT_EQ(ask("GET /photos/one?partNumber=2").status, 416);
  ASSERT_EQ(ask("PUT /photos/none", "", "").status, 200);
  EXPECT_EQ(ask("GET /photos/none?partNumber=1").status, 200);
}

TEST_F(MultipartTest, ListsParts) {
  const std::string id = create("/photos/cat");
  for (const int number : {1, 2, 5, 10000}) {
    ASSERT_EQ(put("/photos/cat", id, number, std::string(number % 7, 'x')).status, 200);
  }
  const auto all = ask("GET /photos/cat?uploadId=" + id);
  EXPECT_EQ(all.element("NextPartNumberMarker"), "10000");
  EXPECT_EQ(all.element("IsTruncated"), "false");
  EXPECT_EQ(all.element("Size"), "1");
  std::string numbers;
  std::string marker = "0";
  for (int page = 0; page < 4; ++page) {
    const auto answered = ask(
        fmt::format("GET /photos/cat?uploadId={}&max-parts=1&part-number-marker={}", id, marker));
    EXPECT_EQ(answered.element("IsTruncated"), page < 3 ? "true" : "false");
    marker = answered.element("NextPartNumberMarker");
    numbers += answered.element("PartNumber") + " ";
  }
  EXPECT_EQ(numbers, "1 2 5 10000 ");
  EXPECT_FALSE(ask("GET /photos/cat?max-parts=0&uploadId=" + id).says("<Part>"));
  EXPECT_EQ(ask("GET /photos/cat?max-parts=x&uploadId=" + id).status, 400);
}

TEST_F(MultipartTest, ListsUploads) {
  create("/photos/a%20b/1", "x-amz-checksum-algorithm: SHA256\r\n");
  const std::string id = create("/photos/c");
  create("/photos/c");
  const auto all = ask("GET /photos?uploads");
  EXPECT_EQ(all.element("Key"), "a b/1");
  EXPECT_EQ(all.element("ChecksumAlgorithm"), "SHA256");
  EXPECT_EQ(all.element("IsTruncated"), "false");
  EXPECT_EQ(ask("GET /photos?uploads&encoding-type=url").element("Key"), "a%20b/1");
  EXPECT_EQ(ask("GET /photos?uploads&prefix=c").element("UploadId"), id);
  const auto folders = ask("GET /photos?uploads&delimiter=/&max-uploads=2");
  EXPECT_TRUE(folders.says("<CommonPrefixes><Prefix>a b/</Prefix></CommonPrefixes>"));
  EXPECT_EQ(folders.element("NextKeyMarker"), "c");
  EXPECT_EQ(folders.element("NextUploadIdMarker"), id);
  const auto rest = ask("GET /photos?uploads&key-marker=c&upload-id-marker=" + id);
  EXPECT_EQ(rest.element("Key"), "c");
  EXPECT_NE(rest.element("UploadId"), id);
  EXPECT_FALSE(ask("GET /photos?uploads&key-marker=c").says("<Upload>"));
  EXPECT_EQ(ask("GET /photos?uploads&max-uploads=x").status, 400);
}

TEST_F(MultipartTest, IsSweptInEveryBucketWhenAbandoned) {
  ASSERT_TRUE(store_->create_bucket("archive", {}, {}).ok());
  const std::string id = create("/photos/cat");
  ASSERT_EQ(put("/photos/cat", id, 1, "meow").status, 200);
  create("/archive/dog");
  EXPECT_EQ(*sweep_uploads(*store_, std::chrono::hours(1), {}), 0u);
  EXPECT_EQ(*sweep_uploads(*store_, -std::chrono::hours(1), {}), 2u);
  EXPECT_FALSE(ask("GET /photos?uploads").says("<Upload>"));
  EXPECT_FALSE(ask("GET /archive?uploads").says("<Upload>"));
  EXPECT_EQ(code_of(put("/photos/cat", id, 1, "x")), "NoSuchUpload");
}

// With a disk that is full from some call on: a clear error, and no acknowledged part is lost.
class FullDiskTest : public MultipartTest {
 protected:
  void SetUp() override {
    store_ = *local::LocalStore::create({"drive0"}, options());
    ASSERT_TRUE(store_->create_bucket("photos", {}, {}).ok());
    service_.emplace(store_, Access(Anonymous::kWrite), S3Options{});
  }
  local::StoreOptions options() override { return local::testing::simulated_options(disk_); }
  void fill() {
    disk_.fail_call(disk_.calls(), {SimulatedFileSystem::Fault::Kind::kNoSpace,
                                    SimulatedFileSystem::Fault::Lasts::kForever,
                                    SimulatedFileSystem::Calls::kMutating});
  }
  SimulatedFileSystem disk_;
};

TEST_F(FullDiskTest, LosesNoAcknowledgedPart) {
  const std::string id = create("/photos/cat");
  const std::string one = put("/photos/cat", id, 1, first_).header("ETag");
  fill();
  EXPECT_EQ(code_of(put("/photos/cat", id, 2, second_)), "InsufficientStorage");
  EXPECT_EQ(code_of(put("/photos/cat", id, 2, "small")), "InsufficientStorage");
  EXPECT_EQ(code_of(complete("/photos/cat", id, listed(1, one))), "InsufficientStorage");
  EXPECT_EQ(ask("GET /photos/cat").status, 404);
  EXPECT_TRUE(ask("GET /photos/cat?uploadId=" + id).says("<PartNumber>1</PartNumber>"));
  disk_.clear_faults();
  const std::string two = put("/photos/cat", id, 2, second_).header("ETag");
  EXPECT_EQ(complete("/photos/cat", id, listed(1, one) + listed(2, two)).status, 200);
  EXPECT_EQ(ask("GET /photos/cat").body, first_ + second_);
}

}  // namespace
}  // namespace leat::doors::http::s3
