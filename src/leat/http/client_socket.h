// ClientSocket: a TCP connection, plain or with TLS, whose calls block within the limits of a
// Context.
//
// Every wait ends with the Context's deadline, soon after its cancellation, or when nothing moved
// for the stall limit, so that a server that hangs never hangs its clients. A forked child shares
// the connection with its parent, so it may not use it: to the child the connection has failed. For
// one thread at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/http/tls_stream.h"

namespace leat::http {

class ClientSocket {
 public:
  // kUnavailable when nobody answers there.
  static Result<ClientSocket> connect(const std::string& host, std::uint16_t port,
                                      std::chrono::milliseconds stall_limit,
                                      const Context& context);
  ClientSocket(ClientSocket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        stall_limit_(other.stall_limit_),
        owner_(other.owner_),
        tls_(std::move(other.tls_)) {}
  ClientSocket& operator=(ClientSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(stall_limit_, other.stall_limit_);
    std::swap(owner_, other.owner_);
    std::swap(tls_, other.tls_);
    return *this;
  }
  ~ClientSocket();

  // From now on everything goes through TLS. kIoError when the server cannot be trusted to be
  // `host`.
  Status start_tls(const TlsTrust& trust, const std::string& host, const Context& context);

  // Sends both, one after the other, in as few calls as possible. `sent` grows with what was taken.
  Status send(std::string_view first, std::span<const std::byte> second, std::uint64_t& sent,
              const Context& context);
  // At least one byte, unless the other side closed: 0.
  Result<std::size_t> receive(std::span<std::byte> target, const Context& context);
  // Whether something came, the other side closed, or the connection is not ours, without waiting.
  bool has_input() const noexcept;

 private:
  ClientSocket(int descriptor, std::chrono::milliseconds stall_limit);
  bool is_own() const noexcept;
  Status wait(short events, const Context& context) const;
  Status send_by_tls(std::span<const std::byte> bytes, std::uint64_t& sent, const Context& context);
  static Result<ClientSocket> connect_to(const void* address, std::size_t address_bytes, int family,
                                         std::chrono::milliseconds stall_limit,
                                         const Context& context);

  int descriptor_;
  std::chrono::milliseconds stall_limit_;
  pid_t owner_;
  std::optional<TlsStream> tls_;
};

}  // namespace leat::http
