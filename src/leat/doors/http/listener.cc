#include "leat/doors/http/listener.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

namespace leat::doors::http {
namespace {

constexpr int kBacklog = 4096;

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<Addresses> addresses_of(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
      error != 0) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", host, gai_strerror(error)));
  }
  return Addresses(found, freeaddrinfo);
}

// A bound socket, or -1 and errno.
int bound_socket(const sockaddr* address, socklen_t length) {
  const int socket = ::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  const int on = 1;
  const int off = 0;
  (void)setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  // IPv4 comes to "::" as well; it means nothing to an address of one machine.
  if (address->sa_family == AF_INET6) {
    (void)setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  if (::bind(socket, address, length) == 0) return socket;
  const int error = errno;
  close(socket);
  errno = error;
  return -1;
}

int socket_for_every_address(std::uint16_t port) {
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_addr = in6addr_any;
  v6.sin6_port = htons(port);
  const int socket = bound_socket(reinterpret_cast<const sockaddr*>(&v6), sizeof(v6));
  if (socket >= 0 || (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL)) return socket;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(INADDR_ANY);
  v4.sin_port = htons(port);
  return bound_socket(reinterpret_cast<const sockaddr*>(&v4), sizeof(v4));
}

Result<int> socket_for(const std::string& host, std::uint16_t port) {
  int socket = -1;
  if (host.empty()) {
    socket = socket_for_every_address(port);
  } else {
    ASSIGN_OR_RETURN(const Addresses addresses, addresses_of(host, port));
    for (const addrinfo* it = addresses.get(); it != nullptr && socket < 0; it = it->ai_next) {
      socket = bound_socket(it->ai_addr, it->ai_addrlen);
    }
  }
  if (socket < 0) return Error::from_errno(errno, fmt::format("listen on {}:{}", host, port));
  return socket;
}

}  // namespace

Result<Listener> Listener::bind(const std::string& host, std::uint16_t port) {
  ASSIGN_OR_RETURN(const int socket, socket_for(host, port));
  Listener listener(socket, 0);
  sockaddr_storage bound{};
  socklen_t length = sizeof(bound);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    return Error::from_errno(errno, "getsockname");
  }
  listener.port_ =
      ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                                        : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
  return listener;
}

Listener::Listener(Listener&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), port_(other.port_) {}

Listener::~Listener() {
  if (socket_ >= 0) close(socket_);
}

Status Listener::listen() {
  if (::listen(socket_, kBacklog) == 0) return ok_status();
  return Error::from_errno(errno, fmt::format("listen on port {}", port_));
}

int Listener::release() noexcept {
  return std::exchange(socket_, -1);
}

}  // namespace leat::doors::http
