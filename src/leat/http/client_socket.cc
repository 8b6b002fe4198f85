#include "leat/http/client_socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace leat::http {
namespace {

// How long a cancellation may go unnoticed.
constexpr std::chrono::milliseconds kCancellationLatency(20);

Error connection_error(int error, std::string_view what) {
  Error told = Error::from_errno(error, what);
  // Whatever the reason, it is the connection that failed, and another one may not.
  return Error(ErrorCode::kUnavailable, std::string(told.message()));
}

Error another_process() {
  return Error(ErrorCode::kUnavailable, "the connection is of the process that forked this one");
}

}  // namespace

Result<ClientSocket> ClientSocket::connect(const std::string& host, std::uint16_t port,
                                           std::chrono::milliseconds stall_limit,
                                           const Context& context) {
  RETURN_IF_ERROR(context.check());
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
      error != 0) {
    const bool is_final = error == EAI_NONAME;
    return Error(is_final ? ErrorCode::kInvalidArgument : ErrorCode::kUnavailable,
                 fmt::format("{}: {}", host, gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  Result<ClientSocket> socket = Error(ErrorCode::kUnavailable, host + ": no address");
  for (const addrinfo* one = found; one != nullptr && !socket.ok(); one = one->ai_next) {
    socket = connect_to(one->ai_addr, one->ai_addrlen, one->ai_family, stall_limit, context);
  }
  if (socket.ok()) return socket;
  return std::move(socket).error().within(fmt::format("connect to {}:{}", host, port));
}

Result<ClientSocket> ClientSocket::connect_to(const void* address, std::size_t address_bytes,
                                              int family, std::chrono::milliseconds stall_limit,
                                              const Context& context) {
  const int descriptor = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return Error::from_errno(errno, "socket");
  ClientSocket socket(descriptor, stall_limit);
  const int on = 1;
  (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (::connect(descriptor, static_cast<const sockaddr*>(address),
                static_cast<socklen_t>(address_bytes)) == 0) {
    return socket;
  }
  if (errno != EINPROGRESS) return connection_error(errno, "connect");
  RETURN_IF_ERROR(socket.wait(POLLOUT, context));
  int error = 0;
  socklen_t length = sizeof(error);
  (void)getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) return connection_error(error, "connect");
  return socket;
}

ClientSocket::ClientSocket(int descriptor, std::chrono::milliseconds stall_limit)
    : descriptor_(descriptor), stall_limit_(stall_limit), owner_(getpid()) {}

// The system call costs little beside the one that follows.
bool ClientSocket::is_own() const noexcept {
  return getpid() == owner_;
}

ClientSocket::~ClientSocket() {
  tls_.reset();
  if (descriptor_ >= 0) close(descriptor_);
}

Status ClientSocket::start_tls(const TlsTrust& trust, const std::string& host,
                               const Context& context) {
  ASSIGN_OR_RETURN(auto stream, TlsStream::make(trust, descriptor_, host));
  for (;;) {
    ASSIGN_OR_RETURN(const auto moved, stream.shake_hands());
    if (moved.wait_for == 0) break;
    RETURN_IF_ERROR(wait(moved.wait_for, context));
  }
  tls_.emplace(std::move(stream));
  return ok_status();
}

Status ClientSocket::wait(short events, const Context& context) const {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    RETURN_IF_ERROR(context.check());
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited >= stall_limit_) {
      return Error(ErrorCode::kUnavailable, "the server does not answer");
    }
    std::chrono::nanoseconds patience = stall_limit_ - waited;
    patience = std::min(patience, context.remaining());
    if (context.cancellation().stop_possible()) {
      patience = std::min<std::chrono::nanoseconds>(patience, kCancellationLatency);
    }
    pollfd entry{descriptor_, events, 0};
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(patience).count();
    const int count = poll(&entry, 1, static_cast<int>(milliseconds));
    if (count > 0) return ok_status();
    if (count < 0 && errno != EINTR) return Error::from_errno(errno, "poll");
  }
}

Status ClientSocket::send(std::string_view first, std::span<const std::byte> second,
                          std::uint64_t& sent, const Context& context) {
  RETURN_IF_ERROR(context.check());
  if (!is_own()) return another_process();
  if (tls_) {
    RETURN_IF_ERROR(send_by_tls(std::as_bytes(std::span(first)), sent, context));
    return send_by_tls(second, sent, context);
  }
  while (!first.empty() || !second.empty()) {
    std::array<iovec, 2> pieces{{{const_cast<char*>(first.data()), first.size()},
                                 {const_cast<std::byte*>(second.data()), second.size()}}};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t count = sendmsg(descriptor_, &message, MSG_NOSIGNAL);
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return connection_error(errno, "send");
      RETURN_IF_ERROR(wait(POLLOUT, context));
      continue;
    }
    auto taken = static_cast<std::size_t>(count);
    sent += taken;
    const std::size_t of_first = std::min(taken, first.size());
    first.remove_prefix(of_first);
    second = second.subspan(taken - of_first);
  }
  return ok_status();
}

Status ClientSocket::send_by_tls(std::span<const std::byte> bytes, std::uint64_t& sent,
                                 const Context& context) {
  while (!bytes.empty()) {
    ASSIGN_OR_RETURN(const auto moved, tls_->send(bytes));
    if (moved.wait_for != 0) {
      RETURN_IF_ERROR(wait(moved.wait_for, context));
      continue;
    }
    if (moved.count == 0) return Error(ErrorCode::kUnavailable, "the server closed the connection");
    sent += moved.count;
    bytes = bytes.subspan(moved.count);
  }
  return ok_status();
}

Result<std::size_t> ClientSocket::receive(std::span<std::byte> target, const Context& context) {
  if (!is_own()) return another_process();
  for (;;) {
    if (tls_) {
      ASSIGN_OR_RETURN(const auto moved, tls_->receive(target));
      if (moved.wait_for == 0) return moved.count;
      RETURN_IF_ERROR(wait(moved.wait_for, context));
      continue;
    }
    const ssize_t count = recv(descriptor_, target.data(), target.size(), 0);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return connection_error(errno, "receive");
    RETURN_IF_ERROR(wait(POLLIN, context));
  }
}

bool ClientSocket::has_input() const noexcept {
  if (!is_own()) return true;
  if (tls_) return tls_->has_input();
  pollfd entry{descriptor_, POLLIN | POLLRDHUP, 0};
  return poll(&entry, 1, 0) != 0;
}

}  // namespace leat::http
