#include "leat/http/client.h"

#include <fmt/format.h>

#include <algorithm>

namespace leat::http {
namespace {

std::string authority_of(const ClientOptions& options) {
  const bool is_ipv6 = options.host.find(':') != std::string::npos;
  const std::string host =
      fmt::format("{}{}{}", is_ipv6 ? "[" : "", options.host, is_ipv6 ? "]" : "");
  const bool is_usual = options.port == (options.tls ? 443 : 80);
  return is_usual ? host : fmt::format("{}:{}", host, options.port);
}

ClientConnection::Body body_of(const ClientRequest& request) {
  return request.method == "HEAD" ? ClientConnection::Body::kNone : ClientConnection::Body::kAsSaid;
}

}  // namespace

Client::Client(ClientOptions options)
    : options_(std::move(options)),
      authority_(authority_of(options_)),
      random_(options_.jitter_seed) {}

std::string Client::head_of(const ClientRequest& request, Encoding encoding) const {
  std::string head = fmt::format("{} {}{}{} HTTP/1.1\r\nHost: {}\r\n", request.method, request.path,
                                 request.query.empty() ? "" : "?", request.query, authority_);
  if (encoding == Encoding::kChunked) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (!request.body.empty() || request.method == "PUT" || request.method == "POST") {
    head += fmt::format("Content-Length: {}\r\n", request.body.size());
  }
  for (const auto& [name, value] : request.headers) head += fmt::format("{}: {}\r\n", name, value);
  if (!options_.keys.access_key.empty()) {
    head += sign({request.method, request.path, request.query, authority_, request.headers},
                 options_.keys, options_.clock->wall_ns() / 1'000'000'000);
  }
  return head + "\r\n";
}

std::unique_ptr<ClientConnection> Client::take_idle() {
  std::list<Idle> old;  // closed after the lock
  const MutexLock lock(mutex_);
  const MonotonicTime now = options_.clock->now();
  while (!idle_.empty()) {
    auto connection = std::move(idle_.front().connection);
    const bool is_fresh = now - idle_.front().since < options_.idle_life;
    idle_.pop_front();
    if (is_fresh && connection->is_reusable()) return connection;
    old.push_back({std::move(connection), now});
  }
  return nullptr;
}

void Client::keep(std::unique_ptr<ClientConnection> connection) {
  if (!connection->is_reusable()) return;
  std::list<Idle> old;  // closed after the lock
  const MutexLock lock(mutex_);
  idle_.push_front({std::move(connection), options_.clock->now()});
  if (idle_.size() > options_.idle_connections) {
    old.splice(old.end(), idle_, std::prev(idle_.end()));
  }
}

Result<Client::Attempt> Client::connect(const Context& context) {
  if (auto kept = take_idle()) return Attempt{std::move(kept), true};
  ASSIGN_OR_RETURN(auto made, connect_anew(context));
  return Attempt{std::move(made), false};
}

Result<std::unique_ptr<ClientConnection>> Client::connect_anew(const Context& context) {
  ASSIGN_OR_RETURN(auto socket, ClientSocket::connect(options_.host, options_.port,
                                                      options_.stall_limit, context));
  if (options_.tls) RETURN_IF_ERROR(socket.start_tls(*options_.tls, options_.host, context));
  return std::make_unique<ClientConnection>(std::move(socket));
}

Status Client::pause(int attempt, const Context& context) {
  std::chrono::nanoseconds left = options_.first_pause * (1 << attempt);
  {
    const MutexLock lock(mutex_);
    left = std::chrono::nanoseconds(
        static_cast<std::int64_t>(static_cast<double>(left.count()) * (0.5 + random_.unit())));
  }
  while (left.count() > 0) {
    RETURN_IF_ERROR(context.check());
    const auto step = std::min<std::chrono::nanoseconds>(left, std::chrono::milliseconds(20));
    options_.clock->sleep_for(step);
    left -= step;
  }
  return context.check();
}

Status Client::ask(const ClientRequest& request, const Context& context, const Taker& take) {
  return converse(request, context, [&](std::unique_ptr<ClientConnection>& answer) {
    Status status = take(*answer);
    if (!status.failed_with(ErrorCode::kUnavailable)) answer->finish(context);
    return status;
  });
}

Result<std::unique_ptr<ClientConnection>> Client::begin(const ClientRequest& request,
                                                        const Context& context) {
  std::unique_ptr<ClientConnection> begun;
  RETURN_IF_ERROR(converse(request, context, [&](std::unique_ptr<ClientConnection>& answer) {
    begun = std::move(answer);
    return ok_status();
  }));
  return begun;
}

Status Client::converse(const ClientRequest& request, const Context& context,
                        const Receiver& receive) {
  RETURN_IF_ERROR(context.check());
  for (int attempt = 0;; ++attempt) {
    const bool is_last = attempt + 1 >= options_.attempts;
    bool may_repeat = true;
    bool was_kept = false;
    Status status = ok_status();
    if (auto made = connect(context); made.ok()) {
      ClientConnection& connection = *made->connection;
      was_kept = made->was_kept;
      status = connection.send(head_of(request, Encoding::kLength), request.body, context);
      // A server that refuses may close before it has read everything; its answer is there then.
      if (status.ok() || connection.answers_early()) {
        status = connection.read_head(body_of(request), context);
      }
      may_repeat = request.repeat == ClientRequest::Repeat::kSafe || connection.sent_bytes() == 0;
      if (status.ok()) {
        const bool is_busy = connection.head().status() == 503 && may_repeat && !is_last;
        status = is_busy ? Status(ErrorCode::kUnavailable) : receive(made->connection);
        if (made->connection && !status.failed_with(ErrorCode::kUnavailable)) {
          keep(std::move(made->connection));
        }
      }
    } else {
      status = std::move(made).error();
    }
    if (!status.failed_with(ErrorCode::kUnavailable) || is_last || !may_repeat) return status;
    // A kept connection that turns out to be closed says nothing about the server.
    if (!was_kept) RETURN_IF_ERROR(pause(attempt, context));
  }
}

Result<std::unique_ptr<Client::Upload>> Client::upload(const ClientRequest& request,
                                                       const Context& context) {
  RETURN_IF_ERROR(context.check());
  for (int attempt = 0;; ++attempt) {
    Status status = ok_status();
    bool is_untouched = true;
    // Not a kept one: should the server be about to close it, nothing could be repeated.
    if (auto made = connect_anew(context); made.ok()) {
      ClientConnection& connection = **made;
      status = connection.send(head_of(request, Encoding::kChunked), {}, context);
      if (status.ok()) return std::unique_ptr<Upload>(new Upload(*this, *std::move(made)));
      is_untouched = connection.sent_bytes() == 0;
    } else {
      status = std::move(made).error();
    }
    const bool is_last = attempt + 1 >= options_.attempts;
    if (!status.failed_with(ErrorCode::kUnavailable) || is_last || !is_untouched) {
      return std::move(status).error();
    }
    RETURN_IF_ERROR(pause(attempt, context));
  }
}

Status Client::Upload::send(std::span<const std::byte> piece, const Context& context) {
  if (piece.empty()) return ok_status();
  if (is_cut_ || connection_->answers_early()) {
    is_cut_ = true;
    return Error(ErrorCode::kUnavailable, "the server does not take the rest");
  }
  Status status = connection_->send(fmt::format("{:x}\r\n", piece.size()), piece, context);
  if (status.ok()) status = connection_->send("\r\n", {}, context);
  if (status.failed_with(ErrorCode::kUnavailable)) is_cut_ = true;
  return status;
}

Status Client::Upload::finish(const Context& context, const Taker& take) {
  RETURN_IF_ERROR(context.check());
  if (!is_cut_ && !connection_->answers_early()) {
    Status status = connection_->send("0\r\n\r\n", {}, context);
    if (!status.ok() && !status.failed_with(ErrorCode::kUnavailable)) return status;
  }
  RETURN_IF_ERROR(connection_->read_head(ClientConnection::Body::kAsSaid, context));
  Status status = take(*connection_);
  if (status.ok() && !is_cut_) {
    connection_->finish(context);
    client_.keep(std::move(connection_));
  }
  return status;
}

}  // namespace leat::http
