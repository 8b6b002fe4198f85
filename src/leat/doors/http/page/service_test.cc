#include "leat/doors/http/page/service.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "leat/doors/http/front.h"

namespace leat::doors::http::page {
namespace {

struct Shown {
  int status = 0;
  std::string headers;
  std::string body;
  std::optional<std::uint64_t> length_of_head;
  bool has(std::string_view text) const { return headers.find(text) != headers.npos; }
};

// On the loop and on the pool: both must say the same.
Shown ask(const std::string& first_line, const std::string& headers = "") {
  PageService service;
  const std::string text = fmt::format("{} HTTP/1.1\r\nHost: x\r\n{}\r\n", first_line, headers);
  RequestHead head;
  EXPECT_TRUE(head.parse(text).ok()) << text;
  std::array<char, 4096> room{};
  const auto quick = service.answer_now(head, {.headers = room, .body = {}});
  EXPECT_TRUE(quick.has_value());
  Shown shown{quick->status, std::string(room.data(), quick->header_bytes),
              std::string(reinterpret_cast<const char*>(quick->body.data()), quick->body.size()),
              quick->length_of_head};
  const Answer answer = service.begin(head)->respond({});
  EXPECT_EQ(answer.status, shown.status);
  EXPECT_EQ(answer.headers, shown.headers);
  EXPECT_EQ(std::get<std::string>(answer.body), shown.body);
  EXPECT_EQ(answer.length_of_head, shown.length_of_head);
  return shown;
}

TEST(PageService, ServesItsFilesAndNothingElse) {
  for (const char* path : {"/leat", "/leat/", "/leat?x=1", "/leat/page/index.html"}) {
    const Shown shown = ask(fmt::format("GET {}", path));
    EXPECT_EQ(shown.status, 200) << path;
    EXPECT_TRUE(shown.has("Content-Type: text/html; charset=utf-8\r\n"));
    EXPECT_TRUE(shown.body.starts_with("<!doctype html>")) << path;
  }
  EXPECT_TRUE(ask("GET /leat/page/leat.js").has("Content-Type: text/javascript"));
  EXPECT_TRUE(ask("GET /leat/page/leat.css").has("Content-Type: text/css"));
  for (const char* path : {"/leat/page/", "/leat/page/none.js", "/leat/page/../leat.js",
                           "/leat/page/%2e%2e/leat.js", "/leat/page/leat.js/"}) {
    EXPECT_EQ(ask(fmt::format("GET {}", path)).status, 404) << path;
  }
  EXPECT_EQ(ask("POST /leat").status, 405);
  EXPECT_EQ(ask("DELETE /leat/page/leat.js").status, 405);
}

TEST(PageService, TellsBrowsersWhatTheyMayDo) {
  for (const char* line :
       {"GET /leat", "GET /leat/page/leat.js", "GET /leat/page/none", "PUT /leat"}) {
    const Shown shown = ask(line);
    EXPECT_TRUE(shown.has("Content-Security-Policy: default-src 'none'; script-src 'self'; "));
    EXPECT_TRUE(shown.has("frame-ancestors 'none'"));
    EXPECT_FALSE(shown.has("unsafe"));
    EXPECT_TRUE(shown.has("X-Content-Type-Options: nosniff\r\n"));
  }
}

TEST(PageService, IsSentOnceAndCheckedAfterwards) {
  const Shown first = ask("GET /leat");
  const std::size_t begin = first.headers.find("ETag: ") + 6;
  const std::string etag = first.headers.substr(begin, first.headers.find("\r\n", begin) - begin);
  const Shown again = ask("GET /leat", fmt::format("If-None-Match: W/\"x\", {}\r\n", etag));
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_TRUE(again.has("ETag: " + etag));
  EXPECT_EQ(ask("GET /leat", "If-None-Match: \"x\"\r\n").status, 200);
  const Shown head = ask("HEAD /leat");
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(head.length_of_head, first.body.size());
}

// A file that another asks for and that is not embedded would be seen in a browser only.
TEST(PageService, HasEveryFileThatItsFilesAskFor) {
  std::set<std::string, std::less<>> names;
  for (const EmbeddedFile& file : page_files()) names.emplace(file.name);
  for (const EmbeddedFile& file : page_files()) {
    for (const std::string_view mark :
         {std::string_view("\"/leat/page/"), std::string_view("from \"./")}) {
      for (std::size_t at = file.text.find(mark); at != file.text.npos;
           at = file.text.find(mark, at + 1)) {
        const std::size_t begin = at + mark.size();
        const auto name = file.text.substr(begin, file.text.find('"', begin) - begin);
        EXPECT_TRUE(names.contains(name)) << file.name << " asks for " << name;
      }
    }
  }
}

class Named final : public Application {
 public:
  explicit Named(int status) : status_(status) {}
  std::optional<QuickAnswer> answer_now(const RequestHead& /*head*/,
                                        const QuickSpace& /*space*/) override {
    QuickAnswer answer;
    answer.status = status_;
    return answer;
  }
  std::unique_ptr<Exchange> begin(const RequestHead& /*head*/) override { return nullptr; }
  Answer refuse(const BadRequest& /*request*/) override { return {}; }

 private:
  const int status_;
};

TEST(Front, KnowsWhoseAPathIs) {
  constexpr int kPage = 1;
  constexpr int kNative = 2;
  constexpr int kS3 = 3;
  Named page(kPage);
  Named native(kNative);
  Named s3(kS3);
  Front front({.page = page, .native = native, .s3 = s3}, {"storage.example"});
  const auto whose = [&](const std::string& path, const std::string& host) {
    RequestHead head;
    const std::string text = fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", path, host);
    EXPECT_TRUE(head.parse(text).ok());
    return front.answer_now(head, {})->status;
  };
  for (const char* host : {"127.0.0.1:9000", "storage.example"}) {
    EXPECT_EQ(whose("/leat", host), kPage);
    EXPECT_EQ(whose("/leat/", host), kPage);
    EXPECT_EQ(whose("/leat/page/leat.js", host), kPage);
    EXPECT_EQ(whose("/leat/v1/health", host), kNative);
    EXPECT_EQ(whose("/leat/pages", host), kNative);
    EXPECT_EQ(whose("/leather", host), kS3);
    EXPECT_EQ(whose("/", host), kS3);
  }
  EXPECT_EQ(whose("/leat", "photos.storage.example"), kS3);
  EXPECT_EQ(whose("/leat/page/leat.js", "photos.storage.example"), kS3);
}

}  // namespace
}  // namespace leat::doors::http::page
