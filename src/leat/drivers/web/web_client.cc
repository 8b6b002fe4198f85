#include "leat/drivers/web/web_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "leat/base/url.h"
#include "leat/http/authority.h"

namespace leat::web {
namespace {

constexpr int kMaxRedirects = 5;
constexpr std::size_t kMaxHosts = 16;

std::uint16_t usual_port(std::string_view scheme) {
  return scheme == "https" ? 443 : 80;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// "/a/b/../c/./d" -> "/a/c/d".
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> parts;
  bool ends_in_slash = true;
  while (!path.empty()) {
    path.remove_prefix(1);  // its '/'
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size());
    ends_in_slash = part.empty() || part == "." || part == "..";
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (part != ".." && part != "." && !(part.empty() && path.empty())) parts.push_back(part);
  }
  std::string clean;
  for (const std::string_view part : parts) clean.append("/").append(part);
  return ends_in_slash || clean.empty() ? clean + "/" : clean;
}

}  // namespace

std::string safe_in_request(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c > ' ' && c < 0x7f) {
      safe += c;
    } else {
      safe += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return safe;
}

std::string WebUrl::origin() const {
  const std::string authority = http::Authority{host, port}.to_string();
  const bool is_usual = port == usual_port(scheme);
  return scheme + "://" + (is_usual ? authority.substr(0, authority.rfind(':')) : authority);
}

Result<WebUrl> WebUrl::parse(std::string_view text) {
  WebUrl url;
  const std::size_t colon = text.find("://");
  url.scheme = text.substr(0, std::min(colon, text.size()));
  std::transform(url.scheme.begin(), url.scheme.end(), url.scheme.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (colon == text.npos || (url.scheme != "http" && url.scheme != "https")) {
    return Error(ErrorCode::kInvalidArgument, "not an http:// or https:// URL");
  }
  text.remove_prefix(colon + 3);
  text = text.substr(0, text.find('#'));
  const std::size_t question = std::min(text.find('?'), text.size());
  const std::string_view place = text.substr(0, question);
  const std::size_t slash = std::min(place.find('/'), place.size());
  ASSIGN_OR_RETURN(auto authority,
                   http::parse_authority(place.substr(0, slash), usual_port(url.scheme)));
  url.host = std::move(authority.host);
  url.port = authority.port;
  url.path = slash < place.size() ? safe_in_request(place.substr(slash)) : "/";
  if (question < text.size()) url.query = safe_in_request(text.substr(question + 1));
  return url;
}

Result<WebUrl> WebUrl::resolve(std::string_view location) const {
  const std::size_t colon = location.find_first_of(":/?#");
  if (colon != location.npos && location[colon] == ':') return parse(location);
  if (location.starts_with("//")) return parse(scheme + ":" + std::string(location));
  location = location.substr(0, location.find('#'));
  const std::size_t question = std::min(location.find('?'), location.size());
  const std::string_view place = location.substr(0, question);
  WebUrl url = *this;
  url.query.clear();
  if (question < location.size()) url.query = safe_in_request(location.substr(question + 1));
  if (place.starts_with('/')) {
    url.path = without_dots(safe_in_request(place));
  } else if (!place.empty()) {
    url.path = without_dots(path.substr(0, path.rfind('/') + 1) + safe_in_request(place));
  }
  return url;
}

void WebAnswer::finish(const Context& context) {
  if (!connection) return;
  connection->finish(context);
  client->keep(std::move(connection));
}

Result<std::shared_ptr<http::Client>> WebClient::client_of(const WebUrl& url) {
  const std::string origin = url.origin();
  {
    const MutexLock lock(mutex_);
    if (const auto it = clients_.find(origin); it != clients_.end()) return it->second;
  }
  http::ClientOptions options;
  options.host = url.host;
  options.port = url.port;
  // Many servers let go of idle connections after five seconds.
  options.idle_life = std::chrono::seconds(4);
  if (url.scheme == "https") {
    ASSIGN_OR_RETURN(options.tls, http::TlsTrust::system());
  }
  options.jitter_seed = static_cast<std::uint64_t>(options.clock->now().time_since_epoch().count());
  auto made = std::make_shared<http::Client>(std::move(options));
  const MutexLock lock(mutex_);
  // Redirects decide how many hosts there are. What is dropped serves its last readers.
  if (clients_.size() >= kMaxHosts) clients_.clear();
  return clients_.try_emplace(origin, std::move(made)).first->second;
}

Result<WebAnswer> WebClient::ask(WebRequest request, const Context& context) {
  for (int redirects = 0;; ++redirects) {
    ASSIGN_OR_RETURN(auto client, client_of(request.url));
    http::ClientRequest asked;
    asked.method = request.method;
    asked.path = request.url.path;
    asked.query = request.url.query;
    asked.headers = request.headers;
    asked.headers.emplace_back("accept", "*/*");
    asked.headers.emplace_back("accept-encoding", "identity");
    asked.headers.emplace_back("user-agent", "leat");
    auto connection = client->begin(asked, context);
    if (!connection.ok()) return std::move(connection).error().within(request.url.place());
    WebAnswer answer{std::move(client), *std::move(connection), request.url};
    if (!is_redirect(answer.head().status())) return answer;
    const auto location = answer.head().header("location");
    if (!location) return Error(ErrorCode::kIoError, "a redirect that leads nowhere");
    if (redirects == kMaxRedirects) {
      return Error(ErrorCode::kIoError, request.url.place() + ": too many redirects");
    }
    ASSIGN_OR_RETURN(WebUrl next, request.url.resolve(*location));
    if (request.url.scheme == "https" && next.scheme != "https") {
      return Error(ErrorCode::kIoError,
                   request.url.place() + ": a redirect from https to http is not followed");
    }
    answer.finish(context);
    request.url = std::move(next);
  }
}

Status check_status(const WebAnswer& answer) {
  const int status = answer.head().status();
  ErrorCode code = ErrorCode::kIoError;
  switch (status) {
    case 200:
    case 206:
      return ok_status();
    case 404:
    case 410:
      code = ErrorCode::kNotFound;
      break;
    case 401:
    case 403:
      code = ErrorCode::kPermissionDenied;
      break;
    case 412:
      code = ErrorCode::kPreconditionFailed;
      break;
    case 429:
    case 502:
    case 503:
    case 504:
      code = ErrorCode::kUnavailable;
      break;
    default:
      break;
  }
  return Error(code, fmt::format("{} answers with status {}", answer.url.place(), status));
}

}  // namespace leat::web
