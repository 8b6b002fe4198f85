#include "leat/http/response_head.h"

#include <gtest/gtest.h>

#include <string>

namespace leat::http {
namespace {

TEST(ResponseHead, TakesAnAnswerApart) {
  ResponseHead head;
  ASSERT_TRUE(head.parse("HTTP/1.1 206 Partial Content\r\nContent-Length: 12\r\n"
                         "ETag:  \"x\" \r\n\r\n")
                  .ok());
  EXPECT_EQ(head.status(), 206);
  EXPECT_EQ(head.content_length(), 12u);
  EXPECT_FALSE(head.is_chunked());
  EXPECT_TRUE(head.keeps_alive());
  EXPECT_EQ(head.header("etag"), "\"x\"");
  EXPECT_EQ(head.header("none"), std::nullopt);
}

TEST(ResponseHead, KnowsHowTheBodyEnds) {
  ResponseHead head;
  ASSERT_TRUE(head.parse("HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n").ok());
  EXPECT_TRUE(head.is_chunked());
  ASSERT_TRUE(head.parse("HTTP/1.1 200 \r\nConnection: close\r\n\r\n").ok());
  EXPECT_FALSE(head.is_chunked());
  EXPECT_FALSE(head.keeps_alive());
  EXPECT_EQ(head.content_length(), std::nullopt);
  ASSERT_TRUE(head.parse("HTTP/1.0 200 OK\r\n\r\n").ok());
  EXPECT_FALSE(head.keeps_alive());
  ASSERT_TRUE(head.parse("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n").ok());
  EXPECT_TRUE(head.keeps_alive());
}

TEST(ResponseHead, RefusesWhatIsNone) {
  for (const char* text :
       {"", "\r\n\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 99 Low\r\n\r\n", "HTTP/1.1 999 High\r\n\r\n", "HTTP/1.12200 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"}) {
    ResponseHead head;
    EXPECT_TRUE(head.parse(text).failed_with(ErrorCode::kCorrupted)) << text;
  }
  std::string many = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 600; ++i) many += "a: b\r\n";
  ResponseHead head;
  EXPECT_TRUE(head.parse(many + "\r\n").failed_with(ErrorCode::kCorrupted));
}

}  // namespace
}  // namespace leat::http
