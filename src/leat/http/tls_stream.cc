#include "leat/http/tls_stream.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>

namespace leat::http {
namespace {

std::string last_tls_error() {
  std::array<char, 256> text{};
  const unsigned long code = ERR_get_error();
  if (code != 0) ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  return code == 0 ? "the connection was cut" : text.data();
}

int clamp(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, INT_MAX));
}

// OpenSSL's own socket BIO writes with write(), whose SIGPIPE would end the process that we are a
// guest of.
int descriptor_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

int bio_result(BIO* bio, ssize_t count, int retry) {
  BIO_clear_retry_flags(bio);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
  }
  return static_cast<int>(count);
}

int bio_write(BIO* bio, const char* data, int size) {
  return bio_result(bio,
                    ::send(descriptor_of(bio), data, static_cast<std::size_t>(size), MSG_NOSIGNAL),
                    BIO_FLAGS_WRITE);
}

int bio_read(BIO* bio, char* data, int size) {
  return bio_result(bio, recv(descriptor_of(bio), data, static_cast<std::size_t>(size), 0),
                    BIO_FLAGS_READ);
}

long bio_control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// Made once, lives for ever: a table of functions.
const BIO_METHOD* quiet_socket_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "quiet socket");
    if (made == nullptr) return made;
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_ctrl(made, bio_control);
    return made;
  }();
  return method;
}

bool is_address(const std::string& host) {
  in_addr v4{};
  in6_addr v6{};
  return inet_pton(AF_INET, host.c_str(), &v4) == 1 || inet_pton(AF_INET6, host.c_str(), &v6) == 1;
}

}  // namespace

void TlsTrust::Free::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

Result<std::shared_ptr<const TlsTrust>> TlsTrust::system() {
  std::shared_ptr<TlsTrust> trust(new TlsTrust(SSL_CTX_new(TLS_client_method())));
  SSL_CTX* const context = trust->context();
  if (context == nullptr) return Error(ErrorCode::kIoError, last_tls_error());
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (SSL_CTX_set_default_verify_paths(context) != 1) {
    return Error(ErrorCode::kIoError, "find trusted authorities: " + last_tls_error());
  }
  return std::shared_ptr<const TlsTrust>(std::move(trust));
}

void TlsStream::Free::operator()(ssl_st* tls) const {
  SSL_free(tls);
}

Result<TlsStream> TlsStream::make(const TlsTrust& trust, int descriptor, const std::string& host) {
  TlsStream stream(SSL_new(trust.context()));
  SSL* const tls = stream.tls_.get();
  const BIO_METHOD* const method = quiet_socket_method();
  BIO* const bio = tls == nullptr || method == nullptr ? nullptr : BIO_new(method);
  if (bio == nullptr) return Error(ErrorCode::kIoError, last_tls_error());
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)));
  BIO_set_init(bio, 1);
  SSL_set_bio(tls, bio, bio);
  SSL_set_connect_state(tls);
  const bool is_set = is_address(host)
                          ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host.c_str()) == 1
                          : SSL_set1_host(tls, host.c_str()) == 1 &&
                                SSL_set_tlsext_host_name(tls, host.c_str()) == 1;
  if (!is_set) return Error(ErrorCode::kInvalidArgument, host + " cannot be asked for by TLS");
  return stream;
}

Result<TlsStream::Moved> TlsStream::moved(int result) const {
  if (result > 0) return Moved{static_cast<std::size_t>(result), 0};
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Moved{0, POLLIN};
    case SSL_ERROR_WANT_WRITE:
      return Moved{0, POLLOUT};
    case SSL_ERROR_ZERO_RETURN:
      return Moved{0, 0};
    default:
      break;
  }
  if (const long verdict = SSL_get_verify_result(tls_.get()); verdict != X509_V_OK) {
    ERR_clear_error();
    return Error(ErrorCode::kIoError, std::string("the server's certificate is not trusted: ") +
                                          X509_verify_cert_error_string(verdict));
  }
  return Error(ErrorCode::kUnavailable, "TLS: " + last_tls_error());
}

Result<TlsStream::Moved> TlsStream::shake_hands() {
  return moved(SSL_do_handshake(tls_.get()));
}

Result<TlsStream::Moved> TlsStream::send(std::span<const std::byte> bytes) {
  return moved(SSL_write(tls_.get(), bytes.data(), clamp(bytes.size())));
}

Result<TlsStream::Moved> TlsStream::receive(std::span<std::byte> target) {
  return moved(SSL_read(tls_.get(), target.data(), clamp(target.size())));
}

bool TlsStream::has_input() const noexcept {
  // What came may be TLS's own business, such as tickets for later: looking tells.
  char byte = 0;
  const int result = SSL_peek(tls_.get(), &byte, 1);
  if (result > 0) return true;
  const int error = SSL_get_error(tls_.get(), result);
  ERR_clear_error();
  return error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE;
}

}  // namespace leat::http
