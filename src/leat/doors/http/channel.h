// Channel: the bytes of one connection, as they are or through TLS.
//
// A call moves what it can without waiting. With TLS the handshake is part of the first calls. For
// one thread at a time.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "leat/base/result.h"

struct ssl_ctx_st;  // OpenSSL's
struct ssl_st;

namespace leat::doors::http {

// A certificate and its key. Immutable; shared by all connections.
class TlsIdentity {
 public:
  // From two PEM files; the certificate may bring its chain. kInvalidArgument says what is wrong.
  static Result<std::unique_ptr<TlsIdentity>> load(const std::string& certificate_file,
                                                   const std::string& key_file);
  ssl_ctx_st* context() const { return context_.get(); }

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  explicit TlsIdentity(ssl_ctx_st* context) : context_(context) {}
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

class Channel {
 public:
  // What a call moved: a number of bytes, or one of these.
  static constexpr std::ptrdiff_t kEnd = 0;  // the peer sends no more
  static constexpr std::ptrdiff_t kNotNow = -1;
  static constexpr std::ptrdiff_t kBroken = -2;
  enum class More : bool { kNo, kYes };  // follows at once: no need to send a small piece yet

  // Owns `socket`, which does not block. `identity` may be null, and outlives this otherwise.
  Channel(int socket, const TlsIdentity* identity);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  std::ptrdiff_t receive(void* target, std::size_t size);
  // Whether there may be more to receive after `count` of the `asked` bytes came.
  bool may_have_more(std::size_t count, std::size_t asked) const {
    return tls_ != nullptr || count == asked;
  }
  std::ptrdiff_t send(std::span<const iovec> pieces, More more);
  // From a file. kEnd when the file ends before `offset`.
  std::ptrdiff_t send_file(int descriptor, std::uint64_t offset, std::size_t length);
  // Says that nothing more will be sent.
  void end();
  int socket() const { return socket_; }

 private:
  std::ptrdiff_t tls_result(int result) const;

  struct Free {
    void operator()(ssl_st* tls) const;
  };
  const int socket_;
  std::unique_ptr<ssl_st, Free> tls_;
};

}  // namespace leat::doors::http
