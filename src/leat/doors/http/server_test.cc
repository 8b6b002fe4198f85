// The server over real sockets, with an application that tells what it was given.
#include "leat/doors/http/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <latch>
#include <string>
#include <thread>

namespace leat::doors::http {
namespace {

using leat::http::Method;

constexpr std::size_t kQuickLargeBytes = 64 << 10;

// What the exchanges of the test do, and what became of them.
struct Script {
  std::atomic<int> begun{0};
  std::atomic<int> destroyed{0};
  std::atomic<bool> was_cancelled{false};
  std::latch release{1};  // for "/wait"
};

class Countdown final : public BodySource {
 public:
  explicit Countdown(int pieces) : pieces_(pieces) {}
  Result<Left> next(std::string& target, const Context& /*context*/) override {
    if (pieces_ < 0) return ErrorCode::kIoError;
    if (pieces_ == 13) pieces_ = 0;  // "/broken": an error after the first piece
    target.append(1000, static_cast<char>('a' + --pieces_ % 26));
    return pieces_ == 0 ? Left::kNothing : Left::kMore;
  }

 private:
  int pieces_;
};

// Pieces of which every third must be waited for, and which are empty now and then.
class Mixture final : public BodySource {
 public:
  static constexpr int kPieces = 100;
  static std::string piece(int number) {
    return number % 7 == 0 ? "" : std::string(static_cast<std::size_t>(number) * 997, 'm');
  }
  Result<Left> next(std::string& target, const Context& /*context*/) override {
    return add_piece(target);
  }
  std::optional<Left> next_now(std::string& target) override {
    if (at_ % 3 == 0) return std::nullopt;
    return add_piece(target);
  }

 private:
  Left add_piece(std::string& target) {
    target += piece(at_);
    return ++at_ == kPieces ? Left::kNothing : Left::kMore;
  }
  int at_ = 0;
};

class Echo final : public Exchange {
 public:
  Echo(const RequestHead& head, Script& script) : head_(head), script_(script) { ++script_.begun; }
  ~Echo() override { ++script_.destroyed; }

  bool wants_body() const override { return head_.path() != "/refused"; }
  bool never_waits() const override { return head_.path() == "/mixture"; }
  Status consume(std::span<const std::byte> piece, const Context& /*context*/) override {
    body_.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    if (head_.path() == "/picky") return ErrorCode::kInvalidArgument;
    return ok_status();
  }
  Answer respond(const Context& context) override {
    Answer answer;
    if (head_.path() == "/wait") {
      script_.release.wait();
    } else if (head_.path() == "/until-cancelled") {
      while (context.check().ok()) std::this_thread::yield();
      script_.was_cancelled = true;
    } else if (head_.path() == "/stream") {
      answer.body = std::make_unique<Countdown>(5);
      return answer;
    } else if (head_.path() == "/mixture") {
      answer.headers = "X-Taken: " + std::to_string(body_.size()) + "\r\n";
      answer.body = std::make_unique<Mixture>();
      return answer;
    } else if (head_.path() == "/broken") {
      answer.body = std::make_unique<Countdown>(13);
      return answer;
    }
    answer.status = head_.path() == "/picky" ? 400 : 200;
    answer.headers = "X-Path: " + std::string(head_.path()) + "\r\n";
    if (head_.method() == Method::kHead) {
      answer.length_of_head = 12345;
    } else {
      answer.body = head_.path() == "/large" ? std::string(10 << 20, 'x') : body_;
    }
    return answer;
  }

 private:
  const RequestHead& head_;
  Script& script_;
  std::string body_;
};

class EchoApplication final : public Application {
 public:
  explicit EchoApplication(Script& script) : script_(script) {}
  std::optional<QuickAnswer> answer_now(const RequestHead& head, const QuickSpace& space) override {
    if (!head.path().starts_with("/quick")) return std::nullopt;
    QuickAnswer answer;
    answer.header_bytes =
        fmt::format_to_n(space.headers.data(), space.headers.size(), "X-Quick: {}\r\n", head.path())
            .size;
    const std::size_t size = head.path() == "/quick-large" ? kQuickLargeBytes : 5;
    std::fill_n(space.body.begin(), size, std::byte{'q'});
    answer.body = space.body.first(size);
    return answer;
  }
  std::unique_ptr<Exchange> begin(const RequestHead& head) override {
    return std::make_unique<Echo>(head, script_);
  }
  Answer refuse(const BadRequest& request) override {
    Answer answer;
    answer.status = request.status;
    answer.headers = fmt::format("X-Path: {}\r\n", request.head.path());
    answer.body = std::string(request.error.message());
    return answer;
  }

 private:
  Script& script_;
};

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const timeval patience{20, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  ~Client() { hang_up(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) return;  // the server has said its last word
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  // Reads until the text holds `end`, or the connection ends.
  std::string read_until(std::string_view end) {
    std::size_t at = 0;
    while ((at = buffer_.find(end)) == buffer_.npos) {
      if (!read_more()) return std::exchange(buffer_, {});
    }
    std::string text = buffer_.substr(0, at + end.size());
    buffer_.erase(0, at + end.size());
    return text;
  }
  std::string read_bytes(std::size_t count) {
    while (buffer_.size() < count && read_more()) {
    }
    std::string text = buffer_.substr(0, count);
    buffer_.erase(0, text.size());
    return text;
  }
  std::string read_to_end() {
    while (read_more()) {
    }
    return std::exchange(buffer_, {});
  }
  struct Answered {
    std::string head;
    std::string body;
    int status() const { return std::stoi(head.substr(9, 3)); }
  };
  Answered answer() {
    Answered answered{read_until("\r\n\r\n"), {}};
    const std::size_t at = answered.head.find("Content-Length: ");
    if (at != answered.head.npos) {
      answered.body = read_bytes(std::stoul(answered.head.substr(at + 16)));
    }
    return answered;
  }
  // The other direction stays open.
  void end_sending() { shutdown(socket_, SHUT_WR); }
  void reset() {
    const linger at_once{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    hang_up();
  }
  void hang_up() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }

 private:
  bool read_more() {
    std::array<char, 65536> piece;
    const ssize_t count = recv(socket_, piece.data(), piece.size(), 0);
    if (count > 0) buffer_.append(piece.data(), static_cast<std::size_t>(count));
    return count > 0;
  }

  int socket_;
  std::string buffer_;
};

template <typename Condition>
bool eventually(const Condition& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

class ServerTest : public ::testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    options.port = 0;
    auto server = Server::start(options, application_);
    ASSERT_TRUE(server.ok()) << server.error().message();
    server_ = *std::move(server);
  }
  Client client() { return Client(server_->port()); }
  static std::string get(std::string_view path) {
    return fmt::format("GET {} HTTP/1.1\r\nHost: a\r\n\r\n", path);
  }
  static std::string put(std::string_view path, std::string_view body) {
    return fmt::format("PUT {} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{}", path,
                       body.size(), body);
  }

  Script script_;
  EchoApplication application_{script_};
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, AnswersOnOneConnectionInTheAskedOrder) {
  start();
  auto c = client();
  c.send(get("/quick1") + put("/slow", "hello") + get("/quick2") + put("/slow", ""));
  EXPECT_EQ(c.answer().body, "qqqqq");
  EXPECT_EQ(c.answer().body, "hello");
  EXPECT_NE(c.answer().head.find("X-Quick: /quick2"), std::string::npos);
  EXPECT_EQ(c.answer().status(), 200);
  EXPECT_EQ(server_->counts().requests, 4u);
}

TEST_F(ServerTest, TakesARequestByteByByte) {
  start();
  auto c = client();
  for (const char byte : put("/x", "hello") + get("/quick")) c.send({&byte, 1});
  EXPECT_EQ(c.answer().body, "hello");
  EXPECT_EQ(c.answer().body, "qqqqq");
}

TEST_F(ServerTest, CarriesLargeBodiesBothWays) {
  start();
  auto c = client();
  const std::string body(3'000'001, 'b');
  c.send(put("/x", body));
  EXPECT_EQ(c.answer().body, body);
  c.send(get("/large"));
  EXPECT_EQ(c.answer().body.size(), 10u << 20);
  for (int i = 0; i < 100; ++i) c.send(get("/quick-large"));  // more than the socket holds
  for (int i = 0; i < 100; ++i) ASSERT_EQ(c.answer().body.size(), kQuickLargeBytes) << i;
}

TEST_F(ServerTest, TakesAndGivesChunks) {
  start();
  auto c = client();
  std::string request = "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string expected;
  for (int i = 1; i < 200; ++i) {
    const std::string piece(static_cast<std::size_t>(i * 37), static_cast<char>('a' + i % 26));
    request += fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
    expected += piece;
  }
  c.send(request + "0\r\n\r\n" + get("/stream"));
  EXPECT_EQ(c.answer().body, expected);
  EXPECT_NE(c.read_until("\r\n\r\n").find("Transfer-Encoding: chunked"), std::string::npos);
  const std::string stream = c.read_until("\r\n0\r\n\r\n");
  EXPECT_EQ(stream.size(), 5 * (10 + 1000 + 2) + 5u);
}

TEST_F(ServerTest, MakesAnAnswerOnTheLoopAndOnThePoolByTurns) {
  start();
  auto c = client();
  std::string expected;
  for (int i = 0; i < Mixture::kPieces; ++i) {
    const std::string piece = Mixture::piece(i);
    if (!piece.empty()) expected += fmt::format("{:08x}\r\n{}\r\n", piece.size(), piece);
  }
  expected += "0\r\n\r\n";
  // The second body comes in two pieces, the third with all that is before it.
  for (const std::size_t size : {0u, 70'000u, 10u}) {
    const std::string request = put("/mixture", std::string(size, 'b'));
    c.send(std::string_view(request).substr(0, request.size() / 2));
    c.send(std::string_view(request).substr(request.size() / 2));
    EXPECT_NE(c.read_until("\r\n\r\n").find(fmt::format("X-Taken: {}\r\n", size)),
              std::string::npos);
    EXPECT_EQ(c.read_until("\r\n0\r\n\r\n"), expected);
  }
  c.send(get("/quick"));
  EXPECT_EQ(c.answer().body, "qqqqq");
}

TEST_F(ServerTest, CutsABodyThatBreaksOff) {
  start();
  auto c = client();
  c.send(get("/broken"));
  const std::string all = c.read_to_end();
  EXPECT_FALSE(all.ends_with("0\r\n\r\n"));
}

TEST_F(ServerTest, SaysContinueBeforeTheBody) {
  start();
  auto c = client();
  c.send("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(c.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  c.send("hello");
  EXPECT_EQ(c.answer().body, "hello");
  // Not before one that nobody wants.
  c.send("PUT /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(c.answer().status(), 200);
  EXPECT_EQ(c.read_to_end(), "");
}

TEST_F(ServerTest, AnErrorAmidALargeBodyReachesTheClient) {
  start();
  auto c = client();
  c.send(put("/picky", std::string(8 << 20, 'x')));
  const auto answered = c.answer();
  EXPECT_EQ(answered.status(), 400);
  EXPECT_NE(answered.head.find("Connection: close"), std::string::npos);
}

TEST_F(ServerTest, GivesAHeadRequestNoBody) {
  start();
  auto c = client();
  c.send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n" + get("/quick"));
  EXPECT_NE(c.read_until("\r\n\r\n").find("Content-Length: 12345"), std::string::npos);
  EXPECT_EQ(c.answer().body, "qqqqq");
}

TEST_F(ServerTest, ClosesWhenAskedTo) {
  start();
  for (const std::string_view request :
       {"GET /quick HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET /quick HTTP/1.0\r\n\r\n", "GET /x HTTP/1.0\r\n\r\n", "GET /stream HTTP/1.0\r\n\r\n"}) {
    auto c = client();
    c.send(request);
    EXPECT_NE(c.read_to_end().find("Connection: close"), std::string::npos) << request;
  }
}

TEST_F(ServerTest, RefusesWhatIsNoRequestAndEndsTheConnection) {
  start({.max_head_bytes = 4096});
  for (const std::string& request :
       {std::string("nonsense\r\n\r\n"), std::string("GET / HTTP/1.1\r\n\r\n"),
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n" +
            get("/quick")}) {
    auto c = client();
    c.send(request);
    const std::string all = c.read_to_end();
    EXPECT_TRUE(all.starts_with("HTTP/1.1 400 ")) << request;
    EXPECT_EQ(all.find("qqqqq"), std::string::npos);  // what follows is not taken for a request
  }
  auto c = client();
  c.send("GET / HTTP/1.1\r\nX: " + std::string(5000, 'x'));
  EXPECT_TRUE(c.read_to_end().starts_with("HTTP/1.1 431 "));
  EXPECT_EQ(script_.begun, 0);
  // Whoever answers knows where it went, if that could be read.
  for (const auto& [request, status, path] :
       {std::tuple("GET /there HTTP/2.0\r\nHost: a\r\n\r\n", 505, "/there"),
        std::tuple("PRI * HTTP/2.0\r\n\r\n", 505, "*"),
        std::tuple("GET /there HTTP/1.1\r\nHost : a\r\n\r\n", 400, "/there"),
        std::tuple("GET /there HTTP/1.1\r\nTransfer-Encoding: x\r\n\r\n", 501, "/there"),
        std::tuple("GET /th ere HTTP/1.1\r\nHost: a\r\n\r\n", 400, "")}) {
    auto other = client();
    other.send(request);
    const auto answered = other.answer();
    EXPECT_EQ(answered.status(), status) << request;
    EXPECT_NE(answered.head.find(fmt::format("X-Path: {}\r\n", path)), std::string::npos)
        << request;
  }
  auto chunked = client();
  chunked.send("PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX");
  EXPECT_TRUE(chunked.read_to_end().starts_with("HTTP/1.1 400 "));
}

TEST_F(ServerTest, LeavesNothingOfAClientThatVanishes) {
  start();
  {
    auto c = client();
    c.send("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nhalf");
    ASSERT_TRUE(eventually([&] { return script_.begun == 1; }));
  }
  EXPECT_TRUE(eventually([&] { return script_.destroyed == 1; }));
  EXPECT_TRUE(eventually([&] { return server_->counts().connections == 0; }));
}

TEST_F(ServerTest, CancelsWhatAVanishedClientWaitedFor) {
  start();
  const std::array<void (*)(Client&), 3> ways{
      [](Client& c) { c.reset(); },
      [](Client& c) { c.hang_up(); },
      [](Client& c) { c.end_sending(); },
  };
  for (int i = 0; i < 3; ++i) {
    script_.was_cancelled = false;
    auto c = client();
    c.send(get("/until-cancelled"));
    ASSERT_TRUE(eventually([&] { return script_.begun == i + 1; }));
    ways[static_cast<std::size_t>(i)](c);
    EXPECT_TRUE(eventually([&] { return script_.was_cancelled.load(); })) << i;
    EXPECT_TRUE(eventually([&] { return script_.destroyed == i + 1; })) << i;
  }
}

TEST_F(ServerTest, CancelsWhatComesAfterTheEndOfInput) {
  start();
  auto c = client();
  // The end is there before the second request gets to the pool.
  c.send(get("/wait") + get("/until-cancelled"));
  c.end_sending();
  script_.release.count_down();
  EXPECT_EQ(c.answer().status(), 200);
  EXPECT_EQ(c.answer().status(), 200);
  EXPECT_EQ(c.read_to_end(), "");
  EXPECT_TRUE(script_.was_cancelled);
}

TEST_F(ServerTest, AnswersAClientThatEndedItsInputAndReadsOn) {
  start({.loops = 1});
  for (int i = 0; i < 50; ++i) {
    auto c = client();
    std::string requests;
    for (int k = 0; k < 200; ++k) requests += get("/quick");
    c.send(requests);
    c.end_sending();
    for (int k = 0; k < 200; ++k) ASSERT_EQ(c.answer().body, "qqqqq");
    // And the server closes, without waiting for more.
    EXPECT_EQ(c.read_to_end(), "");
  }
  // An answer that has begun goes on, on the loop and on the pool by turns.
  auto c = client();
  c.send(put("/mixture", "body"));
  const std::string head = c.read_until("\r\n\r\n");
  c.end_sending();
  EXPECT_TRUE(c.read_to_end().ends_with("0\r\n\r\n")) << head;
}

TEST_F(ServerTest, ASlowRequestHoldsUpNobody) {
  start({.loops = 1});
  auto slow = client();
  slow.send(get("/wait"));
  ASSERT_TRUE(eventually([&] { return script_.begun == 1; }));
  auto quick = client();
  quick.send(get("/quick"));
  EXPECT_EQ(quick.answer().body, "qqqqq");
  script_.release.count_down();
  EXPECT_EQ(slow.answer().status(), 200);
}

TEST_F(ServerTest, StopsWhenTheRequestsUnderWayAreDone) {
  start({.loops = 1});
  auto busy = client();
  busy.send(get("/wait"));
  auto idle = client();
  ASSERT_TRUE(eventually([&] { return script_.begun == 1 && server_->counts().connections == 2; }));
  auto stopped = std::async(std::launch::async, [&] { server_->stop(std::chrono::seconds(30)); });
  EXPECT_EQ(idle.read_to_end(), "");
  script_.release.count_down();
  const auto answered = busy.answer();
  EXPECT_EQ(answered.status(), 200);
  EXPECT_NE(answered.head.find("Connection: close"), std::string::npos);
  stopped.get();
}

TEST_F(ServerTest, ClosesConnectionsOnWhichNothingMoves) {
  start({.idle_timeout = std::chrono::milliseconds(100)});
  auto idle = client();
  EXPECT_EQ(idle.read_to_end(), "");
  auto trickling = client();
  std::jthread trickle([&](const std::stop_token& stop) {
    trickling.send("GET / HTTP/1.1\r\n");
    while (!stop.stop_requested()) {
      trickling.send("X: y\r\n");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  EXPECT_TRUE(eventually([&] { return server_->counts().connections == 0; }));
}

TEST_F(ServerTest, TakesNoMoreConnectionsThanAllowed) {
  start({.max_connections = 2});
  auto first = client();
  auto second = client();
  ASSERT_TRUE(eventually([&] { return server_->counts().connections == 2; }));
  auto third = client();
  EXPECT_EQ(third.read_to_end(), "");
  first.send(get("/quick"));
  EXPECT_EQ(first.answer().body, "qqqqq");
  second.hang_up();
  ASSERT_TRUE(eventually([&] { return server_->counts().connections == 1; }));
  auto fourth = client();
  fourth.send(get("/quick"));
  EXPECT_EQ(fourth.answer().body, "qqqqq");
}

TEST_F(ServerTest, ServesManyClientsAtOnce) {
  start();
  std::vector<std::jthread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      auto c = client();
      for (int i = 0; i < 200; ++i) {
        const std::string body(static_cast<std::size_t>((t * 7919 + i * 104729) % 70'000), 'z');
        c.send(i % 2 == 0 ? get("/quick") : put("/x", body));
        good += c.answer().body == (i % 2 == 0 ? "qqqqq" : body) ? 1 : 0;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(good, 1600);
}

}  // namespace
}  // namespace leat::doors::http
