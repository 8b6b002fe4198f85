#include "leat/wire/upload.h"

#include <gtest/gtest.h>

namespace leat::wire {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(UploadDecoder, FindsBytesAndLastWordsHoweverTheyCome) {
  const std::string body = upload_piece_head(5) + "first" + upload_piece_head(2) + "2d" +
                           upload_end({{"x-leat-etag", "e"}, {"x-leat-crc32c", "00000001"}});
  for (std::size_t step = 1; step <= body.size(); ++step) {
    UploadDecoder decoder;
    std::string bytes;
    for (std::size_t at = 0; at < body.size(); at += step) {
      const auto status = decoder.feed(
          bytes_of(std::string_view(body).substr(at, step)), [&](std::span<const std::byte> part) {
            bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
            return ok_status();
          });
      ASSERT_TRUE(status.ok());
      if (at + step < body.size()) {
        EXPECT_FALSE(decoder.last_words().ok());
      }
    }
    EXPECT_EQ(bytes, "first2d");
    const auto words = decoder.last_words();
    ASSERT_TRUE(words.ok());
    ASSERT_EQ(words->size(), 2u);
    EXPECT_EQ((*words)[1].name, "x-leat-crc32c");
    EXPECT_EQ((*words)[1].value, "00000001");
  }
}

TEST(UploadDecoder, RefusesWhatIsMalformed) {
  const auto fails = [](const std::string& body) {
    UploadDecoder decoder;
    const auto sink = [](std::span<const std::byte>) { return ok_status(); };
    return !decoder.feed(bytes_of(body), sink).ok() || !decoder.last_words().ok();
  };
  EXPECT_FALSE(fails(upload_end({})));
  EXPECT_TRUE(fails(""));
  EXPECT_TRUE(fails(upload_end({}) + "x"));
  EXPECT_TRUE(fails(upload_piece_head(0) + upload_piece_head(1 << 20)));
  EXPECT_TRUE(fails(upload_piece_head(0) + upload_piece_head(3) + "a:b"));
  EXPECT_TRUE(fails(upload_piece_head(0) + upload_piece_head(3) + "ab\n"));
}

}  // namespace
}  // namespace leat::wire
