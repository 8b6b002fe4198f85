// CopySource: what "x-amz-copy-source" names, opened.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "leat/doors/http/buckets.h"
#include "leat/doors/http/s3/address.h"
#include "leat/doors/http/s3/error.h"
#include "leat/doors/http/s3/request.h"
#include "leat/store/object_store.h"

namespace leat::doors::http::s3 {

inline constexpr std::string_view kCopySourceHeader = "x-amz-copy-source";
inline constexpr std::string_view kCopySourceConditions = "x-amz-copy-source-";

struct CopySource {
  Address address;
  std::shared_ptr<ObjectStore> store;
  std::unique_ptr<ObjectReader> reader;
};

// "bucket/key" or "/bucket/key", percent-encoded. kUnsupported for a version.
Result<Address> parse_copy_source(std::string_view text);

// Opens the source of a request, if its signer may read it and its conditions hold.
std::optional<S3Error> open_copy_source(const S3Request& request, Buckets& buckets,
                                        const Context& context, CopySource& source);

}  // namespace leat::doors::http::s3
