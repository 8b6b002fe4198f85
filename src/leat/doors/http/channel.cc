#include "leat/doors/http/channel.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "leat/base/check.h"

namespace leat::doors::http {
namespace {

// A record of TLS holds so much.
constexpr std::size_t kTlsRecordBytes = 16 << 10;

std::ptrdiff_t result_of(ssize_t count) {
  if (count >= 0) return count;
  return errno == EAGAIN || errno == EWOULDBLOCK ? Channel::kNotNow : Channel::kBroken;
}

Error tls_error(const std::string& what) {
  std::array<char, 256> text{};
  const unsigned long code = ERR_get_error();
  ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  return Error(ErrorCode::kInvalidArgument,
               what + (code == 0 ? "" : ": " + std::string(text.data())));
}

int clamp(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, INT_MAX));
}

}  // namespace

void TlsIdentity::Free::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

Result<std::unique_ptr<TlsIdentity>> TlsIdentity::load(const std::string& certificate_file,
                                                       const std::string& key_file) {
  std::unique_ptr<TlsIdentity> identity(new TlsIdentity(SSL_CTX_new(TLS_server_method())));
  SSL_CTX* const context = identity->context();
  if (context == nullptr) return tls_error("make a TLS context");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context,
                      SSL_OP_NO_RENEGOTIATION | SSL_OP_ENABLE_KTLS | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  if (SSL_CTX_use_certificate_chain_file(context, certificate_file.c_str()) != 1) {
    return tls_error("read the certificate " + certificate_file);
  }
  if (SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return tls_error("read the key " + key_file);
  }
  if (SSL_CTX_check_private_key(context) != 1) {
    return tls_error(key_file + " is not the key of " + certificate_file);
  }
  return identity;
}

void Channel::Free::operator()(ssl_st* tls) const {
  SSL_free(tls);
}

Channel::Channel(int socket, const TlsIdentity* identity) : socket_(socket) {
  if (identity == nullptr) return;
  tls_.reset(SSL_new(identity->context()));
  CHECK(tls_ != nullptr && SSL_set_fd(tls_.get(), socket_) == 1);
  SSL_set_accept_state(tls_.get());
}

Channel::~Channel() {
  tls_.reset();
  close(socket_);
}

std::ptrdiff_t Channel::tls_result(int result) const {
  if (result > 0) return result;
  const int error = SSL_get_error(tls_.get(), result);
  ERR_clear_error();
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return kNotNow;
  return error == SSL_ERROR_ZERO_RETURN ? kEnd : kBroken;
}

std::ptrdiff_t Channel::receive(void* target, std::size_t size) {
  if (tls_) return tls_result(SSL_read(tls_.get(), target, clamp(size)));
  for (;;) {
    const ssize_t count = recv(socket_, target, size, 0);
    if (count >= 0 || errno != EINTR) return result_of(count);
  }
}

std::ptrdiff_t Channel::send(std::span<const iovec> pieces, More more) {
  if (!tls_) {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(pieces.data());
    message.msg_iovlen = pieces.size();
    const int flags = MSG_NOSIGNAL | (more == More::kYes ? MSG_MORE : 0);
    for (;;) {
      const ssize_t count = sendmsg(socket_, &message, flags);
      if (count >= 0 || errno != EINTR) return result_of(count);
    }
  }
  // Small pieces share a record.
  std::array<char, kTlsRecordBytes> record;
  std::size_t filled = 0;
  for (const iovec& piece : pieces) {
    const std::size_t taken = std::min(piece.iov_len, record.size() - filled);
    if (taken > 0) std::memcpy(record.data() + filled, piece.iov_base, taken);
    filled += taken;
    if (taken < piece.iov_len) break;
  }
  return filled == 0 ? 0 : tls_result(SSL_write(tls_.get(), record.data(), clamp(filled)));
}

std::ptrdiff_t Channel::send_file(int descriptor, std::uint64_t offset, std::size_t length) {
  auto position = static_cast<off_t>(offset);
  if (!tls_) {
    for (;;) {
      const ssize_t count = sendfile(socket_, descriptor, &position, length);
      if (count >= 0 || errno != EINTR) return result_of(count);
    }
  }
  // The kernel encrypts, where it can.
  if (BIO_get_ktls_send(SSL_get_wbio(tls_.get()))) {
    const ossl_ssize_t count = SSL_sendfile(tls_.get(), descriptor, position, length, 0);
    return count > 0 ? count : tls_result(static_cast<int>(count));
  }
  std::array<char, kTlsRecordBytes> record;
  const ssize_t count = pread(descriptor, record.data(), std::min(length, record.size()), position);
  if (count <= 0) return count == 0 ? kEnd : kBroken;
  return tls_result(SSL_write(tls_.get(), record.data(), static_cast<int>(count)));
}

void Channel::end() {
  if (tls_) {
    (void)SSL_shutdown(tls_.get());
    ERR_clear_error();
  }
  shutdown(socket_, SHUT_WR);
}

}  // namespace leat::doors::http
