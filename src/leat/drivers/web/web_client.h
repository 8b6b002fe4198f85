// WebClient: requests to web servers, that may send elsewhere.
//
// Redirects are followed to the same host or another, a few of them, never from https to http. Each
// host has its own kept connections. Thread-safe; starts no threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/mutex.h"
#include "leat/base/result.h"
#include "leat/http/client.h"

namespace leat::web {

// Where something is: everything as it stands in a request, so percent-encoded.
struct WebUrl {
  std::string scheme;  // "http" or "https"
  std::string host;
  std::uint16_t port = 0;
  std::string path;   // begins with '/'
  std::string query;  // without the '?'

  std::string origin() const;  // "http://host:port", a usual port left out
  std::string place() const { return origin() + path; }  // for people: a query may hold secrets

  // kInvalidArgument for anything else than an http or https URL. A fragment is dropped.
  static Result<WebUrl> parse(std::string_view text);
  // What a Location of this URL's answer leads to.
  Result<WebUrl> resolve(std::string_view location) const;
};

// Encodes what must not stand in the first line of a request, and nothing else.
std::string safe_in_request(std::string_view text);

// An answer whose head has come.
struct WebAnswer {
  std::shared_ptr<http::Client> client;
  std::unique_ptr<http::ClientConnection> connection;
  WebUrl url;  // that it is from, after redirects

  const http::ResponseHead& head() const { return connection->head(); }
  // Reads what little is left, and keeps the connection for others.
  void finish(const Context& context);
};

struct WebRequest {
  std::string_view method = "GET";
  WebUrl url;
  std::vector<std::pair<std::string, std::string>> headers;
};

class WebClient {
 public:
  // Whatever its status, but not a redirect. kIoError when there are too many of these.
  Result<WebAnswer> ask(WebRequest request, const Context& context);

 private:
  Result<std::shared_ptr<http::Client>> client_of(const WebUrl& url) EXCLUDES(mutex_);

  Mutex mutex_;
  std::map<std::string, std::shared_ptr<http::Client>> clients_ GUARDED_BY(mutex_);  // by origin
};

// ok for 200 and 206; otherwise what the status means, with the place.
Status check_status(const WebAnswer& answer);

}  // namespace leat::web
