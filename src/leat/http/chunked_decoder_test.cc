#include "leat/http/chunked_decoder.h"

#include <gtest/gtest.h>

#include <string>

namespace leat::http {
namespace {

// The whole body of `text`, given in pieces of `step` bytes; what follows it stays in `rest`.
Result<std::string> decode(std::string_view text, std::size_t step, std::string& rest) {
  ChunkedDecoder decoder;
  std::string body;
  while (!text.empty() && !decoder.is_done()) {
    std::string_view input = text.substr(0, step);
    text.remove_prefix(input.size());
    while (!input.empty() && !decoder.is_done()) {
      ASSIGN_OR_RETURN(const auto piece, decoder.next(input));
      body += piece;
    }
    if (decoder.is_done()) rest = std::string(input) + std::string(text);
  }
  if (!decoder.is_done()) return ErrorCode::kCancelled;
  return body;
}

TEST(ChunkedDecoder, GivesTheBodyHoweverItIsCut) {
  const std::string text =
      "5\r\nhello\r\n0001;name=\"v\"\r\n \r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\nGET /";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    std::string rest;
    const auto body = decode(text, step, rest);
    ASSERT_TRUE(body.ok()) << step;
    EXPECT_EQ(*body, "hello 0123456789");
    EXPECT_EQ(rest, "GET /");
  }
}

TEST(ChunkedDecoder, TakesAnEmptyBody) {
  std::string rest;
  const auto body = decode("0\r\n\r\n", 64, rest);
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(*body, "");
}

TEST(ChunkedDecoder, RefusesWhatIsMalformed) {
  const std::string_view refused[] = {
      "\r\n",
      "g\r\n",
      "5\nhello",
      "5\r\nhelloX",
      "5\r\nhello\n0\r\n\r\n",
      "-1\r\n",
      "0x5\r\nhello\r\n",
      "5 \r\nhello\r\n",
      "11111111111111111\r\n",
      "0\r\n\n",
      "0\r\nX: 1\n\r\n",
      "5;a\nb\r\nhello\r\n",
  };
  for (const std::string_view text : refused) {
    std::string rest;
    EXPECT_TRUE(decode(text, text.size(), rest).failed_with(ErrorCode::kInvalidArgument)) << text;
  }
  std::string rest;
  EXPECT_TRUE(
      decode("0\r\n" + std::string(10'000, 'x'), 64, rest).failed_with(ErrorCode::kTooLarge));
  EXPECT_TRUE(
      decode("1;" + std::string(300, 'x'), 64, rest).failed_with(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace leat::http
