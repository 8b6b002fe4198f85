#include "leat/wire/batch.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "leat/doors/http/native/batch_request.h"
#include "leat/doors/http/native/native_fixture.h"
#include "leat/shard/shard_index.h"

namespace leat::doors::http::native {
namespace {

using Json = nlohmann::json;

struct Item {
  std::optional<ErrorCode> error;
  std::string bytes;
};

// The items of an answer in frames.
std::vector<Item> items_of(const std::string& body) {
  std::vector<Item> items;
  auto rest = std::as_bytes(std::span(body));
  if (rest.size() < wire::kFramesHeadBytes) return items;
  const auto count = wire::parse_frames_head(rest.first<wire::kFramesHeadBytes>());
  EXPECT_TRUE(count.ok());
  rest = rest.subspan(wire::kFramesHeadBytes);
  while (rest.size() >= wire::kFrameBytes) {
    const auto frame = wire::parse_frame(rest.first<wire::kFrameBytes>());
    EXPECT_TRUE(frame.ok());
    rest = rest.subspan(wire::kFrameBytes);
    if (!frame.ok() || rest.size() < frame->length) break;
    items.push_back(
        {frame->error, std::string(reinterpret_cast<const char*>(rest.data()), frame->length)});
    rest = rest.subspan(frame->length);
  }
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(items.size(), *count);
  return items;
}

// A tar kept in memory, for the scanner.
class TextReader final : public ObjectReader {
 public:
  explicit TextReader(std::string text) : text_(std::move(text)) {
    info_.size_bytes = text_.size();
  }
  const ObjectInfo& info() const noexcept override { return info_; }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& /*context*/) override {
    const ByteRange range = ByteRange{offset, target.size()}.within(text_.size());
    std::memcpy(target.data(), text_.data() + range.offset, range.length);
    return range.length;
  }

 private:
  std::string text_;
  ObjectInfo info_;
};

class NativeBatch : public NativeServiceTest {
 protected:
  void put(const std::string& path, const std::string& bytes) {
    ASSERT_EQ(ask("PUT /leat/v1/objects/" + path, "", bytes).status, 200) << path;
  }
  Answered batch(const std::string& json) { return ask("POST /leat/v1/batch", "", json); }
  std::vector<Item> frames(const wire::BatchList& list) {
    std::string body;
    wire::begin_batch_list(body, list.items.size(), list.buckets);
    for (const wire::BatchItem& item : list.items) wire::append_batch_item(body, item);
    const auto answer =
        ask("POST /leat/v1/batch", "Content-Type: application/x-leat-batch\r\n", body);
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.has("Content-Type: application/x-leat-frames\r\n"));
    return items_of(answer.body);
  }
};

TEST_F(NativeBatch, AnswersInOrderEachForItself) {
  ask("PUT /leat/v1/buckets/other");
  put("photos/a", "aaa");
  put("other/b", "0123456789");
  const auto items = frames({{"photos", "other", "none"},
                             {{"a", {}, 0},
                              {"missing", {}, 0},
                              {"b", {2, 3}, 1},
                              {"a", {1, 1}, 0},
                              {"x", {}, 2},
                              {"b", {99, 1}, 1},
                              {"", {}, 0},
                              {"b", {}, 1}}});
  ASSERT_EQ(items.size(), 8u);
  EXPECT_EQ(items[0].bytes, "aaa");
  EXPECT_EQ(items[1].error, ErrorCode::kNotFound);
  EXPECT_EQ(items[2].bytes, "234");
  EXPECT_EQ(items[3].bytes, "a");
  EXPECT_EQ(items[4].error, ErrorCode::kNotFound);
  EXPECT_EQ(items[5].error, std::nullopt);
  EXPECT_EQ(items[5].bytes, "");
  EXPECT_EQ(items[6].error, ErrorCode::kInvalidArgument);
  EXPECT_EQ(items[7].bytes, "0123456789");
  EXPECT_TRUE(frames({{"photos"}, {}}).empty());
}

TEST_F(NativeBatch, StreamsLargeAndManyItems) {
  std::mt19937_64 random(1);
  std::vector<std::string> names;
  std::vector<std::string> objects;
  for (const std::size_t size : {0, 1, 1000, 262'143, 262'144, 262'145, 300'000, 3'000'000}) {
    names.push_back(std::to_string(size));
    objects.push_back(std::string(size, static_cast<char>('a' + objects.size())));
    put("photos/" + names.back(), objects.back());
  }
  wire::BatchList list{{"photos"}, {}};
  std::vector<std::size_t> chosen;
  for (int i = 0; i < 700; ++i) {
    // The large ones rarely.
    chosen.push_back(random() % (random() % 20 == 0 ? names.size() : 3));
    list.items.push_back({names[chosen.back()], {}, 0});
  }
  list.items.push_back({names.back(), {100, 2'000'000}, 0});
  const auto items = frames(list);
  ASSERT_EQ(items.size(), 701u);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    ASSERT_TRUE(items[i].bytes == objects[chosen[i]]) << i;
  }
  EXPECT_TRUE(items[700].bytes == objects.back().substr(100, 2'000'000));
}

TEST_F(NativeBatch, MakesATarForOtherTools) {
  put("photos/a/b", "aaa");
  put("photos/" + std::string(300, 'l'), "long");
  put("photos/large", std::string(600'000, 'x'));
  put("photos/folder/", "no file");
  const auto answer = batch(Json{
      {"bucket", "photos"},
      {"items",
       {{{"name", "a/b"}},
        {{"name", "none"}},
        {{"name", std::string(300, 'l')}, {"offset", 1}, {"length", 2}},
        {{"name", "large"}},
        {{"name", "folder/"}}}}}.dump());
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.has("Content-Type: application/x-tar\r\n"));
  EXPECT_EQ(answer.body.size() % 512, 0u);
  TextReader tar(answer.body);
  const auto indexed = index_shard(tar, {});
  ASSERT_TRUE(indexed.ok());
  const auto index = ShardIndex::decode(indexed->blob);
  ASSERT_TRUE(index.ok());
  const auto text_of = [&](std::string_view name) -> std::string {
    const auto member = index->find(name);
    if (!member) return "no " + std::string(name);
    return answer.body.substr(member->data_offset, member->size_bytes);
  };
  EXPECT_EQ(index->size(), 5u);
  EXPECT_EQ(text_of("a/b"), "aaa");
  EXPECT_EQ(text_of(std::string(300, 'l')), "on");
  EXPECT_EQ(text_of("large"), std::string(600'000, 'x'));
  const auto error = Json::parse(text_of(".leat-error/1.json"));
  EXPECT_EQ(error["error"]["code"], "not found");
  EXPECT_EQ(error["name"], "none");
  EXPECT_EQ(Json::parse(text_of(".leat-error/4.json"))["error"]["code"], "invalid argument");
  // In the order asked for.
  EXPECT_LT(index->find("a/b")->data_offset, index->find(".leat-error/1.json")->data_offset);
  EXPECT_LT(index->find(".leat-error/1.json")->data_offset, index->find("large")->data_offset);
}

TEST_F(NativeBatch, TakesJsonForFrames) {
  put("photos/%FFx", "odd");
  const auto answer = batch(
      R"({"format":"frames","items":[{"bucket":"photos","name":"%FFx"},{"bucket":"none","name":"x"}]})");
  const auto items = items_of(answer.body);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].bytes, "odd");
  EXPECT_EQ(items[1].error, ErrorCode::kNotFound);
}

TEST_F(NativeBatch, RefusesWhatIsNone) {
  for (const char* text :
       {"", "[]", "{", "x", R"({"items":[{}]})", R"({"items":[{"name":"x"}]})",
        R"({"items":[{"name":"%zz","bucket":"photos"}]})", R"({"items":{"name":"x"}})",
        R"({"items":[[{"name":"x"}]]})", R"({"items":[{"name":"x","offset":-1}]})",
        R"({"items":[{"name":"x","offset":1.5}]})", R"({"items":[{"name":["x"]}]})",
        R"({"format":"zip","items":[]})", R"({"items":[{"name":"x","bucket":"photos"}]} x)",
        R"({"items":[null]})", R"({"colour":"red","items":[]})"}) {
    EXPECT_EQ(batch(text).status, 400) << text;
  }
  EXPECT_EQ(batch(R"({"items":[]})").status, 200);
  const std::string binary = "Content-Type: application/x-leat-batch\r\n";
  EXPECT_EQ(ask("POST /leat/v1/batch", binary, "nonsense").status, 400);
  std::string many = R"({"bucket":"photos","items":[{"name":"x"})";
  for (int i = 0; i < 65'536; ++i) many += R"(,{"name":"x"})";
  EXPECT_EQ(batch(many + "]}").status, 413);
  EXPECT_EQ(batch(std::string((16 << 20) + 1, ' ')).status, 413);
}

TEST_F(NativeBatch, AsksForTheRightOfEachItem) {
  put("photos/anna/x", "x");
  put("photos/y", "y");
  Access access;
  ASSERT_TRUE(access.add_keys("ANNA a read:photos/anna/\n").ok());
  serve(std::move(access));
  std::string body;
  const std::string_view buckets[] = {"photos"};
  wire::begin_batch_list(body, 3, buckets);
  wire::append_batch_item(body, {"anna/x", {}, 0});
  wire::append_batch_item(body, {"y", {}, 0});
  wire::append_batch_item(body, {"anna/x", {}, 0});
  const std::string lines = leat::http::sign({"POST", "/leat/v1/batch", "", "127.0.0.1", {}},
                                             {"ANNA", "a"}, std::time(nullptr));
  const auto answer =
      ask("POST /leat/v1/batch", lines + "Content-Type: application/x-leat-batch\r\n", body);
  const auto items = items_of(answer.body);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].bytes, "x");
  EXPECT_EQ(items[1].error, ErrorCode::kPermissionDenied);
  EXPECT_EQ(items[2].bytes, "x");
}

}  // namespace
}  // namespace leat::doors::http::native
