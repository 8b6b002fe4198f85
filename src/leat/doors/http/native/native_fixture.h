// The native API without a socket: requests as text, answers as the server would send them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "leat/doors/http/native/service.h"
#include "leat/local/testing/local_fixture.h"

namespace leat::doors::http::native {

struct Answered {
  int status = 0;
  std::string headers;
  std::string body;
  bool has(std::string_view line) const { return headers.find(line) != headers.npos; }
  bool says(std::string_view text) const { return body.find(text) != body.npos; }
  // Of the first header of that name.
  std::string header(std::string_view name) const {
    const std::size_t at = headers.find(std::string(name) + ": ");
    if (at == headers.npos) return "";
    const std::size_t begin = at + name.size() + 2;
    return headers.substr(begin, headers.find("\r\n", begin) - begin);
  }
};

class NativeServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ =
        *local::LocalStore::create({directory_.make("drive")}, local::testing::small_options());
    ASSERT_TRUE(store_->create_bucket("photos", {}, {}).ok());
    buckets_ = std::make_shared<Buckets>(store_);
    serve(Access(Anonymous::kWrite));
  }

  void serve(Access access, NativeOptions options = {}) {
    service_ = std::make_unique<NativeService>(
        buckets_, std::make_shared<const Access>(std::move(access)), stats_, std::move(options));
  }

  Answered ask(const std::string& first_line, const std::string& headers = "",
               const std::string& body = "") {
    const std::string text =
        fmt::format("{} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n{}{}\r\n", first_line,
                    body.size(), headers, asks_like_ours_ ? "x-leat-request: 1\r\n" : "");
    RequestHead head;
    EXPECT_TRUE(head.parse(text).ok()) << text;
    const auto exchange = service_->begin(head);
    if (exchange->wants_body() && !body.empty()) {
      // In two pieces, as bodies come.
      const auto bytes = std::as_bytes(std::span(body));
      const std::size_t half = bytes.size() / 2;
      if (exchange->consume(bytes.first(half), {}).ok()) {
        (void)exchange->consume(bytes.subspan(half), {});
      }
    }
    Answer answer = exchange->respond({});
    Answered answered{answer.status, answer.headers, {}};
    if (auto* whole = std::get_if<std::string>(&answer.body)) answered.body = *whole;
    if (auto* object = std::get_if<ObjectBody>(&answer.body)) {
      answered.body.resize(object->range.length);
      EXPECT_EQ(*object->reader->read_at(object->range.offset,
                                         std::as_writable_bytes(std::span(answered.body)), {}),
                object->range.length);
    }
    if (auto* source = std::get_if<std::unique_ptr<BodySource>>(&answer.body)) {
      // As a connection does: without waiting where that is enough.
      for (auto left = BodySource::Left::kMore; left == BodySource::Left::kMore;) {
        if (const auto now = (*source)->next_now(answered.body)) {
          left = *now;
          continue;
        }
        const auto next = (*source)->next(answered.body, {});
        EXPECT_TRUE(next.ok());
        if (!next.ok()) break;
        left = *next;
      }
    }
    return answered;
  }

  local::testing::TemporaryDirectory directory_;
  std::shared_ptr<local::LocalStore> store_;
  std::shared_ptr<Buckets> buckets_;
  std::shared_ptr<RequestStats> stats_ = std::make_shared<RequestStats>();
  std::unique_ptr<NativeService> service_;
  bool asks_like_ours_ = true;
};

}  // namespace leat::doors::http::native
