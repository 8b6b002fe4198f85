#include "leat/doors/http/front.h"

#include "leat/doors/http/buckets.h"
#include "leat/doors/http/page/service.h"
#include "leat/doors/http/s3/address.h"

namespace leat::doors::http {

Application& Front::behind(const RequestHead& head) const {
  const std::string_view path = head.path();
  const bool is_ours = path == "/leat" || path.starts_with("/leat/");
  if (!is_ours) return applications_.s3;
  if (!domains_.empty()) {
    // In the style of paths the first component is the bucket.
    const auto address = s3::address_of(head, domains_);
    if (address.ok() && address->bucket != kReservedBucket) return applications_.s3;
  }
  return page::is_page_path(path) ? applications_.page : applications_.native;
}

}  // namespace leat::doors::http
