// Applications without a socket: requests as text, answers as the server would send them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "leat/doors/http/application.h"

namespace leat::doors::http::testing {

struct Answered {
  int status = 0;
  std::string headers;
  std::string body;
  bool has(std::string_view line) const { return headers.find(line) != headers.npos; }
  bool says(std::string_view text) const { return body.find(text) != body.npos; }
  // The value of the first header of that name; empty when there is none.
  std::string header(std::string_view name) const {
    return between(headers, fmt::format("{}: ", name), "\r\n");
  }
  // The text of the first XML element of that name.
  std::string element(std::string_view name) const {
    return between(body, fmt::format("<{}>", name), fmt::format("</{}>", name));
  }

 private:
  static std::string between(const std::string& text, std::string_view begin,
                             std::string_view end) {
    const std::size_t at = text.find(begin);
    if (at == text.npos) return {};
    const std::size_t start = at + begin.size();
    return text.substr(start, text.find(end, start) - start);
  }
};

// All of an answer's body, made as a connection does: without waiting where that is enough.
inline std::string read_body(Answer& answer) {
  std::string body;
  if (auto* whole = std::get_if<std::string>(&answer.body)) body = *whole;
  if (auto* object = std::get_if<ObjectBody>(&answer.body)) {
    body.resize(object->range.length);
    EXPECT_EQ(
        *object->reader->read_at(object->range.offset, std::as_writable_bytes(std::span(body)), {}),
        object->range.length);
  }
  if (auto* source = std::get_if<std::unique_ptr<BodySource>>(&answer.body)) {
    for (auto left = BodySource::Left::kMore; left == BodySource::Left::kMore;) {
      if (const auto now = (*source)->next_now(body)) {
        left = *now;
        continue;
      }
      const auto next = (*source)->next(body, {});
      EXPECT_TRUE(next.ok());
      if (!next.ok()) break;
      left = *next;
    }
  }
  return body;
}

// By way of an exchange, as on the pool. The body comes in two pieces, as bodies do.
inline Answered ask_exchange(Application& application, const std::string& head_text,
                             std::string_view body) {
  RequestHead head;
  EXPECT_TRUE(head.parse(head_text).ok()) << head_text;
  const auto exchange = application.begin(head);
  if (exchange->wants_body() && !body.empty()) {
    const auto bytes = std::as_bytes(std::span(body));
    const std::size_t half = bytes.size() / 2;
    if (half == 0 || exchange->consume(bytes.first(half), {}).ok()) {
      (void)exchange->consume(bytes.subspan(half), {});
    }
  }
  Answer answer = exchange->respond({});
  return {answer.status, answer.headers, read_body(answer)};
}

// As on the loop; status 0 when it goes to the pool.
inline Answered ask_loop(Application& application, const std::string& head_text) {
  RequestHead head;
  EXPECT_TRUE(head.parse(head_text).ok()) << head_text;
  std::array<char, 4096> headers;
  const auto body = std::make_unique<std::array<std::byte, 64 << 10>>();
  auto quick = application.answer_now(head, {headers, *body});
  if (!quick) return {};
  Answered answered{
      quick->status, std::string(headers.data(), quick->header_bytes),
      std::string(reinterpret_cast<const char*>(quick->body.data()), quick->body.size())};
  if (quick->object) {
    Answer answer;
    answer.body = *std::move(quick->object);
    answered.body = read_body(answer);
  }
  return answered;
}

}  // namespace leat::doors::http::testing
