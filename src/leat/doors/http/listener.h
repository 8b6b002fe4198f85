// Listener: a TCP port that belongs to this process, for a server that is still to be started.
//
// The port is bound and nobody can connect yet: whoever has to make or open something first knows
// that it will be served, and clients are refused, not kept waiting, until it is.
#pragma once

#include <cstdint>
#include <string>

#include "leat/base/result.h"

namespace leat::doors::http {

class Listener {
 public:
  // An empty host means every address of this machine, IPv4 and IPv6 by one socket; IPv4 only where
  // the kernel has no IPv6. Port 0: one that is free.
  static Result<Listener> bind(const std::string& host, std::uint16_t port);

  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  std::uint16_t port() const noexcept { return port_; }
  // From now on clients connect, and wait to be accepted.
  Status listen();
  // Whom the port belongs to from now on; call it after listen().
  int release() noexcept;

 private:
  Listener(int socket, std::uint16_t port) : socket_(socket), port_(port) {}

  int socket_;
  std::uint16_t port_;
};

}  // namespace leat::doors::http
