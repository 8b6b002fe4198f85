#include "leat/doors/http/s3/copy_source.h"

#include "leat/base/url.h"
#include "leat/doors/http/s3/conditions.h"

namespace leat::doors::http::s3 {

Result<Address> parse_copy_source(std::string_view text) {
  constexpr std::string_view kVersion = "?versionId=";
  if (const std::size_t version = text.find(kVersion); version != text.npos) {
    // Of what has no versions, the only one is "null".
    if (text.substr(version + kVersion.size()) != "null") {
      return Error(ErrorCode::kUnsupported, "there are no versions");
    }
    text = text.substr(0, version);
  }
  // Some clients encode the whole of it, slashes too.
  for (const std::string_view slash : {"/", "%2F", "%2f"}) {
    if (!text.starts_with(slash)) continue;
    text.remove_prefix(slash.size());
    break;
  }
  ASSIGN_OR_RETURN(const std::string path, percent_decode(text));
  const std::size_t slash = path.find('/');
  if (slash == path.npos || slash == 0 || slash + 1 == path.size()) {
    return Error(ErrorCode::kInvalidArgument, "x-amz-copy-source is not BUCKET/KEY");
  }
  return Address{path.substr(0, slash), path.substr(slash + 1)};
}

std::optional<S3Error> open_copy_source(const S3Request& request, Buckets& buckets,
                                        const Context& context, CopySource& source) {
  auto address = parse_copy_source(request.head->header(kCopySourceHeader).value_or(""));
  if (!address.ok()) return s3_error(address.error());
  source.address = *std::move(address);
  if (!request.may(Right::kRead, source.address.bucket, source.address.key)) {
    return S3Error{403, "AccessDenied", "this key may not read the source"};
  }
  auto store = buckets.open(source.address.bucket);
  if (store.failed_with(ErrorCode::kNotFound)) {
    return S3Error{404, "NoSuchBucket", "there is no bucket of that name to copy from"};
  }
  if (!store.ok()) return s3_error(store.error());
  source.store = *std::move(store);
  auto reader = source.store->open(source.address.key, {}, context);
  if (!reader.ok()) return s3_error(reader.error());
  source.reader = *std::move(reader);
  if (judge(*request.head, kCopySourceConditions, source.reader->info()) != Verdict::kGo) {
    return S3Error{412, "PreconditionFailed", "the source is not in the state asked for"};
  }
  return std::nullopt;
}

}  // namespace leat::doors::http::s3
