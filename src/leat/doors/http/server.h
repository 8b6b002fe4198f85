// Server: HTTP/1.1 on a TCP port, by event loops and a pool.
//
// Each loop is a thread with its own connections; what may block runs on a thread of the pool, at
// most one at a time for a connection. A connection reads nothing while its request is worked on
// and holds bounded memory, so a client that sends or takes slowly costs itself only.
//
// start(), stop() and the destructor are for one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "leat/base/result.h"
#include "leat/doors/http/application.h"
#include "leat/doors/http/listener.h"

namespace leat::doors::http {

struct ServerOptions {
  // As Listener takes them.
  std::string host = "127.0.0.1";
  std::uint16_t port = 9000;
  std::size_t loops = 0;  // 0: one a core
  std::size_t pool_threads = 64;
  std::size_t max_connections = 20'000;
  std::size_t max_head_bytes = 32 << 10;
  // A connection on which nothing moves for so long is closed, and one whose head takes so long.
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(75);
  // PEM files; with them the server speaks TLS only.
  std::string tls_certificate{};
  std::string tls_key{};
};

class Server {
 public:
  // `application` outlives the server. The port is open when this returns.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options,
                                               Application& application);
  // The same on a port that was taken before; `options` name it for nobody.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options,
                                               Application& application, Listener listener);
  virtual ~Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  virtual std::uint16_t port() const = 0;
  // Takes no more connections, lets the requests under way end, for at most `patience`.
  virtual void stop(std::chrono::milliseconds patience) = 0;

  struct Counts {
    std::uint64_t connections = 0;  // open now
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;  // beyond max_connections
    std::uint64_t requests = 0;
    std::uint64_t in_pool = 0;  // requests that wait for a thread of the pool, or have one
    std::uint64_t pool_threads = 0;
  };
  virtual Counts counts() const = 0;

 protected:
  Server() = default;
};

}  // namespace leat::doors::http
