// ScriptedServer: a server that says exactly what a test wants, right or wrong.
//
// Connections are served one after another by a thread; the script gets the socket of each, which
// is closed when it returns. It must end by itself when the other side closes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace leat::testing {

class ScriptedServer {
 public:
  // `number` counts the connections from 0.
  using Script = std::function<void(int socket, int number)>;

  explicit ScriptedServer(Script script) : script_(std::move(script)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    (void)listen(listener_, 64);
    socklen_t length = sizeof(address);
    (void)getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  ~ScriptedServer() {
    thread_.request_stop();
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }

  std::uint16_t port() const { return port_; }
  int connections() const { return connections_; }

  // The head of a request and what came of its body with it; empty when the client closed.
  static std::string read_request(int socket) {
    std::string text;
    std::array<char, 4096> buffer;
    while (text.find("\r\n\r\n") == text.npos) {
      const ssize_t count = recv(socket, buffer.data(), buffer.size(), 0);
      if (count <= 0) return "";
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
  }
  static void send_text(int socket, std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  // Until the other side closes.
  static void wait_for_close(int socket) {
    std::array<char, 4096> buffer;
    while (recv(socket, buffer.data(), buffer.size(), 0) > 0) {
    }
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      script_(socket, connections_++);
      close(socket);
    }
  }

  const Script script_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_{0};
  std::jthread thread_;
};

}  // namespace leat::testing
