#include "leat/doors/http/s3/address.h"

#include "leat/base/url.h"
#include "leat/http/authority.h"

namespace leat::doors::http::s3 {

std::string_view bucket_of_host(std::string_view host, std::span<const std::string> domains) {
  host = leat::http::without_port(host);
  for (const std::string& domain : domains) {
    if (host.size() <= domain.size() + 1) continue;
    const std::size_t dot = host.size() - domain.size() - 1;
    if (host[dot] == '.' && leat::http::equals_ignoring_case(host.substr(dot + 1), domain)) {
      return host.substr(0, dot);
    }
  }
  return {};
}

Result<Address> address_of(const leat::http::RequestHead& head,
                           std::span<const std::string> domains) {
  std::string_view path = head.path();
  path.remove_prefix(path.starts_with('/') ? 1 : path.size());
  Address address;
  address.bucket = bucket_of_host(head.host(), domains);
  if (address.bucket.empty()) {
    const std::size_t slash = path.find('/');
    ASSIGN_OR_RETURN(address.bucket, percent_decode(path.substr(0, slash)));
    path.remove_prefix(slash == path.npos ? path.size() : slash + 1);
  }
  ASSIGN_OR_RETURN(address.key, percent_decode(path));
  return address;
}

}  // namespace leat::doors::http::s3
