// Whom a request claims to come from: the Authorization header, the query of a presigned URL; and
// the addresses and parameters that go with it.
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "leat/base/check.h"
#include "leat/doors/http/s3/address.h"
#include "leat/doors/http/s3/copy_source.h"
#include "leat/doors/http/signature.h"

namespace leat::doors::http::s3 {
namespace {

constexpr std::time_t kNow = 1369353600;  // 2013-05-24 00:00:00, when the seeds were signed

// Every key has a secret, so that nothing ends early; nobody can know it.
std::optional<std::string> secret_of(std::string_view /*access_key*/) {
  return "a secret of which no input has the signature";
}

void check_request(std::string_view text) {
  leat::http::RequestHead head;
  if (!head.parse(text).ok()) return;
  const auto query = Query::parse(head.query());
  if (!query.ok()) return;
  const std::string domains[] = {"s3.example.org"};
  if (const auto address = address_of(head, domains); address.ok()) {
    CHECK(!address->bucket.empty() || address->key.empty() || head.path().starts_with("//"));
  }
  if (const auto source = head.header(kCopySourceHeader)) {
    const auto address = parse_copy_source(*source);
    CHECK(!address.ok() || (!address->bucket.empty() && !address->key.empty()));
  }
  const auto check = check_signature({head, *query}, secret_of, kNow);
  if (check.error) {
    CHECK(check.error->status >= 400 && !check.error->code.empty());
  } else {
    CHECK(check.signer.access_key.empty());
    CHECK(check.signer.payload != PayloadKind::kChunksSigned &&
          check.signer.payload != PayloadKind::kChunksSignedTrailer);
  }
}

}  // namespace
}  // namespace leat::doors::http::s3

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  leat::doors::http::s3::check_request({reinterpret_cast<const char*>(data), size});
  return 0;
}
