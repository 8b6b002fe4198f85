#include "leat/doors/http/guard.h"

#include <gtest/gtest.h>

namespace leat::doors::http {
namespace {

TEST(Guard, KnowsItsOwnHosts) {
  const std::vector<std::string> names{"Storage.Example"};
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:9000", "192.168.7.3:9000", "[::1]", "[::1]:9000", "localhost",
        "LocalHost:9000", "storage.example", "storage.EXAMPLE:9000"}) {
    EXPECT_TRUE(is_own_host(host, names)) << host;
  }
  for (const char* host : {"", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example",
                           "storage.example.evil", "sub.storage.example", "[::1", "[", ":9000"}) {
    EXPECT_EQ(is_own_host(host, names), std::string_view(host) == "[::1") << host;
  }
}

Status check(const std::string& method, const std::string& headers) {
  const std::string text = method + " / HTTP/1.1\r\nHost: 127.0.0.1:9000\r\n" + headers + "\r\n";
  leat::http::RequestHead head;
  EXPECT_TRUE(head.parse(text).ok());
  return check_sender(head, {});
}

TEST(Guard, RefusesPagesOfOthers) {
  EXPECT_TRUE(check("GET", "").ok());
  EXPECT_TRUE(check("GET", "Origin: http://127.0.0.1:9000\r\n").ok());
  for (const char* origin : {"http://evil.example", "null", "http://127.0.0.1",
                             "http://127.0.0.1:9001", "http://127.0.0.1:9000.evil.example"}) {
    EXPECT_TRUE(check("GET", "Origin: " + std::string(origin) + "\r\n")
                    .failed_with(ErrorCode::kPermissionDenied))
        << origin;
  }
}

TEST(Guard, AsksForAHeaderThatPagesCannotSend) {
  for (const char* method : {"PUT", "POST", "DELETE"}) {
    EXPECT_TRUE(check(method, "").failed_with(ErrorCode::kPermissionDenied));
    EXPECT_TRUE(check(method, "x-leat-request: 1\r\n").ok());
  }
}

}  // namespace
}  // namespace leat::doors::http
