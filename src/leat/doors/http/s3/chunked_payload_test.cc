#include "leat/doors/http/s3/chunked_payload.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace leat::doors::http::s3 {
namespace {

// Amazon's published example of a body in signed chunks: 65 KiB of 'a'.
Signer example_signer() {
  Signer signer;
  signer.payload = PayloadKind::kChunksSigned;
  signer.date = "20130524T000000Z";
  signer.scope = "20130524/us-east-1/s3/aws4_request";
  signer.signature = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
  std::string key = "AWS4wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  for (const char* part : {"20130524", "us-east-1", "s3", "aws4_request"}) {
    signer.signing_key = hmac_sha256(key, part);
    key.assign(signer.signing_key.begin(), signer.signing_key.end());
  }
  return signer;
}

std::string example_body() {
  return "10000;chunk-signature="
         "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n" +
         std::string(65536, 'a') +
         "\r\n400;chunk-signature="
         "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n" +
         std::string(1024, 'a') +
         "\r\n0;chunk-signature="
         "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n";
}

struct Outcome {
  std::optional<ErrorCode> error;
  std::string body;
  std::map<std::string, std::string> trailers;
};

Outcome decode(const Signer& signer, std::string_view text, std::size_t step) {
  ChunkedPayload payload(signer);
  Outcome outcome;
  Status status = ok_status();
  while (!text.empty() && status.ok()) {
    const std::string_view piece = text.substr(0, step);
    text.remove_prefix(piece.size());
    status = payload.feed(std::as_bytes(std::span(piece)), [&](std::span<const std::byte> bytes) {
      outcome.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return ok_status();
    });
  }
  if (status.ok()) status = payload.finish();
  if (!status.ok()) outcome.error = status.error().code();
  outcome.trailers = payload.trailers();
  return outcome;
}

TEST(ChunkedPayload, OfTheDocumentationIsGenuine) {
  for (const std::size_t step : {1, 7, 1000, 65536, 1 << 20}) {
    const auto outcome = decode(example_signer(), example_body(), step);
    EXPECT_EQ(outcome.error, std::nullopt);
    EXPECT_EQ(outcome.body, std::string(66560, 'a'));
  }
}

TEST(ChunkedPayload, FailsWhenAnyPartIsChangedOrMissing) {
  const std::string good = example_body();
  for (const std::size_t at :
       {std::size_t{25}, std::size_t{90}, std::size_t{66500}, good.size() - 10}) {
    std::string bad = good;
    bad[at] = bad[at] == 'b' ? 'c' : 'b';
    EXPECT_EQ(decode(example_signer(), bad, 4096).error, ErrorCode::kPermissionDenied) << at;
  }
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{30}, std::size_t{66500}, good.size() - 1}) {
    EXPECT_EQ(decode(example_signer(), good.substr(0, length), 4096).error,
              ErrorCode::kInvalidArgument)
        << length;
  }
  // The first chunk alone, well signed, is not the body.
  EXPECT_EQ(decode(example_signer(), good.substr(0, 85 + 2 + 65536 + 2), 4096).error,
            ErrorCode::kInvalidArgument);
  Signer other = example_signer();
  other.signing_key[0] ^= 1;
  EXPECT_EQ(decode(other, good, 4096).error, ErrorCode::kPermissionDenied);
}

TEST(ChunkedPayload, TakesUnsignedChunksWithATrailer) {
  Signer signer;
  signer.payload = PayloadKind::kChunksUnsignedTrailer;
  const std::string text =
      "5\r\nhello\r\n6\r\n world\r\n0\r\nx-amz-checksum-CRC32: AAAA== \r\n\r\n";
  for (const std::size_t step : {1, 3, 100}) {
    const auto outcome = decode(signer, text, step);
    EXPECT_EQ(outcome.error, std::nullopt);
    EXPECT_EQ(outcome.body, "hello world");
    EXPECT_EQ(outcome.trailers.at("x-amz-checksum-crc32"), "AAAA==");
  }
  EXPECT_EQ(decode(signer, "0\r\n\r\n", 100).error, std::nullopt);
}

TEST(ChunkedPayload, RefusesWhatIsMalformed) {
  Signer signer;
  signer.payload = PayloadKind::kChunksUnsignedTrailer;
  for (const std::string& text :
       {std::string("\r\n"), std::string("x\r\n"), std::string("-5\r\nhello\r\n0\r\n\r\n"),
        std::string("5\nhello\r\n0\r\n\r\n"), std::string("5\r\nhello!\r\n0\r\n\r\n"),
        std::string("11111111111111111\r\n"), std::string("0\r\nno colon\r\n\r\n"),
        std::string("0\r\na:1\r\nA:2\r\n\r\n"), std::string("0\r\n\r\nmore"),
        "0\r\nx:" + std::string(2000, 'x'), std::string(2000, '0')}) {
    EXPECT_EQ(decode(signer, text, 100).error, ErrorCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(decode(example_signer(), "5\r\nhello\r\n0\r\n\r\n", 100).error,
            ErrorCode::kInvalidArgument);
}

TEST(ChunkedPayload, RefusesTrailersThatAreNone) {
  Signer signer = example_signer();
  signer.payload = PayloadKind::kChunksUnsignedTrailer;
  for (const char* trailer : {"name", ":value", "a:b\rc:d", "a:b\tc"}) {
    EXPECT_EQ(decode(signer, fmt::format("5\r\nhello\r\n0\r\n{}\r\n\r\n", trailer), 100).error,
              ErrorCode::kInvalidArgument)
        << trailer;
  }
}

TEST(ChunkedPayload, ChecksTheSignatureOfTrailers) {
  Signer signer = example_signer();
  signer.payload = PayloadKind::kChunksSignedTrailer;
  const auto key = std::string(signer.signing_key.begin(), signer.signing_key.end());
  const auto sign = [&](std::string_view kind, const std::string& before, const std::string& text) {
    return hex(hmac_sha256(
        key, fmt::format("{}\n{}\n{}\n{}\n{}", kind, signer.date, signer.scope, before, text)));
  };
  const std::string nothing = hex(sha256(""));
  const std::string first =
      sign("AWS4-HMAC-SHA256-PAYLOAD", signer.signature, nothing + "\n" + hex(sha256("hello")));
  const std::string last = sign("AWS4-HMAC-SHA256-PAYLOAD", first, nothing + "\n" + nothing);
  const std::string trailer =
      sign("AWS4-HMAC-SHA256-TRAILER", last, hex(sha256("x-amz-checksum-crc32c:sOO8/Q==\n")));
  const auto text = [&](std::string_view value) {
    return fmt::format(
        "5;chunk-signature={}\r\nhello\r\n0;chunk-signature={}\r\nx-amz-checksum-crc32c:{}\r\n"
        "x-amz-trailer-signature:{}\r\n\r\n",
        first, last, value, trailer);
  };
  EXPECT_EQ(decode(signer, text("sOO8/Q=="), 9).error, std::nullopt);
  EXPECT_EQ(decode(signer, text("sOO9/Q=="), 9).error, ErrorCode::kPermissionDenied);
}

}  // namespace
}  // namespace leat::doors::http::s3
