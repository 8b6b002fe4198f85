// `http:` stores: against our own server, which knows ranges, and against servers that misbehave.
#include "leat/drivers/web/web_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "leat/store/testing/contract.h"
#include "scripted_server.h"
#include "served_store.h"

namespace leat {
namespace {

using doors::http::Access;
using doors::http::Anonymous;
using testing::Bytes;
using testing::bytes_of;
using testing::ContractSubject;
using testing::fails_with;
using testing::pattern_bytes;
using testing::ScriptedServer;
using testing::ServedStore;
using testing::StoreContract;
using testing::succeeds;
using Names = std::vector<std::string>;

Result<StoreLocation> open_url(const std::string& url) {
  Registry registry;
  register_web(registry);
  return registry.open(url, IfMissing::kFail);
}

// A server without files.
std::shared_ptr<ObjectStore> make_empty() {
  auto scripted = std::make_shared<ScriptedServer>([](int socket, int) {
    const std::string request = ScriptedServer::read_request(socket);
    ScriptedServer::send_text(
        socket, request.find(" / ") != request.npos
                    ? "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<html></html>"
                    : "HTTP/1.0 404 None\r\n\r\n");
  });
  auto location = open_url(fmt::format("http://127.0.0.1:{}/", scripted->port()));
  if (!location.ok()) return nullptr;
  ObjectStore* borrowed = location->store.get();
  return {borrowed, [scripted, store = location->store](ObjectStore*) mutable {
            store.reset();
            scripted.reset();
          }};
}

INSTANTIATE_TEST_SUITE_P(Web, StoreContract, ::testing::Values(ContractSubject{"web", make_empty}),
                         testing::contract_subject_name);

class WebStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    served_ = ServedStore::start(Access(Anonymous::kRead));
    ASSERT_NE(served_, nullptr);
    ASSERT_TRUE(succeeds(served_->store().create_bucket("photos", {}, {})));
    bucket_ = *served_->store().bucket("photos");
    base_ = fmt::format("http://127.0.0.1:{}/photos/", served_->port());
    store_ = open(base_);
  }
  static std::shared_ptr<ObjectStore> open(const std::string& url) {
    auto location = open_url(url);
    EXPECT_TRUE(succeeds(location)) << url;
    return location.ok() ? location->store : nullptr;
  }
  void put(std::string_view name, const Bytes& bytes) {
    ASSERT_TRUE(succeeds(write_object(*bucket_, name, bytes, {}, {}))) << name;
  }
  static Result<Names> list(ObjectStore& store, const ListRequest& request = {}) {
    ASSIGN_OR_RETURN(const ListPage page, store.list(request, {}));
    Names names;
    for (const auto& entry : page.entries) {
      names.push_back(fmt::format("{}:{}", entry.name, entry.info.size_bytes));
    }
    return names;
  }

  std::shared_ptr<ServedStore> served_;
  std::shared_ptr<ObjectStore> bucket_;
  std::string base_;
  std::shared_ptr<ObjectStore> store_;
};

TEST_F(WebStoreTest, ReadsObjectsOfEverySize) {
  for (const std::size_t size : {0, 1, 1000, 262'144, 262'145, 5'000'000}) {
    const auto bytes = pattern_bytes(size, 1);
    put("a b/object", bytes);
    const auto info = store_->stat("a b/object", {});
    ASSERT_TRUE(succeeds(info));
    EXPECT_EQ(info->size_bytes, size);
    EXPECT_EQ(info->etag, bucket_->stat("a b/object", {})->etag);
    EXPECT_GT(info->mtime_ns, 0);
    const auto read = read_object(*store_, "a b/object", {});
    ASSERT_TRUE(succeeds(read));
    EXPECT_TRUE(*read == bytes);
  }
  EXPECT_TRUE(fails_with(store_->stat("none", {}), ErrorCode::kNotFound));
  EXPECT_TRUE(fails_with(store_->open("none", {}, {}), ErrorCode::kNotFound));
}

TEST_F(WebStoreTest, ReadsRangesAndBatches) {
  const auto bytes = pattern_bytes(3'000'000, 2);
  put("object", bytes);
  const auto reader = store_->open("object", {}, {});
  ASSERT_TRUE(succeeds(reader));
  for (const std::uint64_t offset : {2'999'990u, 0u, 1'500'000u, 100u, 3'000'000u, 9'000'000u}) {
    Bytes target(1000);
    const auto count = (*reader)->read_at(offset, target, {});
    ASSERT_TRUE(succeeds(count)) << offset;
    const ByteRange inner = ByteRange{offset, 1000}.within(bytes.size());
    ASSERT_EQ(*count, inner.length);
    EXPECT_TRUE(std::equal(target.begin(), target.begin() + static_cast<long>(*count),
                           bytes.begin() + static_cast<long>(inner.offset)));
  }
  Bytes target(10);
  std::vector<BatchRead> reads(6);
  for (BatchRead& read : reads) read.name = "object";
  reads[1].range = {100, 50};
  reads[2].range = {2'999'999, kToEnd};
  reads[2].target = target;
  reads[3].range = {5'000'000, 5};
  reads[4].range = {10, 0};
  reads[5].name = "none";
  store_->read_batch(reads, {});
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(succeeds(reads[static_cast<std::size_t>(i)].result)) << i;
  EXPECT_EQ(reads[0].result->bytes.size(), bytes.size());
  EXPECT_TRUE(std::equal(reads[1].result->bytes.begin(), reads[1].result->bytes.end(),
                         bytes.begin() + 100));
  EXPECT_EQ(reads[1].result->bytes.size(), 50u);
  EXPECT_EQ(reads[2].result->bytes.size(), 1u);
  EXPECT_EQ(target[0], bytes.back());
  EXPECT_EQ(reads[3].result->bytes.size(), 0u);
  EXPECT_EQ(reads[4].result->bytes.size(), 0u);
  EXPECT_TRUE(fails_with(reads[5].result, ErrorCode::kNotFound));
}

TEST_F(WebStoreTest, AReplacedObjectIsNeverMixed) {
  const auto bytes = pattern_bytes(5'000'000, 3);
  put("object", bytes);
  const auto reader = store_->open("object", {}, {});
  ASSERT_TRUE(succeeds(reader));
  put("object", pattern_bytes(5'000'000, 4));
  Bytes piece(1000);
  ASSERT_TRUE(succeeds((*reader)->read_at(4'000'000, piece, {})));
  EXPECT_TRUE(std::equal(piece.begin(), piece.end(), bytes.begin() + 4'000'000));
  EXPECT_TRUE(fails_with((*reader)->read_at(0, piece, {}), ErrorCode::kPreconditionFailed));
}

TEST_F(WebStoreTest, ListsATemplateAndAManifest) {
  for (int i = 0; i < 12; ++i) put(fmt::format("s-{:03}.tar", i), pattern_bytes(100, 1));
  const auto names = list(*open(base_ + "s-{009..011}.tar"));
  ASSERT_TRUE(succeeds(names));
  EXPECT_EQ(*names, (Names{"s-009.tar:100", "s-010.tar:100", "s-011.tar:100"}));
  // One that is missing is missed.
  EXPECT_TRUE(fails_with(list(*open(base_ + "s-{010..012}.tar")), ErrorCode::kIoError));
  put("names.txt", bytes_of("s-003.tar\ns-001.tar\n"));
  put("names.json", bytes_of("[\"s-002.tar\"]"));
  put("evil.txt", bytes_of("../other/x\n"));
  EXPECT_EQ(*list(*open(base_ + "#manifest=names.txt")), (Names{"s-001.tar:100", "s-003.tar:100"}));
  EXPECT_EQ(*list(*open(base_ + "#manifest=/photos/names.json")), Names{"s-002.tar:100"});
  EXPECT_TRUE(fails_with(list(*open(base_ + "#manifest=none")), ErrorCode::kNotFound));
  EXPECT_TRUE(fails_with(list(*open(base_ + "#manifest=evil.txt")), ErrorCode::kInvalidArgument));
  EXPECT_TRUE(
      fails_with(list(*open(base_ + "#manifest=http://127.0.0.2/x")), ErrorCode::kInvalidArgument));
  // S3's own listing is not a page for people.
  EXPECT_TRUE(fails_with(list(*store_), ErrorCode::kUnsupported));
}

// What a path answers with.
class Scripted {
 public:
  explicit Scripted(
      std::function<std::string(const std::string& path, const std::string& request)> answer)
      : server_([answer = std::move(answer)](int socket, int) {
          const std::string request = ScriptedServer::read_request(socket);
          if (request.empty()) return;
          const std::size_t begin = request.find(' ') + 1;
          const std::string path = request.substr(begin, request.find(' ', begin) - begin);
          ScriptedServer::send_text(socket, answer(path, request));
        }) {}
  std::string url(const std::string& path) const {
    return fmt::format("http://127.0.0.1:{}{}", server_.port(), path);
  }
  StoreLocation open(const std::string& path) const { return *open_url(url(path)); }
  int connections() const { return server_.connections(); }

 private:
  ScriptedServer server_;
};

std::string answer_of(std::string_view type, std::string_view body) {
  return fmt::format("HTTP/1.0 200 OK\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{}", type,
                     body.size(), body);
}

TEST(WebFolders, AreWalkedInByteOrder) {
  const Scripted server([](const std::string& path, const std::string&) -> std::string {
    if (path == "/d/") {
      return answer_of("text/html",
                       "<a href=../>..</a><a href=b/>b</a><a href=b-1>x</a><a href=a>x</a>"
                       "<a href=empty/>x</a><a href=loop/>x</a>");
    }
    if (path == "/d/b/") return answer_of("text/html", "<a href=z>z</a><a href=y%20>y</a>");
    if (path == "/d/empty/" || path == "/d/loop/") return answer_of("text/html", "");
    if (path == "/d/b") return "HTTP/1.0 301 Moved\r\nLocation: /d/b/\r\n\r\n";
    if (path == "/d/gone/") return "HTTP/1.0 404 None\r\n\r\n";
    return answer_of("text/plain", "12345");
  });
  const auto store = server.open("/d/").store;
  ListRequest request;
  const auto names = [&] {
    Names all;
    for (;;) {
      const auto page = store->list(request, {});
      EXPECT_TRUE(succeeds(page));
      if (!page.ok()) return all;
      for (const auto& entry : page->entries) all.push_back(entry.name);
      for (const auto& prefix : page->common_prefixes) all.push_back(prefix);
      if (page->next_start_after.empty()) return all;
      request.start_after = page->next_start_after;
    }
  };
  EXPECT_EQ(names(), (Names{"a", "b-1", "b/y ", "b/z"}));
  request.limit = 1;
  EXPECT_EQ(names(), (Names{"a", "b-1", "b/y ", "b/z"}));
  request = {};
  request.start_after = "b/y ";
  EXPECT_EQ(names(), Names{"b/z"});
  request = {};
  request.delimiter = "/";
  EXPECT_EQ(names(), (Names{"a", "b-1", "b/", "empty/", "loop/"}));
  request.limit = 1;
  request.start_after = "";
  EXPECT_EQ(names(), (Names{"a", "b-1", "b/", "empty/", "loop/"}));
  request = {};
  request.prefix = "b/";
  EXPECT_EQ(names(), (Names{"b/y ", "b/z"}));
  request.prefix = "gone/";
  EXPECT_EQ(names(), Names());
  EXPECT_TRUE(fails_with(store->stat("b", {}), ErrorCode::kNotFound));
  EXPECT_EQ(store->stat("a", {})->size_bytes, 5u);
}

TEST(WebFolders, ATreeWithoutEndIsGivenUp) {
  const Scripted server([](const std::string&, const std::string&) {
    return answer_of("text/html", "<a href=again/>again</a>");
  });
  EXPECT_TRUE(fails_with(server.open("/").store->list({}, {}), ErrorCode::kTooLarge));
}

TEST(WebRedirects, AreFollowedSoFar) {
  const Scripted target([](const std::string& path, const std::string&) -> std::string {
    if (path == "/real") return answer_of("text/plain", "found");
    return "HTTP/1.0 404 None\r\n\r\n";
  });
  const Scripted server([&](const std::string& path, const std::string&) -> std::string {
    if (path == "/moved") return "HTTP/1.0 302 Moved\r\nLocation: near\r\n\r\n";
    if (path == "/near")
      return "HTTP/1.0 308 Moved\r\nLocation: " + target.url("/real") + "\r\n\r\n";
    if (path == "/lost")
      return "HTTP/1.0 302 Moved\r\nLocation: " + target.url("/none") + "\r\n\r\n";
    if (path == "/odd") return "HTTP/1.0 302 Moved\r\nLocation: ftp://x/\r\n\r\n";
    if (path == "/nowhere") return "HTTP/1.0 302 Moved\r\n\r\n";
    return "HTTP/1.0 302 Moved\r\nLocation: " + path + "x\r\n\r\n";
  });
  const auto store = server.open("/").store;
  const auto bytes = read_object(*store, "moved", {});
  ASSERT_TRUE(succeeds(bytes));
  EXPECT_TRUE(*bytes == bytes_of("found"));
  EXPECT_EQ(store->stat("moved", {})->size_bytes, 5u);
  EXPECT_TRUE(fails_with(store->stat("lost", {}), ErrorCode::kNotFound));
  EXPECT_TRUE(fails_with(read_object(*store, "endless", {}), ErrorCode::kIoError));
  EXPECT_TRUE(fails_with(read_object(*store, "nowhere", {}), ErrorCode::kIoError));
  EXPECT_TRUE(fails_with(read_object(*store, "odd", {}), ErrorCode::kInvalidArgument));
}

TEST(WebFaults, WithoutRangesItIsReadFromTheFront) {
  const std::string body(400'000, 'x');
  const Scripted server([&](const std::string& path, const std::string& request) -> std::string {
    if (path != "/huge") return answer_of("text/plain", body);
    const std::string head =
        "HTTP/1.0 200 OK\r\nContent-Length: 1099511627776\r\nETag: \"e\"\r\n\r\n";
    return request.starts_with("HEAD") ? head : head + body;
  });
  const auto store = server.open("/").store;
  const auto reader = store->open("x", {}, {});
  ASSERT_TRUE(succeeds(reader));
  Bytes piece(10);
  EXPECT_EQ(*(*reader)->read_at(399'995, piece, {}), 5u);
  BatchRead reads[] = {{.name = "x", .range = {399'998, 100}, .target = {}}};
  store->read_batch(reads, {});
  ASSERT_TRUE(succeeds(reads[0].result));
  EXPECT_EQ(reads[0].result->bytes.size(), 2u);
  const auto huge = store->open("huge", {}, {});
  ASSERT_TRUE(succeeds(huge));
  EXPECT_TRUE(
      fails_with((*huge)->read_at(std::uint64_t{1} << 39, piece, {}), ErrorCode::kUnsupported));
}

TEST(WebFaults, AnswersThatLieAreRefused) {
  const Scripted server([](const std::string& path, const std::string&) -> std::string {
    if (path == "/other") {
      return "HTTP/1.0 206 Part\r\nContent-Length: 5\r\nContent-Range: bytes 0-4/100\r\n\r\n12345";
    }
    if (path == "/longer") {
      return "HTTP/1.0 206 Part\r\nContent-Length: 50\r\nContent-Range: bytes "
             "10-59/100\r\n\r\n12345";
    }
    if (path == "/none") return "HTTP/1.0 206 Part\r\nContent-Length: 5\r\n\r\n12345";
    if (path == "/zip") {
      return "HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n12345";
    }
    if (path == "/cut") return "HTTP/1.0 200 OK\r\nContent-Length: 500\r\n\r\n12345";
    if (path == "/unknown") return "HTTP/1.0 200 OK\r\n\r\n12345";
    return "garbage\r\n\r\n";
  });
  const auto store = server.open("/").store;
  const auto part = [&](const char* name) {
    BatchRead reads[] = {{.name = name, .range = {10, 5}, .target = {}}};
    store->read_batch(reads, {});
    return reads[0].result;
  };
  EXPECT_TRUE(fails_with(part("other"), ErrorCode::kCorrupted));
  EXPECT_TRUE(fails_with(part("longer"), ErrorCode::kCorrupted));
  EXPECT_TRUE(fails_with(part("none"), ErrorCode::kCorrupted));
  EXPECT_TRUE(fails_with(part("zip"), ErrorCode::kUnsupported));
  EXPECT_TRUE(fails_with(part("unknown"), ErrorCode::kUnsupported));
  EXPECT_TRUE(fails_with(part("garbage"), ErrorCode::kCorrupted));
  EXPECT_TRUE(fails_with(read_object(*store, "cut", {}), ErrorCode::kUnavailable));
  EXPECT_TRUE(fails_with(store->stat("garbage", {}), ErrorCode::kCorrupted));
}

}  // namespace
}  // namespace leat
