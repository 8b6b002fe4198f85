#include "leat/http/request_head.h"

#include <gtest/gtest.h>

#include <string>

namespace leat::http {
namespace {

Status parse(RequestHead& head, std::string_view text) {
  EXPECT_EQ(RequestHead::find_end(text, 0), text.size()) << text;
  return head.parse(text);
}

std::optional<ErrorCode> code_of(std::string_view text) {
  RequestHead head;
  const auto status = head.parse(text);
  if (status.ok()) return std::nullopt;
  return status.error().code();
}

TEST(RequestHead, TakesAnOrdinaryRequestApart) {
  RequestHead head;
  const std::string text =
      "PUT /bucket/a%20b?x-id=PutObject&part=1 HTTP/1.1\r\nHost: node:9000\r\n"
      "Content-Length: 12\r\nX-Amz-Meta-Kind:  a b\t\r\nExpect: 100-Continue\r\n\r\n";
  ASSERT_TRUE(parse(head, text).ok());
  EXPECT_EQ(head.method(), Method::kPut);
  EXPECT_EQ(head.path(), "/bucket/a%20b");
  EXPECT_EQ(head.query(), "x-id=PutObject&part=1");
  EXPECT_EQ(head.host(), "node:9000");
  EXPECT_EQ(head.content_length(), 12u);
  EXPECT_EQ(head.header("x-amz-meta-kind"), "a b");
  EXPECT_EQ(head.header("absent"), std::nullopt);
  EXPECT_TRUE(head.expects_continue());
  EXPECT_TRUE(head.keeps_alive());
  EXPECT_TRUE(head.has_body());
}

TEST(RequestHead, FindsItsEndInPieces) {
  const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n\r\nrest";
  for (std::size_t count = 0; count < text.size(); ++count) {
    const std::string_view part(text.data(), count);
    for (std::size_t searched = 0; searched < count; ++searched) {
      const bool was_there = RequestHead::find_end(part.substr(0, searched), 0) != 0;
      if (was_there) break;
      EXPECT_EQ(RequestHead::find_end(part, searched), count >= 27 ? 27u : 0u) << count;
    }
  }
}

TEST(RequestHead, ForgetsTheRequestBefore) {
  RequestHead head;
  ASSERT_TRUE(parse(head, "PUT /a HTTP/1.0\r\nTransfer-Encoding: x\r\n\r\n")
                  .failed_with(ErrorCode::kUnsupported));
  ASSERT_TRUE(
      parse(head, "PUT /a?b HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nConnection: close\r\n\r\n")
          .ok());
  ASSERT_TRUE(parse(head, "GET /c HTTP/1.1\r\nHost: h\r\n\r\n").ok());
  EXPECT_EQ(head.query(), "");
  EXPECT_EQ(head.content_length(), std::nullopt);
  EXPECT_EQ(head.headers().size(), 1u);
  EXPECT_TRUE(head.keeps_alive());
}

TEST(RequestHead, KnowsWhenTheConnectionIsKept) {
  RequestHead head;
  ASSERT_TRUE(parse(head, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n").ok());
  EXPECT_FALSE(head.keeps_alive());
  ASSERT_TRUE(parse(head, "GET / HTTP/1.0\r\n\r\n").ok());
  EXPECT_FALSE(head.keeps_alive());
  ASSERT_TRUE(parse(head, "GET / HTTP/1.0\r\nConnection: te, Keep-Alive\r\n\r\n").ok());
  EXPECT_TRUE(head.keeps_alive());
}

TEST(RequestHead, TakesTheFormThatAProxyGets) {
  RequestHead head;
  ASSERT_TRUE(parse(head, "GET http://node:9000/b/k?x HTTP/1.1\r\nHost: other\r\n\r\n").ok());
  EXPECT_EQ(head.host(), "node:9000");
  EXPECT_EQ(head.path(), "/b/k");
  EXPECT_EQ(head.query(), "x");
  ASSERT_TRUE(parse(head, "GET HTTP://node HTTP/1.1\r\nHost: other\r\n\r\n").ok());
  EXPECT_EQ(head.path(), "/");
}

TEST(RequestHead, RefusesWhatCouldBeReadInTwoWays) {
  const std::string_view refused[] = {
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
      "chunked\r\n\r\n",
      "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551616\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: a\nContent-Length: 4\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
      "GET / HTTP/1.1\nHost: a\n\r\n\r\n",
      "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET a HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /#x HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / \r\nHost: a\r\n\r\n",
      "G\x01T / HTTP/1.1\r\nHost: a\r\n\r\n",
      " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n",
  };
  for (const std::string_view text : refused) {
    EXPECT_EQ(code_of(text), ErrorCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(code_of("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), ErrorCode::kUnsupported);
  EXPECT_EQ(code_of("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
            ErrorCode::kUnsupported);
}

TEST(RequestHead, RefusesTooManyHeaders) {
  std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (std::size_t i = 1; i < RequestHead::kMaxHeaders; ++i) text += "X: y\r\n";
  EXPECT_EQ(code_of(text + "\r\n"), std::nullopt);
  EXPECT_EQ(code_of(text + "X: y\r\n\r\n"), ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace leat::http
