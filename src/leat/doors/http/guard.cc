#include "leat/doors/http/guard.h"

#include <arpa/inet.h>

#include <algorithm>

#include "leat/http/authority.h"
#include "leat/wire/object_headers.h"

namespace leat::doors::http {
namespace {

using leat::http::equals_ignoring_case;
using leat::http::Method;
using leat::http::to_lower;
using leat::http::without_port;

Error denied(std::string message) {
  return Error(ErrorCode::kPermissionDenied, std::move(message));
}

}  // namespace

bool is_own_host(std::string_view host, std::span<const std::string> names) {
  const std::string name = to_lower(without_port(host));
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, name.c_str(), &v4) == 1) return true;
  if (inet_pton(AF_INET6, name.c_str(), &v6) == 1) return true;
  if (name == "localhost") return true;
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& own) { return equals_ignoring_case(own, name); });
}

Status check_host_and_origin(const leat::http::RequestHead& head,
                             std::span<const std::string> names) {
  if (!is_own_host(head.host(), names)) {
    return denied("this server is not called " + std::string(head.host()));
  }
  if (const auto origin = head.header("origin")) {
    const std::size_t begin = origin->find("://");
    if (begin == origin->npos || to_lower(origin->substr(begin + 3)) != to_lower(head.host())) {
      return denied("the request comes from a page of another site");
    }
  }
  return ok_status();
}

Status check_sender(const leat::http::RequestHead& head, std::span<const std::string> names) {
  RETURN_IF_ERROR(check_host_and_origin(head, names));
  const bool reads = head.method() == Method::kGet || head.method() == Method::kHead;
  if (!reads && !head.header(wire::kRequestHeader)) {
    return denied("a request without a signature needs the header \"x-leat-request: 1\"");
  }
  return ok_status();
}

}  // namespace leat::doors::http
