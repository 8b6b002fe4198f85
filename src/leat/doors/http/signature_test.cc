#include "leat/doors/http/signature.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace leat::doors::http {
namespace {

// The examples of Amazon's documentation of the signature, with its public example key.
constexpr std::string_view kAccess = "AKIAIOSFODNN7EXAMPLE";
constexpr std::string_view kSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
constexpr std::time_t kNow = 1369353600;  // 2013-05-24 00:00:00
constexpr std::string_view kEmptyHash =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::optional<std::string> secret_of(std::string_view access_key) {
  if (access_key != kAccess) return std::nullopt;
  return std::string(kSecret);
}

std::string code_of(const std::string& text, std::time_t now = kNow) {
  leat::http::RequestHead head;
  EXPECT_TRUE(head.parse(text).ok()) << text;
  const Query query = *Query::parse(head.query());
  const auto check = check_signature({head, query}, secret_of, now);
  if (check.error) return check.error->code;
  return check.signer.access_key.empty() ? "anonymous" : "good";
}

struct Parts {
  std::string path = "/test.txt";
  std::string range = "bytes=0-9";
  std::string credential = "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request";
  std::string signed_headers = "host;range;x-amz-content-sha256;x-amz-date";
  std::string signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
  std::string date = "20130524T000000Z";
  std::string more = "";  // headers that are not signed
};

std::string get(const Parts& parts) {
  return fmt::format(
      "GET {} HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\nRange: {}\r\n"
      "x-amz-content-sha256: {}\r\nx-amz-date: {}\r\n{}"
      "Authorization: AWS4-HMAC-SHA256 Credential={}, SignedHeaders={}, Signature={}\r\n\r\n",
      parts.path, parts.range, kEmptyHash, parts.date, parts.more, parts.credential,
      parts.signed_headers, parts.signature);
}

std::string presigned(std::string_view signature, std::string_view expires = "86400",
                      std::string_view path = "/test.txt") {
  return fmt::format(
      "GET {}?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2F"
      "us-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires={}&"
      "X-Amz-SignedHeaders=host&X-Amz-Signature={} HTTP/1.1\r\n"
      "Host: examplebucket.s3.amazonaws.com\r\n\r\n",
      path, expires, signature);
}
constexpr std::string_view kPresigned =
    "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";

TEST(Signature, OfTheDocumentationIsGood) {
  EXPECT_EQ(code_of(get({})), "good");
  EXPECT_EQ(code_of(presigned(kPresigned)), "good");
  // PUT of "test$file.text", whose name is encoded in what is signed.
  EXPECT_EQ(
      code_of("PUT /test$file.text HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\n"
              "Date: Fri, 24 May 2013 00:00:00 GMT\r\nx-amz-date: 20130524T000000Z\r\n"
              "x-amz-storage-class: REDUCED_REDUNDANCY\r\nx-amz-content-sha256: "
              "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072\r\n"
              "Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/"
              "s3/aws4_request,SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;"
              "x-amz-storage-class,Signature="
              "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd\r\n\r\n"),
      "good");
  EXPECT_EQ(code_of("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "anonymous");
}

TEST(Signature, FailsWhenAnythingSignedIsChanged) {
  EXPECT_EQ(code_of(get({.path = "/test.txu"})), "SignatureDoesNotMatch");
  EXPECT_EQ(code_of(get({.path = "/test.txt?acl"})), "SignatureDoesNotMatch");
  EXPECT_EQ(code_of(get({.range = "bytes=0-8"})), "SignatureDoesNotMatch");
  EXPECT_EQ(code_of(get({.signature = std::string(64, '0')})), "SignatureDoesNotMatch");
  EXPECT_EQ(code_of(get({.signature = "f0"})), "SignatureDoesNotMatch");
  EXPECT_EQ(code_of(get({.credential = "AKIAIOSFODNN7EXAMPLE/20130524/eu-west-1/s3/aws4_request"})),
            "SignatureDoesNotMatch");
  EXPECT_EQ(code_of(presigned(kPresigned, "86401")), "SignatureDoesNotMatch");
  EXPECT_EQ(code_of(presigned(kPresigned, "86400", "/other")), "SignatureDoesNotMatch");
}

TEST(Signature, FailsWhenTooLittleIsSigned) {
  EXPECT_EQ(code_of(get({.more = "x-amz-acl: public-read\r\n"})), "AccessDenied");
  EXPECT_EQ(code_of(get({.signed_headers = "range;x-amz-content-sha256;x-amz-date"})),
            "AccessDenied");
  EXPECT_EQ(code_of(get({.signed_headers = "host;range;x-amz-content-sha256;x-amz-date;x-none"})),
            "AccessDenied");
}

TEST(Signature, FailsAtTheWrongTime) {
  EXPECT_EQ(code_of(get({}), kNow + 14 * 60), "good");
  EXPECT_EQ(code_of(get({}), kNow + 16 * 60), "RequestTimeTooSkewed");
  EXPECT_EQ(code_of(get({}), kNow - 16 * 60), "RequestTimeTooSkewed");
  EXPECT_EQ(code_of(presigned(kPresigned), kNow + 86400), "good");
  EXPECT_EQ(code_of(presigned(kPresigned), kNow + 86401), "AccessDenied");
  EXPECT_EQ(code_of(presigned(kPresigned), kNow - 3600), "AccessDenied");
  EXPECT_EQ(code_of(presigned(kPresigned, "604801")), "AuthorizationQueryParametersError");
  EXPECT_EQ(code_of(presigned(kPresigned, "0")), "AuthorizationQueryParametersError");
}

TEST(Signature, FailsForWhatIsMalformedOrUnknown) {
  EXPECT_EQ(code_of(get({.credential = "NOBODY/20130524/us-east-1/s3/aws4_request"})),
            "InvalidAccessKeyId");
  for (const char* credential :
       {"", "AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE/20130525/us-east-1/s3/aws4_request",
        "AKIAIOSFODNN7EXAMPLE/2013/us-east-1/s3/aws4_request",
        "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/ec2/aws4_request",
        "a/AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request"}) {
    EXPECT_EQ(code_of(get({.credential = credential})), "AuthorizationHeaderMalformed")
        << credential;
  }
  for (const char* date : {"", "20130524", "2013-05-24T00:00Z", "20130524T0000-1Z"}) {
    EXPECT_EQ(code_of(get({.date = date})), "AuthorizationHeaderMalformed") << date;
  }
  EXPECT_EQ(code_of("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Basic eDp5\r\n\r\n"),
            "AuthorizationHeaderMalformed");
  EXPECT_EQ(code_of(presigned(kPresigned, "x")), "AuthorizationHeaderMalformed");
}

}  // namespace
}  // namespace leat::doors::http
