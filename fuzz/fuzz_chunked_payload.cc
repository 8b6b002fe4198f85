// Bodies in "aws-chunked" encoding, of every kind; the first byte chooses.
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "leat/base/check.h"
#include "leat/doors/http/s3/chunked_payload.h"

namespace leat::doors::http::s3 {
namespace {

struct Decoded {
  bool is_good = false;
  std::string body;
  std::map<std::string, std::string> trailers;
  bool operator==(const Decoded&) const = default;
};

Decoded decode(const Signer& signer, std::string_view text, std::size_t step) {
  ChunkedPayload payload(signer);
  std::string body;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, step);
    text.remove_prefix(piece.size());
    const Status status =
        payload.feed(std::as_bytes(std::span(piece)), [&](std::span<const std::byte> bytes) {
          body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          return ok_status();
        });
    if (!status.ok()) return {};
  }
  if (!payload.finish().ok()) return {};
  CHECK(payload.decoded_bytes() == body.size());
  return {true, std::move(body), payload.trailers()};
}

}  // namespace
}  // namespace leat::doors::http::s3

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace s3 = leat::doors::http::s3;
  if (size == 0) return 0;
  leat::doors::http::Signer signer;
  signer.date = "20130524T000000Z";
  signer.scope = "20130524/us-east-1/s3/aws4_request";
  signer.signature = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
  switch (data[0] % 3) {
    case 0:
      signer.payload = leat::doors::http::PayloadKind::kChunksUnsignedTrailer;
      break;
    case 1:
      signer.payload = leat::doors::http::PayloadKind::kChunksSigned;
      break;
    default:
      signer.payload = leat::doors::http::PayloadKind::kChunksSignedTrailer;
  }
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = s3::decode(signer, text, text.size() + 1);
  // However the bytes come, they mean the same, and nothing is given out that was not there.
  CHECK(s3::decode(signer, text, 1) == whole && s3::decode(signer, text, 7) == whole);
  CHECK(whole.body.size() <= text.size());
  for (const auto& [name, value] : whole.trailers) {
    CHECK(!name.empty() && value.find_first_of("\r\n") == value.npos);
  }
  return 0;
}
