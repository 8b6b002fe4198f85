#include "leat/doors/http/page/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace leat::doors::http::page {
namespace {

using leat::http::Method;

constexpr std::string_view kFolder = "/leat/page/";

// Trusted types: an attempt to make markup out of text is an error, whatever the text.
constexpr std::string_view kBrowserLines =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n";

std::string_view type_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTypes{
      {{".html", "text/html; charset=utf-8"},
       {".css", "text/css; charset=utf-8"},
       {".js", "text/javascript; charset=utf-8"},
       {".svg", "image/svg+xml"}}};
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

const EmbeddedFile* find(std::string_view path) {
  std::string_view name = "index.html";
  if (path.starts_with(kFolder)) name = path.substr(kFolder.size());
  const auto files = page_files();
  const auto* const it = std::find_if(files.data(), files.data() + files.size(),
                                      [&](const EmbeddedFile& file) { return file.name == name; });
  return it == files.data() + files.size() ? nullptr : it;
}

// What a request gets; all of it lasts as long as the program.
struct Reply {
  int status = 200;
  std::string headers;
  std::string_view body;
};

Reply reply_to(const RequestHead& head) {
  constexpr std::string_view kText = "Content-Type: text/plain; charset=utf-8\r\n";
  if (head.method() != Method::kGet && head.method() != Method::kHead) {
    return {405, fmt::format("{}Allow: GET, HEAD\r\n{}", kText, kBrowserLines),
            "the page can only be read\n"};
  }
  const EmbeddedFile* const file = find(head.path());
  if (file == nullptr) {
    return {404, fmt::format("{}{}", kText, kBrowserLines), "the page has no such file\n"};
  }
  const std::string etag = fmt::format("\"{}\"", file->digest.substr(0, 32));
  // Asked for each time, and sent when it changed: a server that was replaced has a new page.
  Reply reply{200,
              fmt::format("Content-Type: {}\r\nETag: {}\r\nCache-Control: no-cache\r\n{}",
                          type_of(file->name), etag, kBrowserLines),
              file->text};
  const auto known = head.header("if-none-match");
  if (known && (*known == "*" || known->find(etag) != known->npos)) {
    reply.status = 304;
    reply.body = {};
  }
  return reply;
}

class PageExchange final : public Exchange {
 public:
  explicit PageExchange(const RequestHead& head) : head_(head) {}
  bool wants_body() const override { return false; }
  Status consume(std::span<const std::byte> /*piece*/, const Context& /*context*/) override {
    return ok_status();
  }
  Answer respond(const Context& /*context*/) override {
    Reply reply = reply_to(head_);
    Answer answer;
    answer.status = reply.status;
    answer.headers = std::move(reply.headers);
    if (head_.method() == Method::kHead) {
      answer.length_of_head = reply.body.size();
    } else {
      answer.body = std::string(reply.body);
    }
    return answer;
  }

 private:
  const RequestHead& head_;
};

}  // namespace

bool is_page_path(std::string_view path) noexcept {
  return path == "/leat" || path == "/leat/" || path.starts_with(kFolder);
}

std::optional<QuickAnswer> PageService::answer_now(const RequestHead& head,
                                                   const QuickSpace& space) {
  const Reply reply = reply_to(head);
  if (reply.headers.size() > space.headers.size()) return std::nullopt;
  std::copy(reply.headers.begin(), reply.headers.end(), space.headers.begin());
  QuickAnswer answer;
  answer.status = reply.status;
  answer.header_bytes = reply.headers.size();
  if (head.method() == Method::kHead) {
    answer.length_of_head = reply.body.size();
  } else {
    answer.body = std::as_bytes(std::span(reply.body));
  }
  return answer;
}

std::unique_ptr<Exchange> PageService::begin(const RequestHead& head) {
  return std::make_unique<PageExchange>(head);
}

Answer PageService::refuse(const BadRequest& request) {
  Answer answer;
  answer.status = request.status;
  answer.headers = fmt::format("Content-Type: text/plain\r\n{}", kBrowserLines);
  answer.body = std::string(request.error.message()) + "\n";
  return answer;
}

}  // namespace leat::doors::http::page
