#include "leat/doors/http/s3/service.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "leat/doors/http/s3/testing/s3_fixture.h"
#include "leat/doors/http/s3/xml_writer.h"

namespace leat::doors::http::s3 {
namespace {

using S3ServiceTest = testing::S3Test;

TEST_F(S3ServiceTest, StoresAndServesAnObject) {
  EXPECT_EQ(ask("PUT /photos/a%20b/cat.jpg", "Content-Type: image/jpeg\r\nX-Amz-Meta-Kind: cat\r\n",
                "meow")
                .status,
            200);
  const auto got = ask("GET /photos/a%20b/cat.jpg");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "meow");
  EXPECT_TRUE(got.has("Content-Type: image/jpeg\r\n"));
  EXPECT_TRUE(got.has("x-amz-meta-kind: cat\r\n"));
  EXPECT_TRUE(got.has("ETag: \""));
  EXPECT_TRUE(got.has("Last-Modified: "));
  EXPECT_TRUE(got.has("x-amz-request-id: "));
}

TEST_F(S3ServiceTest, AnswersOnTheLoopWhatItHasReadBefore) {
  ASSERT_EQ(ask("PUT /photos/cat", "", "meow").status, 200);
  EXPECT_EQ(ask_now("GET /photos/cat").status, 0);
  ASSERT_EQ(ask("GET /photos/cat").status, 200);
  const auto quick = ask_now("GET /photos/%63at");
  EXPECT_EQ(quick.status, 200);
  EXPECT_EQ(quick.body, "meow");
  EXPECT_TRUE(quick.has("Content-Type: binary/octet-stream\r\n"));
  const auto part = ask_now("GET /photos/cat", "Range: bytes=1-2\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "eo");
  EXPECT_TRUE(part.has("Content-Range: bytes 1-2/4\r\n"));
  // What needs a second thought.
  EXPECT_EQ(ask_now("GET /photos/cat?versionId=1").status, 0);
  EXPECT_EQ(ask_now("GET /photos/cat", "Range: bytes=4-\r\n").status, 0);
  EXPECT_EQ(ask_now("GET /photos/cat", "If-None-Match: \"x\"\r\n").status, 0);
  EXPECT_EQ(ask_now("GET /photos/%zz").status, 0);
  EXPECT_EQ(ask_now("GET /photos/").status, 0);
  EXPECT_EQ(ask_now("GET /others/cat").status, 0);
}

// An object may be a page that somebody wrote to act as its reader.
TEST_F(S3ServiceTest, TellsBrowsersToRunNothing) {
  ASSERT_EQ(ask("PUT /photos/page", "Content-Type: text/html\r\n", "<script>").status, 200);
  for (const auto& answered :
       {ask("GET /photos/page"), ask("HEAD /photos/page"),
        ask("GET /photos/page", "Range: bytes=0-1\r\n"), ask_now("GET /photos/page"),
        ask_now("HEAD /photos/page"), ask("GET /photos/page?response-content-type=image/svg%2bxml"),
        ask("GET "
            "/photos/page?response-content-security-policy=x&response-x-content-type-options=y")}) {
    EXPECT_EQ(answered.header("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(answered.header("Content-Security-Policy"),
              "default-src 'none'; frame-ancestors 'none'; sandbox");
  }
  // Neither name nor value of an override begins a line of its own.
  for (const char* query : {"response-content-type=a%0d%0aX-Evil:%201", "response-a%0d%0aX-Evil=1",
                            "response-expires=a%0aX-Evil:%201", "response-x-evil=1"}) {
    const auto answered = ask(std::string("GET /photos/page?") + query);
    EXPECT_EQ(answered.status, 200);
    EXPECT_FALSE(answered.has("vil")) << answered.headers;
  }
}

TEST_F(S3ServiceTest, ServesRanges) {
  ASSERT_EQ(ask("PUT /photos/digits", "", "0123456789").status, 200);
  const auto part = [&](const std::string& range) {
    return ask("GET /photos/digits", "Range: " + range + "\r\n");
  };
  EXPECT_EQ(part("bytes=2-4").body, "234");
  EXPECT_EQ(part("bytes=2-4").status, 206);
  EXPECT_TRUE(part("bytes=2-4").has("Content-Range: bytes 2-4/10\r\n"));
  EXPECT_EQ(part("bytes=7-").body, "789");
  EXPECT_EQ(part("bytes=7-99").body, "789");
  EXPECT_EQ(part("bytes=-3").body, "789");
  EXPECT_EQ(part("bytes=-99").body, "0123456789");
  EXPECT_EQ(part("bytes=10-").status, 416);
  EXPECT_EQ(part("bytes=-0").status, 416);
  // What is no range is no reason to refuse.
  for (const char* range : {"lines=1-2", "bytes=4-2", "bytes=x-", "bytes=", "bytes=0-1,3-4"}) {
    EXPECT_EQ(part(range).status, 200) << range;
  }
}

TEST_F(S3ServiceTest, TellsErrorsAsS3Does) {
  const auto missing = ask("GET /photos/none");
  EXPECT_EQ(missing.status, 404);
  EXPECT_NE(missing.body.find("<Code>NoSuchKey</Code>"), std::string::npos);
  EXPECT_EQ(ask("HEAD /photos/none").body, "");
  EXPECT_EQ(ask("PUT /photos/short", "", "").status, 200);
  EXPECT_EQ(ask("GET /photos/%").status, 400);
  EXPECT_EQ(ask("GET /photos?analytics").status, 501);
}

TEST_F(S3ServiceTest, AnswersConditionsOfReaders) {
  ASSERT_EQ(ask("PUT /photos/cat", "", "meow").status, 200);
  const auto got = ask("GET /photos/cat");
  const std::size_t at = got.headers.find("ETag: ") + 6;
  const std::string etag = got.headers.substr(at, got.headers.find("\r\n", at) - at);
  const auto status = [&](const std::string& header) {
    return ask("GET /photos/cat", header + "\r\n").status;
  };
  EXPECT_EQ(status("If-Match: " + etag), 200);
  EXPECT_EQ(status("If-Match: \"x\", " + etag), 200);
  EXPECT_EQ(status("If-Match: \"x\""), 412);
  EXPECT_EQ(status("If-None-Match: " + etag), 304);
  EXPECT_EQ(status("If-None-Match: *"), 304);
  EXPECT_EQ(status("If-None-Match: \"x\""), 200);
  EXPECT_EQ(status("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"), 200);
  EXPECT_EQ(status("If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"), 304);
  EXPECT_EQ(status("If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"), 412);
  EXPECT_EQ(status("If-Modified-Since: yesterday"), 200);
  EXPECT_EQ(ask("GET /photos/cat", "If-None-Match: *\r\n").body, "");
}

TEST_F(S3ServiceTest, HoldsWritersToTheirConditions) {
  EXPECT_EQ(ask("PUT /photos/cat", "If-Match: \"x\"\r\n", "a").status, 412);
  EXPECT_EQ(ask("PUT /photos/cat", "If-None-Match: *\r\n", "b").status, 200);
  EXPECT_EQ(ask("PUT /photos/cat", "If-None-Match: *\r\n", "c").status, 412);
  EXPECT_EQ(ask("PUT /photos/cat", "If-None-Match: \"x\"\r\n", "d").status, 501);
  EXPECT_EQ(ask("GET /photos/cat").body, "b");
  EXPECT_EQ(ask("DELETE /photos/cat", "If-Match: \"x\"\r\n").status, 412);
  EXPECT_EQ(ask("DELETE /photos/cat").status, 204);
  EXPECT_EQ(ask("DELETE /photos/cat").status, 204);
  EXPECT_EQ(ask("GET /photos/cat").status, 404);
}

TEST_F(S3ServiceTest, OverridesHeadersOfALink) {
  ASSERT_EQ(ask("PUT /photos/cat", "Content-Type: image/jpeg\r\n", "meow").status, 200);
  const auto got =
      ask("GET /photos/cat?response-content-type=text%2Fplain&"
          "response-content-disposition=attachment%0d%0aX:y");
  EXPECT_TRUE(got.has("content-type: text/plain\r\n"));
  EXPECT_FALSE(got.has("image/jpeg"));
  EXPECT_FALSE(got.has("attachment"));
}

TEST_F(S3ServiceTest, MakesListsAndRemovesBuckets) {
  EXPECT_EQ(ask("PUT /fresh").status, 200);
  EXPECT_EQ(ask("PUT /fresh").status, 409);
  EXPECT_EQ(ask("PUT /No").status, 400);
  EXPECT_EQ(ask("HEAD /fresh").status, 200);
  EXPECT_EQ(ask("HEAD /none").status, 404);
  const auto list = ask("GET /");
  EXPECT_NE(list.body.find("<Name>fresh</Name>"), std::string::npos);
  EXPECT_NE(list.body.find("<Name>photos</Name>"), std::string::npos);
  EXPECT_NE(ask("GET /fresh?location").body.find("LocationConstraint"), std::string::npos);
  EXPECT_EQ(ask("PUT /fresh/x", "", "x").status, 200);
  EXPECT_NE(ask("DELETE /fresh").body.find("BucketNotEmpty"), std::string::npos);
  EXPECT_EQ(ask("DELETE /fresh/x").status, 204);
  EXPECT_EQ(ask("DELETE /fresh").status, 204);
  EXPECT_NE(ask("GET /fresh/x").body.find("NoSuchBucket"), std::string::npos);
  EXPECT_NE(ask("DELETE /fresh").body.find("NoSuchBucket"), std::string::npos);
}

TEST_F(S3ServiceTest, ListsObjectsPageByPage) {
  for (const char* name : {"a", "b%01%26", "dir/1", "dir/2", "e"}) {
    ASSERT_EQ(ask(std::string("PUT /photos/") + name, "", "x").status, 200);
  }
  const auto tag = [](const std::string& xml, const std::string& name) {
    const std::size_t at = xml.find("<" + name + ">");
    if (at == xml.npos) return std::string("(none)");
    const std::size_t start = at + name.size() + 2;
    return xml.substr(start, xml.find("</" + name + ">") - start);
  };
  std::string seen;
  std::string token;
  for (int page = 0; page < 5; ++page) {
    const auto list =
        ask("GET /photos?list-type=2&delimiter=%2F&encoding-type=url&max-keys=1" + token);
    ASSERT_EQ(list.status, 200);
    EXPECT_EQ(tag(list.body, "KeyCount"), "1");
    seen += tag(list.body, "Key") + tag(list.body, "CommonPrefixes") + " ";
    if (tag(list.body, "IsTruncated") == "false") break;
    token = "&continuation-token=" + tag(list.body, "NextContinuationToken");
    for (std::size_t at = 0; (at = token.find('%', at)) != token.npos; at += 3)
      token.replace(at, 1, "%25");
  }
  EXPECT_EQ(seen, "a(none) b%01%26(none) (none)<Prefix>dir/</Prefix> e(none) ");
  const auto first = ask("GET /photos?max-keys=2");
  EXPECT_EQ(tag(first.body, "IsTruncated"), "true");
  EXPECT_EQ(tag(ask("GET /photos?marker=dir/1&prefix=dir/").body, "Key"), "dir/2");
  EXPECT_EQ(tag(ask("GET /photos?max-keys=0").body, "IsTruncated"), "false");
  EXPECT_EQ(ask("GET /photos?max-keys=x").status, 400);
  EXPECT_EQ(ask("GET /photos?encoding-type=x").status, 400);
}

TEST_F(S3ServiceTest, NeverTakesOneOperationForAnother) {
  ASSERT_EQ(ask("PUT /photos/cat", "", "meow").status, 200);
  for (const char* line :
       {"PUT /photos/cat?acl", "PUT /photos/cat?tagging", "GET /photos/cat?torrent",
        "PUT /photos?acl", "PUT /photos?policy", "DELETE /photos?lifecycle",
        "POST /photos/cat?restore", "PUT /photos/cat?uploads", "POST /photos?uploads",
        "GET /photos/cat?uploads", "GET /photos?uploadId=x", "PUT /photos/cat?delete",
        "GET /photos/cat?delete", "PUT /photos?delete", "POST /photos/cat?delete",
        "GET /photos?location&policy"}) {
    EXPECT_EQ(ask(line, "", "").status, 501) << line;
  }
  EXPECT_EQ(ask("PUT /photos/cat?partNumber=1").status, 501);
  EXPECT_EQ(ask("PUT /photos/cat?partNumber=1&acl").status, 501);
  for (const char* header :
       {"x-amz-server-side-encryption: AES256", "x-amz-tagging: a=b", "x-amz-acl: public-read",
        "x-amz-grant-read: id=1", "x-amz-object-lock-mode: GOVERNANCE"}) {
    EXPECT_EQ(ask("PUT /photos/cat", std::string(header) + "\r\n", "x").status, 501) << header;
  }
  EXPECT_EQ(ask("GET /photos/cat").body, "meow");
}

// A clock that stands still, at the time of the signatures below.
class StoppedClock final : public Clock {
 public:
  MonotonicTime now() const override { return {}; }
  std::int64_t wall_ns() const override { return 1369353600'000'000'000; }
  void sleep_for(std::chrono::nanoseconds /*duration*/) const override {}
};

TEST_F(S3ServiceTest, AsksForKeysUnlessToldOtherwise) {
  ASSERT_EQ(ask("PUT /photos/cat", "", "meow").status, 200);
  ASSERT_EQ(ask("GET /photos/cat").status, 200);
  service_.emplace(store_, Access(), S3Options{});
  for (const char* line :
       {"GET /photos/cat", "PUT /photos/cat", "DELETE /photos/cat", "GET /photos", "GET /",
        "PUT /fresh", "DELETE /photos", "POST /photos?delete"}) {
    EXPECT_EQ(ask(line).status, 403) << line;
  }
  EXPECT_EQ(ask_now("GET /photos/cat").status, 0);
  service_.emplace(store_, Access(Anonymous::kRead), S3Options{});
  EXPECT_EQ(ask("GET /photos/cat").status, 200);
  EXPECT_EQ(ask_now("GET /photos/cat").status, 200);
  EXPECT_EQ(ask("PUT /photos/cat", "", "x").status, 403);
  EXPECT_EQ(ask("PUT /fresh").status, 403);
}

TEST_F(S3ServiceTest, ComparesABodyWithItsSignedHashBeforeItIsSeen) {
  const StoppedClock clock;
  S3Options options;
  options.domains = {"s3.amazonaws.com"};
  options.clock = &clock;
  Access access;
  ASSERT_TRUE(access
                  .add_keys("AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY "
                            "write:examplebucket")
                  .ok());
  service_.emplace(store_, std::move(access), options);
  ASSERT_TRUE(store_->create_bucket("examplebucket", {}, {}).ok());
  // Amazon's published example of a PUT.
  const auto put = [&](const std::string& body) {
    const std::string text = fmt::format(
        "PUT /test$file.text HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\n"
        "Date: Fri, 24 May 2013 00:00:00 GMT\r\nx-amz-date: 20130524T000000Z\r\n"
        "x-amz-storage-class: REDUCED_REDUNDANCY\r\nx-amz-content-sha256: "
        "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072\r\n"
        "Content-Length: {}\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/"
        "20130524/us-east-1/s3/aws4_request,SignedHeaders=date;host;x-amz-content-sha256;"
        "x-amz-date;x-amz-storage-class,Signature="
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd\r\n\r\n",
        body.size());
    RequestHead head;
    EXPECT_TRUE(head.parse(text).ok());
    const auto exchange = service_->begin(head);
    (void)exchange->consume(std::as_bytes(std::span(body)), {});
    return exchange->respond({}).status;
  };
  const auto bucket = *store_->bucket("examplebucket");
  EXPECT_EQ(put("Welcome to Amazon S4."), 400);
  EXPECT_FALSE(bucket->stat("test$file.text", {}).ok());
  EXPECT_EQ(put("Welcome to Amazon S3."), 200);
  EXPECT_TRUE(bucket->stat("test$file.text", {}).ok());
}

TEST(XmlWriter, IsWellFormedWhateverTheTextIs) {
  XmlWriter xml;
  {
    const auto root = xml.root("List");
    xml.text("Key", "a<b>&\"c\"\r\n\x01\xff");
    xml.number("Size", 12);
  }
  EXPECT_EQ(std::move(xml).take(),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<List xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            "<Key>a&lt;b&gt;&amp;&quot;c&quot;&#13;\n\xef\xbf\xbd\xef\xbf\xbd</Key>"
            "<Size>12</Size></List>");
}

TEST(Address, IsReadFromPathOrHost) {
  const auto address = [](const std::string& path, const std::string& host) {
    const std::string text = "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
    RequestHead head;
    EXPECT_TRUE(head.parse(text).ok());
    const std::array<std::string, 2> domains{"s3.node", "localhost"};
    const auto found = address_of(head, domains);
    return found.ok() ? found->bucket + "|" + found->key : "malformed";
  };
  EXPECT_EQ(address("/photos/a/b%2Fc", "127.0.0.1:9000"), "photos|a/b/c");
  EXPECT_EQ(address("/photos", "s3.node"), "photos|");
  EXPECT_EQ(address("/photos/", "s3.node"), "photos|");
  EXPECT_EQ(address("/", "localhost:9000"), "|");
  EXPECT_EQ(address("/a/b", "photos.s3.node:9000"), "photos|a/b");
  EXPECT_EQ(address("/", "my.photos.localhost"), "my.photos|");
  EXPECT_EQ(address("/a/b", "evil-s3.node"), "a|b");
  EXPECT_EQ(address("/photos//a/../b", "[::1]:9000"), "photos|/a/../b");
  EXPECT_EQ(address("/photos/%4", "x"), "malformed");
}

TEST(Query, IsDecoded) {
  const auto query = Query::parse("list-type=2&prefix=a%2Fb+c&acl&&empty=");
  ASSERT_TRUE(query.ok());
  EXPECT_EQ(query->find("list-type"), "2");
  EXPECT_EQ(query->find("prefix"), "a/b c");
  EXPECT_EQ(query->find("acl"), "");
  EXPECT_EQ(query->find("empty"), "");
  EXPECT_FALSE(query->has("none"));
  EXPECT_FALSE(Query::parse("a=%").ok());
}

}  // namespace
}  // namespace leat::doors::http::s3
