// `leat:` stores: the contract suite against a real server, and servers that misbehave.
#include "leat/drivers/leat/leat_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "leat/store/testing/contract.h"
#include "leat/wire/batch.h"
#include "scripted_server.h"
#include "served_store.h"

namespace leat {
namespace {

using doors::http::Access;
using doors::http::Anonymous;
using doors::http::Right;
using testing::bytes_of;
using testing::ContractSubject;
using testing::fails_with;
using testing::pattern_bytes;
using testing::ScriptedServer;
using testing::ServedStore;
using testing::StoreContract;
using testing::succeeds;

Access with_key() {
  Access access;
  access.add_key("LEATKEY", "secret", {{Right::kAdmin, "", ""}});
  return access;
}

// A store whose server lives as long as it.
std::shared_ptr<ObjectStore> keep_with(std::shared_ptr<ServedStore> served,
                                       std::shared_ptr<ObjectStore> store) {
  ObjectStore* borrowed = store.get();
  return {borrowed, [served = std::move(served), store = std::move(store)](ObjectStore*) mutable {
            store.reset();
            served.reset();
          }};
}

std::shared_ptr<ObjectStore> make_anonymous() {
  auto served = ServedStore::start(Access(Anonymous::kWrite));
  if (served == nullptr || !served->store().create_bucket("bucket", {}, {}).ok()) return nullptr;
  return keep_with(served, make_leat_store(served->connect(), "bucket"));
}

std::shared_ptr<ObjectStore> make_signed() {
  auto served = ServedStore::start(with_key());
  if (served == nullptr || !served->store().create_bucket("bucket", {}, {}).ok()) return nullptr;
  auto options = served->client_options();
  options.keys = {"LEATKEY", "secret"};
  return keep_with(served, make_leat_store(served->connect(options), "bucket"));
}

INSTANTIATE_TEST_SUITE_P(Leat, StoreContract,
                         ::testing::Values(ContractSubject{"anonymous", make_anonymous},
                                           ContractSubject{"signed", make_signed}),
                         testing::contract_subject_name);

class LeatStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    served_ = ServedStore::start(Access(Anonymous::kWrite));
    ASSERT_NE(served_, nullptr);
    server_ = served_->connect();
    ASSERT_TRUE(succeeds(served_->store().create_bucket("photos", {}, {})));
    store_ = make_leat_store(server_, "photos");
  }

  void put(std::string_view name, const testing::Bytes& bytes) {
    ASSERT_TRUE(succeeds(write_object(*store_, name, bytes, {}, {}))) << name;
  }

  std::shared_ptr<ServedStore> served_;
  std::shared_ptr<LeatServer> server_;
  std::shared_ptr<ObjectStore> store_;
};

TEST_F(LeatStoreTest, BucketsAreMadeListedAndRemoved) {
  EXPECT_TRUE(succeeds(server_->create_bucket("fast", Durability::kMemory, {})));
  EXPECT_TRUE(
      fails_with(server_->create_bucket("fast", Durability::kDisk, {}), ErrorCode::kAlreadyExists));
  auto buckets = server_->list_buckets({});
  ASSERT_TRUE(succeeds(buckets));
  ASSERT_EQ(buckets->size(), 2u);
  EXPECT_EQ(buckets->front().name, "fast");
  EXPECT_EQ(buckets->front().durability, Durability::kMemory);
  EXPECT_TRUE(succeeds(server_->set_bucket("fast", Durability::kDisk, {})));
  EXPECT_EQ(server_->stat_bucket("fast", {})->durability, Durability::kDisk);
  put("x", bytes_of("x"));
  EXPECT_TRUE(fails_with(server_->remove_bucket("photos", {}), ErrorCode::kPreconditionFailed));
  EXPECT_TRUE(succeeds(server_->remove_bucket("fast", {})));
  EXPECT_TRUE(fails_with(server_->remove_bucket("fast", {}), ErrorCode::kNotFound));
  EXPECT_TRUE(fails_with(server_->set_bucket("fast", Durability::kDisk, {}), ErrorCode::kNotFound));
}

TEST_F(LeatStoreTest, ErrorsKeepTheirCodesAndMessages) {
  const auto stranger = make_leat_store(server_, "nobody");
  const auto page = stranger->list({}, {});
  ASSERT_TRUE(fails_with(page, ErrorCode::kNotFound));
  EXPECT_NE(page.error().message().find("nobody"), std::string_view::npos);
  EXPECT_TRUE(fails_with(stranger->stat("x", {}), ErrorCode::kNotFound));
  BatchRead reads[] = {{.name = "x", .range = {}, .target = {}}};
  stranger->read_batch(reads, {});
  EXPECT_TRUE(fails_with(reads[0].result, ErrorCode::kNotFound));
}

TEST_F(LeatStoreTest, ALongListingComesInPages) {
  constexpr int kNames = 10'050;
  const auto bucket = *served_->store().bucket("photos");
  CreateOptions options;
  options.durability = Durability::kMemory;
  for (int i = 0; i < kNames; ++i) {
    ASSERT_TRUE(succeeds(write_object(*bucket, fmt::format("{:06}", i), {}, options, {})));
  }
  ListRequest request;
  request.limit = UINT32_MAX;
  auto page = store_->list(request, {});
  ASSERT_TRUE(succeeds(page));
  ASSERT_EQ(page->entries.size(), static_cast<std::size_t>(kNames));
  EXPECT_EQ(page->entries.back().name, "010049");
  EXPECT_TRUE(page->next_start_after.empty());
  request.limit = 10'020;
  page = store_->list(request, {});
  ASSERT_TRUE(succeeds(page));
  EXPECT_EQ(page->entries.size(), 10'020u);
  EXPECT_EQ(page->next_start_after, "010019");
}

TEST_F(LeatStoreTest, ALargeBatchIsSplit) {
  put("one", bytes_of("1"));
  put("two", bytes_of("22"));
  std::vector<BatchRead> reads(40'000);
  for (std::size_t i = 0; i < reads.size(); ++i) {
    reads[i].name = i % 3 == 0 ? "one" : i % 3 == 1 ? "two" : "none";
  }
  store_->read_batch(reads, {});
  for (std::size_t i = 0; i < reads.size(); ++i) {
    if (i % 3 == 2) {
      ASSERT_TRUE(fails_with(reads[i].result, ErrorCode::kNotFound)) << i;
    } else {
      ASSERT_TRUE(succeeds(reads[i].result)) << i;
      ASSERT_EQ(reads[i].result->bytes.size(), i % 3 + 1) << i;
    }
  }
}

TEST_F(LeatStoreTest, AReplacedLargeObjectIsReadOnOrRefusedButNeverMixed) {
  const auto bytes = pattern_bytes(5 << 20, 1);
  put("large", bytes);
  const auto reader = store_->open("large", {}, {});
  ASSERT_TRUE(succeeds(reader));
  testing::Bytes piece(1000);
  // Elsewhere, while that version is there.
  ASSERT_TRUE(succeeds((*reader)->read_at(4 << 20, piece, {})));
  EXPECT_TRUE(std::equal(piece.begin(), piece.end(), bytes.begin() + (4 << 20)));
  put("large", pattern_bytes(6 << 20, 2));
  // What lies before it is still in the stream.
  ASSERT_TRUE(succeeds((*reader)->read_at(3 << 20, piece, {})));
  EXPECT_TRUE(std::equal(piece.begin(), piece.end(), bytes.begin() + (3 << 20)));
  EXPECT_TRUE(fails_with((*reader)->read_at(0, piece, {}), ErrorCode::kPreconditionFailed));
}

TEST_F(LeatStoreTest, AServerThatComesBackIsFoundAgain) {
  put("x", bytes_of("before"));
  const auto large = pattern_bytes(3 << 20, 7);
  put("large", large);
  const auto reader = store_->open("large", {}, {});
  ASSERT_TRUE(succeeds(reader));
  testing::Bytes read(large.size());
  ASSERT_TRUE(succeeds((*reader)->read_at(0, std::span(read).first(1000), {})));
  served_->stop();
  ASSERT_TRUE(served_->restart());
  // The kept connections are dead, the stream is cut: nobody notices.
  EXPECT_TRUE(succeeds(read_object(*store_, "x", {})));
  ASSERT_TRUE(succeeds((*reader)->read_at(1000, std::span(read).subspan(1000), {})));
  EXPECT_TRUE(read == large);
  EXPECT_TRUE(succeeds(store_->remove("x", {}, {})));
}

TEST_F(LeatStoreTest, AForkedChildMakesConnectionsOfItsOwn) {
  const auto bytes = pattern_bytes(3 << 20, 8);
  put("large", bytes);
  put("x", bytes_of("x"));
  const auto reader = store_->open("large", {}, {});
  ASSERT_TRUE(succeeds(reader));
  testing::Bytes read(bytes.size());
  ASSERT_TRUE(succeeds((*reader)->read_at(0, std::span(read).first(1 << 20), {})));
  const auto reads_right = [&] {
    const auto rest = std::span(read).subspan(1 << 20);
    return (*reader)->read_at(1 << 20, rest, {}).ok() && read == bytes &&
           read_object(*store_, "x", {}).ok();
  };
  const pid_t child = fork();
  if (child == 0) _exit(reads_right() ? 0 : 1);
  EXPECT_TRUE(reads_right());
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(LeatStoreTest, AServerThatIsGoneIsUnavailable) {
  put("x", bytes_of("x"));
  served_->stop();
  EXPECT_TRUE(fails_with(store_->stat("x", {}), ErrorCode::kUnavailable));
  EXPECT_TRUE(fails_with(store_->remove("x", {}, {}), ErrorCode::kUnavailable));
  EXPECT_TRUE(fails_with(write_object(*store_, "x", pattern_bytes(2 << 20, 1), {}, {}),
                         ErrorCode::kUnavailable));
  BatchRead reads[] = {{.name = "x", .range = {}, .target = {}}};
  store_->read_batch(reads, {});
  EXPECT_TRUE(fails_with(reads[0].result, ErrorCode::kUnavailable));
}

TEST(LeatRights, AreTheServersToGive) {
  Access access;
  access.add_key("READER", "secret", {{Right::kRead, "photos", "open/"}});
  auto served = ServedStore::start(std::move(access));
  ASSERT_NE(served, nullptr);
  ASSERT_TRUE(succeeds(served->store().create_bucket("photos", {}, {})));
  const auto bucket = *served->store().bucket("photos");
  ASSERT_TRUE(succeeds(write_object(*bucket, "open/x", bytes_of("x"), {}, {})));
  ASSERT_TRUE(succeeds(write_object(*bucket, "shut/x", bytes_of("x"), {}, {})));
  auto options = served->client_options();
  options.keys = {"READER", "secret"};
  const auto store = make_leat_store(served->connect(options), "photos");
  EXPECT_TRUE(succeeds(read_object(*store, "open/x", {})));
  BatchRead reads[] = {{.name = "open/x", .range = {}, .target = {}},
                       {.name = "shut/x", .range = {}, .target = {}}};
  store->read_batch(reads, {});
  EXPECT_TRUE(succeeds(reads[0].result));
  EXPECT_TRUE(fails_with(reads[1].result, ErrorCode::kPermissionDenied));
  constexpr auto kDenied = ErrorCode::kPermissionDenied;
  EXPECT_TRUE(fails_with(read_object(*store, "shut/x", {}), kDenied));
  EXPECT_TRUE(fails_with(store->stat("shut/x", {}), kDenied));
  EXPECT_TRUE(fails_with(write_object(*store, "open/y", bytes_of("y"), {}, {}), kDenied));
  // Refused while it is sent: the reason arrives all the same.
  EXPECT_TRUE(
      fails_with(write_object(*store, "open/y", pattern_bytes(20 << 20, 1), {}, {}), kDenied));
  EXPECT_TRUE(fails_with(store->remove("open/x", {}, {}), kDenied));
  options.keys.secret = "wrong";
  EXPECT_TRUE(
      fails_with(make_leat_store(served->connect(options), "photos")->stat("open/x", {}), kDenied));
}

TEST(LeatUrls, NameServerBucketAndName) {
  const auto parse = [](const char* text) { return parse_leat_url(*Url::parse(text)); };
  auto url = parse("leat://[::1]:99/pho%20tos/a/b%2Fc?keys=/k");
  ASSERT_TRUE(succeeds(url));
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, 99);
  EXPECT_EQ(url->bucket, "pho tos");
  EXPECT_EQ(url->name, "a/b/c");
  EXPECT_EQ(url->keys, "/k");
  EXPECT_EQ(url->server_url(), "leat://[::1]:99");
  url = parse("leats://storage.example");
  ASSERT_TRUE(succeeds(url));
  EXPECT_EQ(url->port, kLeatPort);
  EXPECT_TRUE(url->bucket.empty());
  for (const char* bad :
       {"leat:///bucket", "leat://host:0/b", "leat://host:65536/b", "leat://host:x/b",
        "leat://user:secret@host/b", "leat://host//name", "leat://host/b?kees=x",
        "leat://ho%0Ast/b", "leat://[::1/b", "leat://h/b?keys="}) {
    const auto text = Url::parse(bad);
    EXPECT_TRUE(!text.ok() || fails_with(parse_leat_url(*text), ErrorCode::kInvalidArgument))
        << bad;
  }
}

TEST(LeatUrls, TheKeyComesFromItsFile) {
  auto served = ServedStore::start(with_key());
  ASSERT_NE(served, nullptr);
  testing::TemporaryDirectory directory;
  const std::string file = (directory.path() / "keys").string();
  std::ofstream(file) << "# a comment\n\nLEATKEY secret admin\nOTHER other read\n";
  const auto name = fmt::format("leat://127.0.0.1:{}/made?keys={}", served->port(), file);
  Registry registry;
  register_leat(registry);
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  EXPECT_TRUE(fails_with(registry.open(name, IfMissing::kFail), ErrorCode::kPermissionDenied));
  ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  auto location = registry.open(name, IfMissing::kFail);
  ASSERT_TRUE(succeeds(location));
  EXPECT_TRUE(fails_with(location->store->list({}, {}), ErrorCode::kNotFound));
  location = registry.open(name, IfMissing::kCreate);
  ASSERT_TRUE(succeeds(location));
  EXPECT_TRUE(succeeds(location->store->list({}, {})));
  EXPECT_TRUE(fails_with(registry.open(name + ".none", IfMissing::kFail), ErrorCode::kNotFound));
}

// A client of a server that says what the test wants.
class Against {
 public:
  explicit Against(ScriptedServer::Script script) : scripted_(std::move(script)) {
    http::ClientOptions options;
    options.host = "127.0.0.1";
    options.port = scripted_.port();
    options.attempts = 3;
    options.first_pause = std::chrono::milliseconds(1);
    store_ = make_leat_store(std::make_shared<LeatServer>("leat://scripted", options), "bucket");
  }
  // Says `answer` to every request, and closes.
  static Against answering(std::string answer) {
    return Against([answer = std::move(answer)](int socket, int) {
      if (ScriptedServer::read_request(socket).empty()) return;
      ScriptedServer::send_text(socket, answer);
    });
  }
  ObjectStore& store() { return *store_; }
  int connections() const { return scripted_.connections(); }

  Result<Slice> read_one(const Context& context = {}) {
    BatchRead reads[] = {{.name = "x", .range = {}, .target = {}}};
    store_->read_batch(reads, context);
    return reads[0].result;
  }

 private:
  ScriptedServer scripted_;
  std::shared_ptr<ObjectStore> store_;
};

std::string answer_of(std::string_view type, std::string_view body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{}", type,
                     body.size(), body);
}

TEST(LeatFaults, WhatIsNoLeatServerIsToldSo) {
  for (const char* answer :
       {"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno",
        "HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 404 Not Found\r\nx-leat-error: no such code\r\nContent-Length: 0\r\n\r\n"}) {
    auto against = Against::answering(answer);
    EXPECT_TRUE(fails_with(against.store().stat("x", {}), ErrorCode::kIoError)) << answer;
    EXPECT_TRUE(fails_with(against.store().list({}, {}), ErrorCode::kIoError)) << answer;
    EXPECT_TRUE(fails_with(against.read_one(), ErrorCode::kIoError)) << answer;
  }
  constexpr auto kBad = ErrorCode::kCorrupted;
  for (const std::string& answer :
       {std::string("SSH-2.0-OpenSSH_9.2\r\n\r\n"), answer_of("text/html", "<html></html>"),
        answer_of("application/json", "{\"entries\":[{\"name\":1}]}"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx")}) {
    auto against = Against::answering(answer);
    EXPECT_TRUE(fails_with(against.store().stat("x", {}), kBad)) << answer;
    EXPECT_TRUE(fails_with(against.store().open("x", {}, {}), kBad)) << answer;
    EXPECT_TRUE(fails_with(against.store().list({}, {}), kBad)) << answer;
    EXPECT_TRUE(fails_with(against.read_one(), kBad)) << answer;
    EXPECT_TRUE(fails_with(write_object(against.store(), "x", bytes_of("x"), {}, {}), kBad));
  }
}

TEST(LeatFaults, FramesThatLieAreRefused) {
  const auto frames_of = [](std::size_t count) {
    std::string text;
    wire::append_frames_head(text, count);
    return text;
  };
  std::string too_many = frames_of(2);
  wire::append_frame(too_many, bytes_of("x"));
  wire::append_frame(too_many, bytes_of("x"));
  std::string odd_status = frames_of(1) + std::string(16, '\x7f');
  std::string long_message = frames_of(1);
  wire::append_error_frame(long_message, ErrorCode::kNotFound, std::string(1 << 20, 'm'));
  for (const std::string& body : {too_many, odd_status, long_message, std::string(100, 'x')}) {
    auto against = Against::answering(answer_of(wire::kFramesType, body));
    EXPECT_TRUE(fails_with(against.read_one(), ErrorCode::kCorrupted));
    EXPECT_EQ(against.connections(), 1);
  }
  // More than was asked for, into a buffer of the caller.
  std::string too_long = frames_of(1);
  wire::append_frame(too_long, pattern_bytes(11, 1));
  auto against = Against::answering(answer_of(wire::kFramesType, too_long));
  testing::Bytes target(10);
  BatchRead reads[] = {{.name = "x", .range = {}, .target = target},
                       {.name = "x", .range = {0, 10}, .target = {}}};
  against.store().read_batch(std::span(reads).first(1), {});
  EXPECT_TRUE(fails_with(reads[0].result, ErrorCode::kCorrupted));
  against.store().read_batch(std::span(reads).last(1), {});
  EXPECT_TRUE(fails_with(reads[1].result, ErrorCode::kCorrupted));
}

TEST(LeatFaults, AnAnswerThatEndsEarlyIsAskedForAgain) {
  std::string huge;
  wire::append_frames_head(huge, 1);
  wire::append_frame_head(huge, std::uint64_t{1} << 60);
  // Promised, never sent; and nothing so large is allocated for it.
  auto against = Against::answering(
      fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "{:x}\r\n{}\r\n",
                  wire::kFramesType, huge.size(), huge));
  EXPECT_TRUE(fails_with(against.read_one(), ErrorCode::kUnavailable));
  EXPECT_EQ(against.connections(), 3);
}

TEST(LeatFaults, ABrokenBatchGoesOnWhereItEnded) {
  std::vector<std::size_t> asked;
  Against against([&](int socket, int) {
    const std::string request = ScriptedServer::read_request(socket);
    if (request.empty()) return;
    const std::string text = request.substr(request.find("\r\n\r\n") + 4);
    const auto list = wire::parse_batch_list(text);  // views into it
    if (!list.ok()) return;
    asked.push_back(list->items.size());
    std::string body;
    wire::append_frames_head(body, list->items.size());
    // Two items, and half of a third.
    for (std::size_t i = 0; i < std::min<std::size_t>(2, list->items.size()); ++i) {
      wire::append_frame(body, std::as_bytes(std::span(list->items[i].name)));
    }
    if (list->items.size() > 2) wire::append_frame_head(body, 5);
    ScriptedServer::send_text(
        socket,
        fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{}",
                    wire::kFramesType, body.size() + (list->items.size() > 2 ? 5 : 0), body));
  });
  const std::vector<std::string> names = {"a", "bb", "ccc", "dddd", "eeeee"};
  std::vector<BatchRead> reads(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) reads[i].name = names[i];
  against.store().read_batch(reads, {});
  for (std::size_t i = 0; i < names.size(); ++i) {
    ASSERT_TRUE(succeeds(reads[i].result)) << i;
    const auto bytes = reads[i].result->bytes;
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), names[i]);
  }
  EXPECT_EQ(asked, (std::vector<std::size_t>{5, 3, 1}));
}

constexpr std::string_view kEmptyObject =
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nx-leat-size: 0\r\nx-leat-generation: 1\r\n"
    "x-leat-mtime-ns: 1\r\nETag: \"e\"\r\n\r\n";

TEST(LeatFaults, AConnectionThatWasClosedMeanwhileIsReplaced) {
  // Each connection serves one request, and is closed without a word when the next one came: the
  // server's idle limit met the client's next request.
  Against against([](int socket, int) {
    if (ScriptedServer::read_request(socket).empty()) return;
    ScriptedServer::send_text(socket, kEmptyObject);
    (void)ScriptedServer::read_request(socket);
  });
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(succeeds(against.store().stat("x", {})));
    EXPECT_TRUE(succeeds(write_object(against.store(), "x", {}, {}, {})));
    EXPECT_TRUE(succeeds(against.store().remove("x", {}, {})));
  }
}

TEST(LeatFaults, AConditionalWriteIsNotRepeatedBlindly) {
  Against against([](int socket, int) { (void)ScriptedServer::read_request(socket); });
  const auto only_if_absent = testing::with_precondition(Precondition::absent());
  EXPECT_TRUE(fails_with(write_object(against.store(), "x", bytes_of("x"), only_if_absent, {}),
                         ErrorCode::kUnavailable));
  EXPECT_EQ(against.connections(), 1);
  EXPECT_TRUE(fails_with(write_object(against.store(), "x", bytes_of("x"), {}, {}),
                         ErrorCode::kUnavailable));
  EXPECT_EQ(against.connections(), 4);
}

TEST(LeatFaults, ABusyServerIsAskedAgain) {
  Against against([](int socket, int number) {
    if (ScriptedServer::read_request(socket).empty()) return;
    ScriptedServer::send_text(socket, number < 2 ? "HTTP/1.1 503 Later\r\nContent-Length: 0\r\n"
                                                   "x-leat-error: unavailable\r\n\r\n"
                                                 : kEmptyObject);
  });
  EXPECT_TRUE(succeeds(against.store().stat("x", {})));
  EXPECT_EQ(against.connections(), 3);
}

TEST(LeatFaults, ASilentServerCostsNoMoreThanTheDeadline) {
  Against against([](int socket, int) { ScriptedServer::wait_for_close(socket); });
  constexpr auto kLate = ErrorCode::kDeadlineExceeded;
  const auto soon = [] { return Context().with_timeout(std::chrono::milliseconds(50)); };
  EXPECT_TRUE(fails_with(against.store().stat("x", soon()), kLate));
  EXPECT_TRUE(fails_with(against.store().open("x", {}, soon()), kLate));
  EXPECT_TRUE(fails_with(against.store().list({}, soon()), kLate));
  EXPECT_TRUE(fails_with(against.store().remove("x", {}, soon()), kLate));
  EXPECT_TRUE(fails_with(against.read_one(soon()), kLate));
  EXPECT_TRUE(fails_with(write_object(against.store(), "x", pattern_bytes(50 << 20, 1), {}, soon()),
                         kLate));
  std::stop_source cancelled;
  std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    cancelled.request_stop();
  });
  EXPECT_TRUE(
      fails_with(against.store().stat("x", Context().with_cancellation(cancelled.get_token())),
                 ErrorCode::kCancelled));
}

}  // namespace
}  // namespace leat
