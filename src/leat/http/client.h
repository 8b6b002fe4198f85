// Client: requests to one HTTP server, over connections that are kept, signed where there is a key.
//
// What may be repeated is repeated when the connection fails or the server says 503, with growing
// pauses that differ between clients. A request that changes something is repeated only while
// nothing of it was sent. Blocking; thread-safe. Starts no threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leat/base/clock.h"
#include "leat/base/context.h"
#include "leat/base/mutex.h"
#include "leat/base/random.h"
#include "leat/base/result.h"
#include "leat/http/client_connection.h"
#include "leat/http/sigv4.h"

namespace leat::http {

struct ClientOptions {
  std::string host;
  std::uint16_t port = 80;
  std::shared_ptr<const TlsTrust> tls;  // null: plain HTTP
  SigningKeys keys;
  std::size_t idle_connections = 64;  // that are kept, at most
  // Shorter than servers keep them, so that a request rarely meets one that is being closed.
  std::chrono::milliseconds idle_life = std::chrono::seconds(30);
  std::chrono::milliseconds stall_limit = std::chrono::seconds(60);
  int attempts = 5;
  std::chrono::milliseconds first_pause{20};  // doubled each time
  const Clock* clock = &Clock::system();
  std::uint64_t jitter_seed = 0;
};

struct ClientRequest {
  std::string_view method = "GET";
  std::string path;   // percent-encoded
  std::string query;  // percent-encoded, without the '?'
  // Names in lower case; all of them are signed.
  std::vector<std::pair<std::string, std::string>> headers;
  std::span<const std::byte> body;
  enum class Repeat : std::uint8_t { kSafe, kUnsafe };
  Repeat repeat = Repeat::kSafe;
};

class Client {
 public:
  explicit Client(ClientOptions options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Sends `request` and lets `take` read the answer, whatever its status. When `take` fails with
  // kUnavailable the request is repeated, if it may be; so `take` may be called again and begins
  // anew.
  using Taker = std::function<Status(ClientConnection& answer)>;
  Status ask(const ClientRequest& request, const Context& context, const Taker& take);

  // The same for an answer that is read later: its head has come. keep() takes the connection
  // back when the answer was read to its end.
  Result<std::unique_ptr<ClientConnection>> begin(const ClientRequest& request,
                                                  const Context& context);
  // For other requests, if it can serve them; otherwise it is closed.
  void keep(std::unique_ptr<ClientConnection> connection) EXCLUDES(mutex_);

  // A request whose body is made while it is sent, in chunks. For one thread at a time; destroyed
  // before finish() it leaves the server with half a request, which does nothing.
  class Upload {
   public:
    // An error may mean that the server has answered already: finish() tells what.
    Status send(std::span<const std::byte> piece, const Context& context);
    Status finish(const Context& context, const Taker& take);

   private:
    friend class Client;
    Upload(Client& client, std::unique_ptr<ClientConnection> connection)
        : client_(client), connection_(std::move(connection)) {}
    Client& client_;
    std::unique_ptr<ClientConnection> connection_;
    bool is_cut_ = false;
  };
  Result<std::unique_ptr<Upload>> upload(const ClientRequest& request, const Context& context);

  // "host:port", as in a Host header: without a port that goes without saying.
  const std::string& authority() const noexcept { return authority_; }

 private:
  struct Idle {
    std::unique_ptr<ClientConnection> connection;
    MonotonicTime since;
  };
  struct Attempt {
    std::unique_ptr<ClientConnection> connection;
    bool was_kept = false;
  };

  enum class Encoding : std::uint8_t { kLength, kChunked };
  std::string head_of(const ClientRequest& request, Encoding encoding) const;
  // May take the connection for itself.
  using Receiver = std::function<Status(std::unique_ptr<ClientConnection>& answer)>;
  Status converse(const ClientRequest& request, const Context& context, const Receiver& receive);
  Result<Attempt> connect(const Context& context) EXCLUDES(mutex_);
  Result<std::unique_ptr<ClientConnection>> connect_anew(const Context& context);
  std::unique_ptr<ClientConnection> take_idle() EXCLUDES(mutex_);
  Status pause(int attempt, const Context& context) EXCLUDES(mutex_);

  const ClientOptions options_;
  const std::string authority_;
  Mutex mutex_;
  std::list<Idle> idle_ GUARDED_BY(mutex_);  // the one used last is first
  Random random_ GUARDED_BY(mutex_);
};

}  // namespace leat::http
