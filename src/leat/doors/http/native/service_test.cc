#include "leat/doors/http/native/service.h"

#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "leat/base/hash.h"
#include "leat/base/hex.h"
#include "leat/doors/http/native/native_fixture.h"
#include "leat/doors/http/native/openapi.h"
#include "leat/http/sigv4.h"
#include "leat/shard/shard_writer.h"
#include "leat/wire/upload.h"

namespace leat::doors::http::native {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kCat = "/leat/v1/objects/photos/a%20b/cat.jpg";

TEST_F(NativeServiceTest, StoresAndServesAnObject) {
  const auto put = ask(fmt::format("PUT {}", kCat),
                       "Content-Type: image/jpeg\r\nX-Leat-Meta-Kind: a%0acat\r\n"
                       "x-leat-checksum-md5: 00ff\r\n",
                       "meow");
  EXPECT_EQ(put.status, 200);
  for (const char* method : {"GET", "HEAD"}) {
    const auto got = ask(fmt::format("{} {}", method, kCat));
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.body, std::string_view(method) == "GET" ? "meow" : "");
    EXPECT_TRUE(got.has("Content-Type: image/jpeg\r\n"));
    EXPECT_TRUE(got.has("x-leat-header-content-type: image/jpeg\r\n"));
    EXPECT_TRUE(got.has("x-leat-meta-kind: a%0Acat\r\n"));
    EXPECT_TRUE(got.has("x-leat-checksum-md5: 00ff\r\n"));
    EXPECT_TRUE(got.has("x-leat-size: 4\r\n"));
    EXPECT_TRUE(got.has("X-Content-Type-Options: nosniff\r\n"));
    EXPECT_TRUE(got.has("Content-Security-Policy: default-src 'none'"));
    EXPECT_EQ(got.header("ETag"), put.header("ETag"));
    EXPECT_EQ(got.header("x-leat-generation"), put.header("x-leat-generation"));
    EXPECT_EQ(got.header("x-leat-crc32c"),
              to_hex(crc32c(0, std::as_bytes(std::span(std::string_view("meow"))))));
  }
  EXPECT_EQ(ask(fmt::format("DELETE {}", kCat)).status, 204);
  EXPECT_EQ(ask(fmt::format("DELETE {}", kCat)).status, 404);
  EXPECT_EQ(ask(fmt::format("GET {}", kCat)).status, 404);
}

TEST_F(NativeServiceTest, ServesRangesAndVersions) {
  const std::string path = "/leat/v1/objects/photos/digits";
  const auto put = ask("PUT " + path, "", "0123456789");
  EXPECT_EQ(ask("GET " + path, "Range: bytes=2-4\r\n").body, "234");
  EXPECT_EQ(ask("GET " + path, "Range: bytes=2-4\r\n").status, 206);
  EXPECT_EQ(ask("GET " + path, "Range: bytes=10-\r\n").status, 416);
  EXPECT_EQ(ask("GET " + path + "?offset=7").body, "789");
  EXPECT_EQ(ask("GET " + path + "?offset=2&length=3").body, "234");
  EXPECT_EQ(ask("GET " + path + "?offset=99").body, "");
  EXPECT_EQ(ask("GET " + path + "?offset=99").status, 200);
  EXPECT_EQ(ask("GET " + path + "?offset=x").status, 400);
  const std::string generation = put.header("x-leat-generation");
  EXPECT_EQ(ask("GET " + path + "?generation=" + generation).status, 200);
  ask("PUT " + path, "", "new");
  EXPECT_EQ(ask("GET " + path + "?generation=" + generation).status, 404);
  EXPECT_EQ(ask("HEAD " + path + "?generation=" + generation).status, 404);
  const std::string large(300'000, 'l');
  ask("PUT " + path, "", large);
  EXPECT_EQ(ask("GET " + path).body, large);
}

TEST_F(NativeServiceTest, AnswersOnTheLoopWhatItHasReadBefore) {
  const std::string path = "/leat/v1/objects/photos/a%20b";
  const auto put = ask("PUT " + path, "x-leat-meta-kind: cat\r\n", "0123456789");
  EXPECT_EQ(ask_now("GET " + path).status, 0);
  const std::string generation = put.header("x-leat-generation");
  const std::vector<std::pair<std::string, std::string>> reads{
      {"GET " + path, ""},
      {"HEAD " + path, ""},
      {"GET " + path, "Range: bytes=2-4\r\n"},
      {"HEAD " + path, "Range: bytes=2-4\r\n"},
      {"GET " + path + "?offset=7", ""},
      {"GET " + path + "?offset=2&length=3", "Range: bytes=0-1\r\n"},
      {"GET " + path + "?offset=99", ""},
      {"GET " + path + "?generation=" + generation, ""},
  };
  // The same, to the byte, as on the pool.
  for (const auto& [line, headers] : reads) {
    const auto slow = ask(line, headers);
    const auto quick = ask_now(line, headers);
    EXPECT_EQ(quick.status, slow.status) << line;
    EXPECT_EQ(quick.body, slow.body) << line;
    for (const char* name :
         {"ETag", "Last-Modified", "x-leat-size", "x-leat-generation", "x-leat-mtime-ns",
          "x-leat-crc32c", "x-leat-meta-kind", "Content-Type", "Accept-Ranges", "Content-Range",
          "X-Content-Type-Options", "Content-Security-Policy"}) {
      EXPECT_EQ(quick.header(name), slow.header(name)) << line << " " << name;
    }
    EXPECT_EQ(quick.headers.size(), slow.headers.size()) << line;
  }
  // What needs a second thought.
  EXPECT_EQ(ask_now("GET " + path + "?generation=" + generation + "0").status, 0);
  EXPECT_EQ(ask_now("GET " + path + "?offset=x").status, 0);
  EXPECT_EQ(ask_now("GET " + path, "Range: bytes=10-\r\n").status, 0);
  EXPECT_EQ(ask_now("GET " + path, "If-None-Match: \"x\"\r\n").status, 0);
  EXPECT_EQ(ask_now("GET /leat/v1/objects/photos/none").status, 0);
  EXPECT_EQ(ask_now("GET /leat/v1/objects/others/none").status, 0);
  EXPECT_EQ(ask_now("PUT " + path).status, 0);
  // A large one comes from its file.
  const std::string large(300'000, 'l');
  ask("PUT " + path, "", large);
  EXPECT_EQ(ask("GET " + path).body, large);
  EXPECT_EQ(ask_now("GET " + path + "?offset=299990").body, std::string(10, 'l'));
  // Whoever may not read gets nothing from here.
  serve(Access(Anonymous::kNothing));
  EXPECT_EQ(ask_now("GET " + path).status, 0);
  EXPECT_EQ(ask("GET " + path).status, 403);
}

TEST_F(NativeServiceTest, ChecksPreconditions) {
  const std::string path = "/leat/v1/objects/photos/x";
  EXPECT_EQ(ask("PUT " + path, "If-Match: *\r\n", "1").status, 412);
  const auto first = ask("PUT " + path, "If-None-Match: *\r\n", "1");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(ask("PUT " + path, "If-None-Match: *\r\n", "2").status, 412);
  EXPECT_EQ(ask("PUT " + path, "If-Match: \"other\"\r\n", "2").status, 412);
  EXPECT_EQ(ask("GET " + path, "If-Match: \"other\"\r\n").status, 412);
  EXPECT_EQ(ask("GET " + path, "If-None-Match: " + first.header("ETag") + "\r\n").status, 304);
  const std::string if_first =
      "x-leat-if-generation: " + first.header("x-leat-generation") + "\r\n";
  EXPECT_EQ(ask("PUT " + path, if_first, "2").status, 200);
  EXPECT_EQ(ask("PUT " + path, if_first, "3").status, 412);
  EXPECT_EQ(ask("DELETE " + path, if_first).status, 412);
  EXPECT_EQ(ask("GET " + path).body, "2");
}

TEST_F(NativeServiceTest, ComparesTheChecksumBeforeItCommits) {
  const std::string path = "/leat/v1/objects/photos/x";
  EXPECT_EQ(ask("PUT " + path, "x-leat-crc32c: 00000000\r\n", "meow").status, 400);
  EXPECT_EQ(ask("PUT " + path, "x-leat-crc32c: zz\r\n", "meow").status, 400);
  EXPECT_EQ(ask("GET " + path).status, 404);
  const std::string right = to_hex(crc32c(0, std::as_bytes(std::span(std::string_view("meow")))));
  EXPECT_EQ(ask("PUT " + path, "x-leat-crc32c: " + right + "\r\n", "meow").status, 200);
  EXPECT_EQ(ask("PUT " + path, "x-leat-etag: a\"b\r\n", "meow").status, 400);
  EXPECT_EQ(ask("PUT " + path, "x-leat-etag: abc-3\r\nx-leat-durability: memory\r\n", "meow")
                .header("ETag"),
            "\"abc-3\"");
  EXPECT_EQ(ask("PUT " + path, "x-leat-durability: paper\r\n", "meow").status, 400);
}

TEST_F(NativeServiceTest, TakesFramedBodies) {
  const std::string path = "/leat/v1/objects/photos/framed";
  const std::string crc = to_hex(crc32c(0, std::as_bytes(std::span(std::string_view("meow")))));
  const auto body = [&](const wire::HeaderList& words) {
    return wire::upload_piece_head(1) + "m" + wire::upload_piece_head(3) + "eow" +
           wire::upload_end(words);
  };
  const auto put =
      ask("PUT " + path, "x-leat-framed: 1\r\n",
          body({{"x-leat-etag", "e"}, {"x-leat-crc32c", crc}, {"x-leat-checksum-md5", "00"}}));
  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.header("ETag"), "\"e\"");
  EXPECT_EQ(put.header("x-leat-checksum-md5"), "00");
  EXPECT_EQ(ask("GET " + path).body, "meow");
  const std::string framed = "x-leat-framed: 1\r\n";
  EXPECT_EQ(ask("PUT " + path, framed, body({{"x-leat-crc32c", "00000000"}})).status, 400);
  EXPECT_EQ(ask("PUT " + path, framed, wire::upload_piece_head(4) + "me").status, 400);
  EXPECT_EQ(ask("PUT " + path, framed + "x-leat-expected-size: 5\r\n", body({})).status, 400);
  EXPECT_EQ(ask("PUT " + path, framed + "x-leat-expected-size: 4\r\n", body({})).status, 200);
}

TEST_F(NativeServiceTest, Copies) {
  ASSERT_EQ(ask("PUT /leat/v1/buckets/other").status, 201);
  ask("PUT /leat/v1/objects/photos/a%20b", "x-leat-meta-k: v\r\n", "meow");
  const std::string source = "x-leat-copy-source: photos/a%20b\r\n";
  EXPECT_EQ(ask("PUT /leat/v1/objects/photos/near", source).status, 200);
  EXPECT_EQ(ask("PUT /leat/v1/objects/other/far", source).status, 200);
  EXPECT_EQ(ask("GET /leat/v1/objects/photos/near").body, "meow");
  EXPECT_EQ(ask("GET /leat/v1/objects/other/far").header("x-leat-meta-k"), "v");
  EXPECT_EQ(ask("PUT /leat/v1/objects/other/far", source, "body").status, 400);
  EXPECT_EQ(ask("PUT /leat/v1/objects/other/far", "x-leat-copy-source: photos/no\r\n").status, 404);
  EXPECT_EQ(ask("PUT /leat/v1/objects/other/far", "x-leat-copy-source: photos\r\n").status, 400);
}

TEST_F(NativeServiceTest, ListsNames) {
  for (const char* name : {"a/1", "a/2", "b%00", "%FF%22"}) {
    (void)ask(fmt::format("PUT /leat/v1/objects/photos/{}", name), "", "x");
  }
  const auto all = Json::parse(ask("GET /leat/v1/list/photos").body);
  ASSERT_EQ(all["entries"].size(), 3u);
  EXPECT_EQ(all["entries"][2]["name"], "%FF%22");
  EXPECT_EQ(all["entries"][0]["size"], 1);
  EXPECT_EQ(all["next_start_after"], "");
  const auto folders = Json::parse(ask("GET /leat/v1/list/photos?delimiter=%2F&limit=1").body);
  EXPECT_EQ(folders["common_prefixes"], Json::array({"a/"}));
  EXPECT_EQ(folders["next_start_after"], "a/");
  const auto rest = Json::parse(ask("GET /leat/v1/list/photos?start_after=a/1&prefix=a/").body);
  ASSERT_EQ(rest["entries"].size(), 1u);
  EXPECT_EQ(ask("GET /leat/v1/list/photos?limit=x").status, 400);
  EXPECT_EQ(ask("GET /leat/v1/list/none").status, 404);
}

TEST_F(NativeServiceTest, ListsShards) {
  {
    ShardWriter writer(*(*store_->bucket("photos"))->create("s.tar", {}, {}));
    ASSERT_TRUE(writer.add({"b.txt"}, std::as_bytes(std::span(std::string_view("bb"))), {}).ok());
    ASSERT_TRUE(writer.add({"a.txt"}, std::as_bytes(std::span(std::string_view("a"))), {}).ok());
    ASSERT_TRUE(writer.finish({}).ok());
  }
  const auto shard = Json::parse(ask("GET /leat/v1/shards/photos/s.tar").body);
  EXPECT_EQ(shard["member_count"], 2);
  EXPECT_EQ(shard["members"][0]["name"], "a.txt");
  EXPECT_EQ(shard["members"][1]["size"], 2);
  const std::uint64_t offset = shard["members"][1]["offset"];
  EXPECT_EQ(ask(fmt::format("GET /leat/v1/objects/photos/s.tar?offset={}&length=2", offset)).body,
            "bb");
  EXPECT_EQ(ask("GET /leat/v1/objects/photos/s.tar/a.txt").body, "a");
  const auto next = Json::parse(ask("GET /leat/v1/shards/photos/s.tar?limit=1").body);
  EXPECT_EQ(next["next_start_after"], "a.txt");
  EXPECT_EQ(
      Json::parse(ask("GET /leat/v1/shards/photos/s.tar?start_after=a.txt").body)["members"].size(),
      1u);
  EXPECT_EQ(ask("GET /leat/v1/shards/photos/none.tar").status, 404);
  EXPECT_TRUE(ask("GET /leat/v1/list/photos?members=1").says("s.tar/a.txt"));
}

TEST_F(NativeServiceTest, MakesAndRemovesBuckets) {
  EXPECT_EQ(ask("PUT /leat/v1/buckets/new?durability=memory").status, 201);
  EXPECT_EQ(ask("PUT /leat/v1/buckets/new").status, 204);
  EXPECT_EQ(Json::parse(ask("GET /leat/v1/buckets/new").body)["durability"], "memory");
  EXPECT_EQ(ask("PUT /leat/v1/buckets/new?durability=disk").status, 204);
  EXPECT_EQ(Json::parse(ask("GET /leat/v1/buckets/new").body)["durability"], "disk");
  EXPECT_EQ(Json::parse(ask("GET /leat/v1/buckets").body)["buckets"].size(), 2u);
  ask("PUT /leat/v1/objects/new/x", "", "x");
  EXPECT_EQ(ask("DELETE /leat/v1/buckets/new").status, 412);
  ask("DELETE /leat/v1/objects/new/x");
  EXPECT_EQ(ask("DELETE /leat/v1/buckets/new").status, 204);
  EXPECT_EQ(ask("DELETE /leat/v1/buckets/new").status, 404);
  EXPECT_EQ(ask("PUT /leat/v1/buckets/leat").status, 400);
  EXPECT_EQ(ask("PUT /leat/v1/buckets/NO").status, 400);
}

TEST_F(NativeServiceTest, TellsErrorsInJson) {
  const auto missing = ask("GET /leat/v1/objects/photos/none");
  EXPECT_EQ(missing.status, 404);
  EXPECT_TRUE(missing.has("x-leat-error: not found\r\n"));
  EXPECT_EQ(Json::parse(missing.body)["error"]["code"], "not found");
  EXPECT_EQ(ask("HEAD /leat/v1/objects/photos/none").body, "");
  EXPECT_TRUE(ask("HEAD /leat/v1/objects/photos/none").has("x-leat-error: not found\r\n"));
  EXPECT_EQ(ask("GET /leat/v1/nothing").status, 404);
  EXPECT_EQ(ask("GET /leat/v1/objects/photos/%zz").status, 400);
  EXPECT_EQ(ask("DELETE /leat/v1/stats").status, 405);
}

TEST_F(NativeServiceTest, TellsItsHealth) {
  serve(Access());
  EXPECT_EQ(ask("GET /leat/v1/health").body, "{\"status\":\"ok\"}\n");
  service_->set_draining();
  EXPECT_EQ(ask("GET /leat/v1/health").status, 503);
}

TEST_F(NativeServiceTest, CountsWhatItDoes) {
  ask("PUT /leat/v1/objects/photos/x", "", "12345");
  ask("GET /leat/v1/objects/photos/x");
  ask("GET /leat/v1/objects/photos/none");
  service_->set_server_counts([] { return Server::Counts{3, 4, 5, 6}; });
  const auto stats = Json::parse(ask("GET /leat/v1/stats").body);
  EXPECT_EQ(stats["connections"]["open"], 3);
  EXPECT_EQ(stats["buckets"], Json::array({"photos"}));
  EXPECT_EQ(stats["drives"].size(), 1u);
  EXPECT_GT(stats["drives"][0]["total_bytes"], 0);
  EXPECT_EQ(stats["scrub"]["damaged_count"], 0);
  EXPECT_GT(stats["uptime_ns"], 0);
  bool is_there = false;
  for (const auto& operation : stats["operations"]) {
    if (operation["operation"] != "get_object") continue;
    is_there = true;
    EXPECT_EQ(operation["count"], 2);
    EXPECT_EQ(operation["client_errors"], 1);
    EXPECT_GT(operation["latency_ns"]["p99.9"], 0);
    EXPECT_EQ(operation["in_progress"], 0);
    EXPECT_FALSE(operation["latency_ns"].contains("histogram"));
  }
  EXPECT_TRUE(is_there);
  const auto detailed = Json::parse(ask("GET /leat/v1/stats?histograms=1").body);
  for (const auto& operation : detailed["operations"]) {
    std::uint64_t count = 0;
    std::uint64_t highest = 0;
    for (const auto& bucket : operation["latency_ns"]["histogram"]) {
      EXPECT_GT(bucket[0], highest);
      highest = bucket[0];
      count += bucket[1].get<std::uint64_t>();
    }
    EXPECT_EQ(operation["count"], count);
    EXPECT_GE(highest, operation["latency_ns"]["max"]);
  }
  const auto metrics = ask("GET /leat/v1/metrics");
  EXPECT_TRUE(metrics.has("Content-Type: text/plain"));
  EXPECT_TRUE(metrics.says("leat_http_connections 3\n"));
  EXPECT_TRUE(metrics.says("leat_drive_up{drive=\""));
  EXPECT_TRUE(metrics.says("operation=\"put_object\",result=\"ok\"} 1\n")) << metrics.body;
}

// Every route is in the document and every path of the document is a route.
TEST_F(NativeServiceTest, DescribesAllOfItself) {
  const auto served = ask("GET /leat/v1/openapi.json");
  EXPECT_EQ(served.body, openapi_document());
  const auto document = Json::parse(served.body);
  EXPECT_EQ(document["openapi"], "3.1.0");
  std::set<std::string> described;
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      if (method == "parameters") continue;
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(std::toupper(c));
      described.insert(upper + " " + path + " " + std::string(operation["operationId"]));
      // And it answers: with whatever, but not that there is no such thing.
      std::string asked = path;
      for (const char* place : {"{bucket}", "{name}"}) {
        if (const auto at = asked.find(place); at != asked.npos) {
          asked.replace(at, std::string_view(place).size(), "xyz");
        }
      }
      const auto answer = ask(upper + " " + asked);
      EXPECT_NE(answer.status, 405) << upper << asked;
      EXPECT_FALSE(answer.says("no such path")) << upper << asked;
    }
  }
  std::set<std::string> routes;
  for (const RouteRow& row : all_routes()) {
    routes.insert(fmt::format("{} {} {}", row.method_text, row.path, row.operation));
  }
  EXPECT_EQ(described, routes);
}

class NativeAccess : public NativeServiceTest {
 protected:
  void SetUp() override {
    NativeServiceTest::SetUp();
    ask("PUT /leat/v1/objects/photos/anna/x", "", "x");
    ask("PUT /leat/v1/objects/photos/y", "", "y");
    Access access;
    ASSERT_TRUE(
        access.add_keys("ROOT r admin\nANNA a write:photos/anna/\nBOT b read:photos\n").ok());
    serve(std::move(access));
    asks_like_ours_ = false;
  }

  int signed_by(const std::string& key, const std::string& secret, const std::string& method,
                const std::string& path, const std::string& query = "",
                const wire::HeaderList& headers = {}, const std::string& body = "") {
    std::string lines = leat::http::sign({method, path, query, "127.0.0.1", headers}, {key, secret},
                                         std::time(nullptr));
    for (const auto& [name, value] : headers) lines += name + ": " + value + "\r\n";
    return ask(method + " " + path + (query.empty() ? "" : "?" + query), lines, body).status;
  }
};

TEST_F(NativeAccess, IsForKeys) {
  const std::string y = "/leat/v1/objects/photos/y";
  const std::string x = "/leat/v1/objects/photos/anna/x";
  EXPECT_EQ(ask("GET " + y).status, 403);
  EXPECT_EQ(ask("GET /leat/v1/buckets").status, 403);
  EXPECT_EQ(ask("GET /leat/v1/metrics").status, 403);
  EXPECT_EQ(ask("GET /leat/v1/stats").status, 403);
  EXPECT_EQ(signed_by("ROOT", "r", "GET", y), 200);
  EXPECT_EQ(signed_by("ROOT", "wrong", "GET", y), 403);
  EXPECT_EQ(signed_by("NOBODY", "r", "GET", y), 403);
  EXPECT_EQ(signed_by("BOT", "b", "GET", y), 200);
  EXPECT_EQ(signed_by("BOT", "b", "PUT", y, "", {}, "z"), 403);
  EXPECT_EQ(signed_by("ANNA", "a", "GET", y), 403);
  EXPECT_EQ(signed_by("ANNA", "a", "PUT", x, "", {{"x-leat-meta-a", "b"}}, "z"), 200);
  EXPECT_EQ(signed_by("ANNA", "a", "GET", "/leat/v1/list/photos", "limit=5&prefix=anna%2F"), 200);
  EXPECT_EQ(signed_by("ANNA", "a", "GET", "/leat/v1/list/photos"), 403);
  EXPECT_EQ(signed_by("ANNA", "a", "PUT", "/leat/v1/buckets/new"), 403);
  EXPECT_EQ(signed_by("ROOT", "r", "PUT", "/leat/v1/buckets/new"), 201);
  const wire::HeaderList copy{{"x-leat-copy-source", "photos/y"}};
  EXPECT_EQ(signed_by("ANNA", "a", "PUT", "/leat/v1/objects/photos/anna/copy", "", copy), 403);
  EXPECT_EQ(signed_by("ROOT", "r", "PUT", "/leat/v1/objects/photos/anna/copy", "", copy), 200);
}

TEST_F(NativeAccess, WantsItsOwnHeadersSigned) {
  const std::string path = "/leat/v1/objects/photos/y";
  const std::string lines =
      leat::http::sign({"PUT", path, "", "127.0.0.1", {}}, {"ROOT", "r"}, std::time(nullptr));
  EXPECT_EQ(ask("PUT " + path, lines, "z").status, 200);
  EXPECT_EQ(ask("PUT " + path, lines + "x-leat-copy-source: photos/anna/x\r\n").status, 403);
}

TEST_F(NativeAccess, ShowsMetricsToEveryoneWhenAsked) {
  NativeOptions options;
  options.metrics = NativeOptions::Metrics::kForEveryone;
  serve(Access(), options);
  EXPECT_EQ(ask("GET /leat/v1/metrics").status, 200);
  EXPECT_EQ(ask("GET /leat/v1/stats").status, 403);
}

TEST_F(NativeServiceTest, WantsAMarkOnChanges) {
  asks_like_ours_ = false;
  EXPECT_EQ(ask("PUT /leat/v1/objects/photos/x", "", "x").status, 403);
  EXPECT_EQ(ask("POST /leat/v1/batch", "", "{\"items\":[]}").status, 403);
  EXPECT_EQ(ask("GET /leat/v1/list/photos").status, 200);
  EXPECT_EQ(ask("GET /leat/v1/list/photos", "Origin: http://evil.example\r\n").status, 403);
}

}  // namespace
}  // namespace leat::doors::http::native
