#include "leat/base/url.h"

#include <gtest/gtest.h>

#include <tuple>

namespace leat {
namespace {

using Parts = std::tuple<std::string, std::string, std::string>;

Parts parts_of(std::string_view text) {
  const Result<Url> url = Url::parse(text);
  if (!url) return {"error", std::string(url.error().message()), ""};
  return {url->scheme, url->authority, url->path};
}

TEST(Url, TakesApart) {
  EXPECT_EQ(parts_of("file:///data/x"), Parts("file", "", "/data/x"));
  EXPECT_EQ(parts_of("s3://bucket/a/b?endpoint=http://h:1"), Parts("s3", "bucket", "/a/b"));
  EXPECT_EQ(parts_of("leat://host:9000"), Parts("leat", "host:9000", ""));
  EXPECT_EQ(parts_of("leat+local:///a%2Cb,/c/bucket"), Parts("leat+local", "", "/a%2Cb,/c/bucket"));
  EXPECT_EQ(parts_of("HTTP://Host/P"), Parts("http", "Host", "/P"));
  EXPECT_EQ(parts_of("redis://h/0?hash=mnist"), Parts("redis", "h", "/0"));
}

TEST(Url, OpaqueSchemesHaveOnlyAPath) {
  EXPECT_EQ(parts_of("mem:"), Parts("mem", "", ""));
  EXPECT_EQ(parts_of("mem:a/b"), Parts("mem", "", "a/b"));
  EXPECT_EQ(parts_of("NULL:x?size=4k"), Parts("null", "", "x"));
  EXPECT_EQ(parts_of("mem://a"), Parts("mem", "", "//a"));
}

TEST(Url, WithoutASchemeItIsAPath) {
  EXPECT_EQ(parts_of("data/x"), Parts("file", "", "data/x"));
  EXPECT_EQ(parts_of("/data/x"), Parts("file", "", "/data/x"));
  EXPECT_EQ(parts_of("."), Parts("file", "", "."));
  EXPECT_EQ(parts_of("a:b/c"), Parts("file", "", "a%3Ab/c"));
  EXPECT_EQ(parts_of("c://x"), Parts("file", "", "c%3A//x"));
  EXPECT_EQ(parts_of("notes:today"), Parts("file", "", "notes%3Atoday"));
  EXPECT_EQ(parts_of("3s://x"), Parts("file", "", "3s%3A//x"));
  EXPECT_EQ(parts_of("s 3://x"), Parts("file", "", "s%203%3A//x"));
  EXPECT_EQ(parts_of("50%?a=b"), Parts("file", "", "50%25%3Fa%3Db"));
}

TEST(Url, QueryIsDecoded) {
  const Result<Url> url = Url::parse("s3://b/?a=1&flag&e%20f=%2Fx+y&empty=&&q=a=b?c");
  ASSERT_TRUE(url.ok());
  const std::map<std::string, std::string> expected = {
      {"a", "1"}, {"flag", ""}, {"e f", "/x+y"}, {"empty", ""}, {"q", "a=b?c"}};
  EXPECT_EQ(url->query, expected);
  EXPECT_EQ(url->path, "/");
}

TEST(Url, RefusesWhatIsBroken) {
  for (const std::string_view text :
       {std::string_view(""), std::string_view("s3://b/%"), std::string_view("s3://b/%4"),
        std::string_view("s3://b/%G1"), std::string_view("s3://b%zz/"),
        std::string_view("s3://b?a=%q"), std::string_view("s3://b?a=1&a=2"),
        std::string_view("s3://b?a=1&%61=2"), std::string_view("s3://b?=1"),
        std::string_view("s3://b/%00"), std::string_view("s3://b?a=%00"),
        std::string_view("a\0b", 3), std::string_view("s3://a\0b", 8)}) {
    EXPECT_TRUE(Url::parse(text).failed_with(ErrorCode::kInvalidArgument)) << text;
  }
}

TEST(Url, RoundTrips) {
  for (const char* text :
       {"file:///data/x", "s3://bucket/a%20b?endpoint=http%3A//h&k=%26%3D", "mem:a/b?x=y",
        "mem:", "leat://h:1", "data/x", "a:b/c", "50%?a=b", "//x", "/", "file://"}) {
    const Result<Url> url = Url::parse(text);
    ASSERT_TRUE(url.ok()) << text;
    const Result<Url> again = Url::parse(url->to_string());
    ASSERT_TRUE(again.ok()) << url->to_string();
    EXPECT_EQ(again->scheme, url->scheme) << text;
    EXPECT_EQ(again->authority, url->authority) << text;
    EXPECT_EQ(again->path, url->path) << text;
    EXPECT_EQ(again->query, url->query) << text;
  }
  EXPECT_EQ(Url::parse("/data/a b")->to_string(), "file:///data/a%20b");
}

TEST(PercentCoding, RoundTripsEveryByte) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(*percent_decode(percent_encode(all)), all);
  EXPECT_EQ(percent_encode("a/b c-._~%"), "a%2Fb%20c-._~%25");
  EXPECT_EQ(percent_encode("a/b", "/"), "a/b");
  EXPECT_EQ(*percent_decode("%2f%2F+"), "//+");
  EXPECT_FALSE(percent_decode("%2").ok());
  EXPECT_FALSE(percent_decode("%+1").ok());
}

}  // namespace
}  // namespace leat
