#include "leat/drivers/leat/leat_url.h"

#include <algorithm>

#include "leat/http/authority.h"
#include "leat/store/url_query.h"

namespace leat {

std::string LeatUrl::server_url() const {
  return scheme + "://" + http::Authority{host, port}.to_string();
}

Result<LeatUrl> parse_leat_url(const Url& url) {
  RETURN_IF_ERROR(check_query_keys(url, {"keys"}));
  LeatUrl result;
  result.scheme = url.scheme;
  ASSIGN_OR_RETURN(http::Authority authority, http::parse_authority(url.authority, kLeatPort));
  result.host = std::move(authority.host);
  result.port = authority.port;
  if (const auto keys = url.query.find("keys"); keys != url.query.end()) {
    if (keys->second.empty()) return Error(ErrorCode::kInvalidArgument, "?keys= names no file");
    result.keys = keys->second;
  }
  std::string_view path = url.path;
  if (path.starts_with('/')) path.remove_prefix(1);
  const std::size_t slash = std::min(path.find('/'), path.size());
  ASSIGN_OR_RETURN(result.bucket, percent_decode(path.substr(0, slash)));
  ASSIGN_OR_RETURN(result.name, percent_decode(path.substr(std::min(path.size(), slash + 1))));
  if (result.bucket.empty() && !result.name.empty()) {
    return Error(ErrorCode::kInvalidArgument, url.to_string() + " has no bucket before the name");
  }
  return result;
}

}  // namespace leat
