// TlsStream: TLS over a socket that does not block, on the client's side.
//
// The server's certificate must be one that this machine trusts and must be for the host that was
// asked for; SSL_CERT_FILE and SSL_CERT_DIR name other authorities, as for every program that uses
// OpenSSL. A call moves what it can and says what it waits for. For one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "leat/base/result.h"

struct ssl_ctx_st;  // OpenSSL's
struct ssl_st;

namespace leat::http {

// Whom a client trusts. Immutable; shared by all connections.
class TlsTrust {
 public:
  // The authorities of this machine.
  static Result<std::shared_ptr<const TlsTrust>> system();
  ssl_ctx_st* context() const { return context_.get(); }

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  explicit TlsTrust(ssl_ctx_st* context) : context_(context) {}
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

class TlsStream {
 public:
  // `descriptor` is borrowed and outlives this.
  static Result<TlsStream> make(const TlsTrust& trust, int descriptor, const std::string& host);

  struct Moved {
    std::size_t count = 0;
    short wait_for = 0;  // POLLIN or POLLOUT: nothing was moved, call again when it is so
  };
  // Done when it waits for nothing.
  Result<Moved> shake_hands();
  Result<Moved> send(std::span<const std::byte> bytes);
  // 0 and nothing to wait for: the other side sends no more.
  Result<Moved> receive(std::span<std::byte> target);
  // Whether bytes of the other side are there, or it closed.
  bool has_input() const noexcept;

 private:
  struct Free {
    void operator()(ssl_st* tls) const;
  };
  explicit TlsStream(ssl_st* tls) : tls_(tls) {}
  Result<Moved> moved(int result) const;

  std::unique_ptr<ssl_st, Free> tls_;
};

}  // namespace leat::http
