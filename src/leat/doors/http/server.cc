#include "leat/doors/http/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <deque>
#include <list>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "leat/base/executor.h"
#include "leat/base/mutex.h"
#include "leat/doors/http/connection.h"
#include "leat/http/date.h"

namespace leat::doors::http {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

// How long answers are sent before the sockets are asked again: what a small request waits for
// large ones, at most.
constexpr auto kTurnsTime = std::chrono::microseconds(500);
// Objects of one loop that are sent and wait for the disk at a time. More of them would not make a
// disk faster, but take the threads that short requests need, and the processor from the loop.
constexpr std::size_t kMostObjectsInPool = 4;

// What all loops of a server share.
struct Shared {
  Shared(const ServerOptions& server_options, Application& the_application)
      : options(server_options),
        application(the_application),
        // A connection has one task at a time, so submit() never waits for room.
        pool({.thread_count = server_options.pool_threads,
              .queue_capacity = server_options.max_connections + 1,
              .thread_name = "leat-http"}) {}

  const ServerOptions options;
  Application& application;
  std::unique_ptr<TlsIdentity> identity;  // null: without TLS
  std::atomic<bool> is_draining{false};
  std::atomic<bool> is_stopping{false};  // cut what is still there
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> in_pool{0};
  ThreadPoolExecutor pool;
};

// A thread that waits for the sockets of its connections.
class Loop {
 public:
  explicit Loop(Shared& shared) : shared_(shared) {}
  ~Loop() {
    for (const int socket : new_sockets_) close(socket);  // came while the server stopped
    if (epoll_ >= 0) close(epoll_);
    if (wake_ >= 0) close(wake_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Status open() {
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (epoll_ < 0 || wake_ < 0) return Error::from_errno(errno, "make an event loop");
    return watch(wake_, EPOLLIN, &wake_);
  }

  // The loop that has the listener hands its connections to all.
  Status listen_on(int listener, std::vector<Loop*> loops) {
    listener_ = listener;
    peers_ = std::move(loops);
    return watch(listener_, EPOLLIN, &listener_);
  }

  void start() {
    thread_ = std::jthread([this] { run(); });
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

  // From any thread.
  void add(int socket) {
    {
      MutexLock lock(mutex_);
      new_sockets_.push_back(socket);
    }
    wake();
  }
  void wake() const {
    const std::uint64_t one = 1;
    (void)!write(wake_, &one, sizeof(one));
  }

 private:
  // A connection and where it stands in the loop.
  struct Client {
    Client(int socket, Application& application, const Connection::Options& options)
        : connection(socket, application, options) {}
    Connection connection;
    std::list<Client>::iterator self;
    SteadyTime moved;
    std::uint64_t counted_requests = 0;
    Connection::Want want = Connection::Want::kRead;
    bool is_in_pool = false;  // or waits to be
    bool is_object_in_pool = false;
    bool is_waiting_for_turn = false;
    bool has_event = false;  // came while it was in the pool
    bool is_gone = false;
  };

  Status watch(int descriptor, std::uint32_t events, void* who) const {
    epoll_event event{};
    event.events = events;
    event.data.ptr = who;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
      return Error::from_errno(errno, "epoll_ctl");
    }
    return ok_status();
  }

  void run();
  void handle(const epoll_event& event);
  void go_on(Client& client);
  void wait_for_turn(Client& client);
  void take_turns();
  void take_messages();
  void accept_all();
  void adopt(int socket);
  void advance(Client& client);
  void submit_in_turn(Client& client);
  void submit(Client& client);
  void remove(Client& client);
  void look_after_time();
  void drain();

  Shared& shared_;
  int epoll_ = -1;
  int wake_ = -1;
  int listener_ = -1;
  std::deque<Client*> turns_;  // who goes on when the others had their turn
  std::deque<Client*> waiting_for_pool_;
  std::size_t objects_in_pool_ = 0;
  std::vector<Loop*> peers_;
  std::size_t next_peer_ = 0;
  SteadyTime now_;
  std::time_t date_ = 0;
  std::list<Client> clients_;       // the one that moved last is last
  std::list<Client> gone_clients_;  // whose events may still be in hand
  std::unique_ptr<LoopSpace> space_ = std::make_unique<LoopSpace>();
  Mutex mutex_;
  std::vector<int> new_sockets_ GUARDED_BY(mutex_);
  std::vector<Client*> returned_ GUARDED_BY(mutex_);  // from the pool
  std::jthread thread_;
};

void Loop::run() {
  // As in the pool: a client that goes away during a sendfile() must not end the process, and
  // handlers of the process run in its own threads.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::array<epoll_event, 256> events;
  SteadyTime next_look = std::chrono::steady_clock::now();
  while (!(shared_.is_draining.load() && clients_.empty())) {
    const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                                 turns_.empty() ? 1000 : 0);
    now_ = std::chrono::steady_clock::now();
    if (const std::time_t time = std::time(nullptr); time != date_) {
      date_ = time;
      space_->date = leat::http::date_line(time);
    }
    for (int i = 0; i < count; ++i) handle(events[static_cast<std::size_t>(i)]);
    take_turns();
    gone_clients_.clear();
    if (now_ >= next_look || shared_.is_draining.load()) {
      look_after_time();
      gone_clients_.clear();
      next_look = now_ + std::chrono::seconds(1);
    }
  }
}

void Loop::handle(const epoll_event& event) {
  if (event.data.ptr == &wake_) {
    std::uint64_t count = 0;
    (void)!read(wake_, &count, sizeof(count));
    take_messages();
  } else if (event.data.ptr == &listener_) {
    accept_all();
  } else {
    Client& client = *static_cast<Client*>(event.data.ptr);
    if (client.is_gone) return;
    if ((event.events & (EPOLLHUP | EPOLLERR)) != 0) client.connection.cancel();
    if ((event.events & EPOLLRDHUP) != 0) client.connection.end_input();
    if (client.is_in_pool) {
      client.has_event = true;
      return;
    }
    go_on(client);
  }
}

// Requests come first: an answer that did not fit into its socket is a long one.
void Loop::go_on(Client& client) {
  if (client.connection.is_answering()) {
    wait_for_turn(client);
  } else {
    advance(client);
  }
}

void Loop::wait_for_turn(Client& client) {
  if (std::exchange(client.is_waiting_for_turn, true)) return;
  turns_.push_back(&client);
}

// One after another, until it is time to hear who else wants something.
void Loop::take_turns() {
  if (turns_.empty()) return;
  const SteadyTime end = std::chrono::steady_clock::now() + kTurnsTime;
  while (!turns_.empty()) {
    Client& client = *turns_.front();
    turns_.pop_front();
    client.is_waiting_for_turn = false;
    if (!client.is_in_pool) advance(client);
    if (std::chrono::steady_clock::now() >= end) return;
  }
}

void Loop::take_messages() {
  std::vector<int> sockets;
  std::vector<Client*> returned;
  {
    MutexLock lock(mutex_);
    sockets.swap(new_sockets_);
    returned.swap(returned_);
  }
  for (const int socket : sockets) adopt(socket);
  for (Client* client : returned) {
    client->is_in_pool = false;
    if (std::exchange(client->is_object_in_pool, false)) --objects_in_pool_;
    const bool has_event = std::exchange(client->has_event, false);
    switch (client->want) {
      case Connection::Want::kClose:
        remove(*client);
        break;
      case Connection::Want::kPool:
        submit_in_turn(*client);
        break;
      case Connection::Want::kTurn:
        wait_for_turn(*client);
        break;
      case Connection::Want::kLoop:
        go_on(*client);
        break;
      case Connection::Want::kRead:
      case Connection::Want::kWrite:
        if (has_event) go_on(*client);
        break;
    }
  }
  while (!waiting_for_pool_.empty() && objects_in_pool_ < kMostObjectsInPool) {
    Client& client = *waiting_for_pool_.front();
    waiting_for_pool_.pop_front();
    submit_in_turn(client);
  }
}

void Loop::accept_all() {
  for (;;) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) {
      // Out of descriptors: those who wait are taken when one is free again.
      if (errno == EMFILE || errno == ENFILE)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    if (shared_.connections.load() >= shared_.options.max_connections) {
      shared_.refused.fetch_add(1);
      close(socket);
      continue;
    }
    shared_.accepted.fetch_add(1);
    shared_.connections.fetch_add(1);
    Loop* const loop = peers_[next_peer_++ % peers_.size()];
    if (loop == this) {
      adopt(socket);
    } else {
      loop->add(socket);
    }
  }
}

void Loop::adopt(int socket) {
  const int on = 1;
  (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  clients_.emplace_back(
      socket, shared_.application,
      Connection::Options{shared_.options.max_head_bytes, shared_.identity.get()});
  Client& client = clients_.back();
  client.self = std::prev(clients_.end());
  client.moved = now_;
  // Edges: a connection that is kept costs one call for all of its requests.
  if (!watch(socket, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, &client).ok()) {
    remove(client);
    return;
  }
  advance(client);
}

void Loop::advance(Client& client) {
  const bool was_reading_head = client.connection.is_reading_head();
  if (shared_.is_draining.load(std::memory_order_relaxed)) client.connection.close_after_answer();
  do {
    client.want = client.connection.run_on_loop(*space_);
  } while (client.want == Connection::Want::kLoop);
  const std::uint64_t requests = client.connection.requests();
  if (requests != client.counted_requests) {
    shared_.requests.fetch_add(requests - std::exchange(client.counted_requests, requests),
                               std::memory_order_relaxed);
  }
  // The time for a head runs from its first byte, however slowly the others follow.
  if (!was_reading_head || !client.connection.is_reading_head()) {
    client.moved = now_;
    clients_.splice(clients_.end(), clients_, client.self);
  }
  if (client.want == Connection::Want::kClose) {
    remove(client);
  } else if (client.want == Connection::Want::kPool) {
    submit_in_turn(client);
  } else if (client.want == Connection::Want::kTurn) {
    wait_for_turn(client);
  }
}

void Loop::submit_in_turn(Client& client) {
  client.is_in_pool = true;
  if (client.connection.is_sending_object()) {
    if (objects_in_pool_ == kMostObjectsInPool) {
      waiting_for_pool_.push_back(&client);
      return;
    }
    ++objects_in_pool_;
    client.is_object_in_pool = true;
  }
  submit(client);
}

void Loop::submit(Client& client) {
  // The end that came before the request got here: it is not told twice.
  if (client.connection.has_input_ended()) client.connection.end_input();
  shared_.in_pool.fetch_add(1, std::memory_order_relaxed);
  shared_.pool.submit([this, &client] {
    client.want = client.connection.run_on_pool();
    shared_.in_pool.fetch_sub(1, std::memory_order_relaxed);
    bool is_first = false;
    {
      MutexLock lock(mutex_);
      is_first = returned_.empty();
      returned_.push_back(&client);
    }
    if (is_first) wake();
  });
}

void Loop::remove(Client& client) {
  client.is_gone = true;
  if (client.is_waiting_for_turn) std::erase(turns_, &client);
  shared_.connections.fetch_sub(1);
  (void)epoll_ctl(epoll_, EPOLL_CTL_DEL, client.connection.socket(), nullptr);
  gone_clients_.splice(gone_clients_.end(), clients_, client.self);
}

// Closes connections on which nothing moves, and when the server stops, those that are idle.
void Loop::look_after_time() {
  while (!clients_.empty() && now_ - clients_.front().moved > shared_.options.idle_timeout) {
    Client& client = clients_.front();
    if (client.is_in_pool) {
      client.moved = now_;
      clients_.splice(clients_.end(), clients_, client.self);
    } else {
      remove(client);
    }
  }
  if (shared_.is_draining.load()) drain();
}

void Loop::drain() {
  if (listener_ >= 0) {
    (void)epoll_ctl(epoll_, EPOLL_CTL_DEL, listener_, nullptr);
    listener_ = -1;
  }
  const bool cuts = shared_.is_stopping.load();
  for (auto it = clients_.begin(); it != clients_.end();) {
    Client& client = *it++;
    client.connection.close_after_answer();
    if (cuts) client.connection.cancel();
    if (!client.is_in_pool && (cuts || client.connection.is_idle())) remove(client);
  }
}

class RunningServer final : public Server {
 public:
  RunningServer(const ServerOptions& options, Application& application)
      : shared_(options, application) {}
  ~RunningServer() override { stop(std::chrono::milliseconds(0)); }

  Status open(Listener listener);

  std::uint16_t port() const override { return port_; }
  void stop(std::chrono::milliseconds patience) override;
  Counts counts() const override {
    return {shared_.connections.load(), shared_.accepted.load(), shared_.refused.load(),
            shared_.requests.load(),    shared_.in_pool.load(),  shared_.options.pool_threads};
  }

 private:
  Shared shared_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::vector<std::unique_ptr<Loop>> loops_;
};

Status RunningServer::open(Listener listener) {
  const ServerOptions& options = shared_.options;
  if (!options.tls_certificate.empty() || !options.tls_key.empty()) {
    ASSIGN_OR_RETURN(shared_.identity, TlsIdentity::load(options.tls_certificate, options.tls_key));
  }
  RETURN_IF_ERROR(listener.listen());
  port_ = listener.port();
  listener_ = listener.release();
  const std::size_t cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  const std::size_t count = shared_.options.loops > 0 ? shared_.options.loops : cores;
  std::vector<Loop*> all;
  for (std::size_t i = 0; i < count; ++i) {
    loops_.push_back(std::make_unique<Loop>(shared_));
    RETURN_IF_ERROR(loops_.back()->open());
    all.push_back(loops_.back().get());
  }
  RETURN_IF_ERROR(loops_.front()->listen_on(listener_, all));
  for (Loop* loop : all) loop->start();
  return ok_status();
}

void RunningServer::stop(std::chrono::milliseconds patience) {
  if (listener_ >= 0) {
    // The loops may still watch it; new connections are refused from here on.
    (void)shutdown(listener_, SHUT_RD);
  }
  shared_.is_draining.store(true);
  for (const auto& loop : loops_) loop->wake();
  const auto end = std::chrono::steady_clock::now() + patience;
  while (shared_.connections.load() > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    for (const auto& loop : loops_) loop->wake();
  }
  shared_.is_stopping.store(true);
  for (const auto& loop : loops_) loop->wake();
  for (const auto& loop : loops_) loop->join();
  loops_.clear();
  if (listener_ >= 0) close(listener_);
  listener_ = -1;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options,
                                              Application& application) {
  ASSIGN_OR_RETURN(Listener listener, Listener::bind(options.host, options.port));
  return start(options, application, std::move(listener));
}

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options,
                                              Application& application, Listener listener) {
  auto server = std::make_unique<RunningServer>(options, application);
  RETURN_IF_ERROR(server->open(std::move(listener)));
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace leat::doors::http
