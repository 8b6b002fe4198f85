// The S3 API without a socket: requests as text, answers as the server would send them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "leat/doors/http/s3/service.h"
#include "leat/local/testing/local_fixture.h"

namespace leat::doors::http::s3::testing {

struct Answered {
  int status = 0;
  std::string headers;
  std::string body;
  bool has(std::string_view line) const { return headers.find(line) != headers.npos; }
  bool says(std::string_view text) const { return body.find(text) != body.npos; }
  // The value of a header; empty when there is none.
  std::string header(const std::string& name) const {
    const std::size_t at = headers.find(name + ": ");
    if (at == headers.npos) return {};
    const std::size_t start = at + name.size() + 2;
    return headers.substr(start, headers.find("\r\n", start) - start);
  }
  // The text of the first element of a name.
  std::string element(const std::string& name) const {
    const std::size_t at = body.find("<" + name + ">");
    if (at == body.npos) return {};
    const std::size_t start = at + name.size() + 2;
    return body.substr(start, body.find("</" + name + ">", start) - start);
  }
};

class S3Test : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = *local::LocalStore::create({directory_.make("drive")}, options());
    ASSERT_TRUE(store_->create_bucket("photos", {}, {}).ok());
    service_.emplace(store_, Access(Anonymous::kWrite), S3Options{});
  }
  virtual local::StoreOptions options() { return local::testing::small_options(); }

  // By way of an exchange, as on the pool.
  Answered ask(const std::string& first_line, const std::string& headers = "",
               const std::string& body = "") {
    const std::string text = fmt::format("{} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n{}\r\n",
                                         first_line, host_, body.size(), headers);
    RequestHead head;
    EXPECT_TRUE(head.parse(text).ok());
    const auto exchange = service_->begin(head);
    if (exchange->wants_body() && !body.empty()) {
      (void)exchange->consume(std::as_bytes(std::span(body)), {});
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
    return answered;
  }
  // As on the loop; status 0 when it goes to the pool.
  Answered ask_now(const std::string& first_line, const std::string& headers = "") {
    const std::string text = first_line + " HTTP/1.1\r\nHost: node\r\n" + headers + "\r\n";
    RequestHead head;
    EXPECT_TRUE(head.parse(text).ok());
    const auto quick = service_->answer_now(head, {header_space_, body_space_});
    if (!quick) return {};
    return {quick->status, std::string(header_space_.data(), quick->header_bytes),
            std::string(reinterpret_cast<const char*>(quick->body.data()), quick->body.size())};
  }
  // The process ends, with or without a goodbye, and another one starts.
  void restart() {
    service_.reset();
    store_.reset();
    store_ = *local::LocalStore::open({(directory_.path() / "drive").string()}, options());
    service_.emplace(store_, Access(Anonymous::kWrite), S3Options{});
  }

  local::testing::TemporaryDirectory directory_;
  std::shared_ptr<local::LocalStore> store_;
  std::optional<S3Service> service_;
  std::string host_ = "node";
  std::array<char, 4096> header_space_;
  std::array<std::byte, 64 << 10> body_space_;
};

}  // namespace leat::doors::http::s3::testing
