#include "leat/doors/http/front.h"

#include "leat/doors/http/buckets.h"
#include "leat/doors/http/s3/address.h"

namespace leat::doors::http {

Application& Front::behind(const RequestHead& head) const {
  std::string_view path = head.path();
  if (!path.starts_with("/leat")) return s3_;
  path.remove_prefix(5);
  if (!path.empty() && path.front() != '/') return s3_;
  if (domains_.empty()) return native_;
  // In the style of paths the first component is the bucket.
  const auto address = s3::address_of(head, domains_);
  return !address.ok() || address->bucket == kReservedBucket ? native_ : s3_;
}

}  // namespace leat::doors::http
