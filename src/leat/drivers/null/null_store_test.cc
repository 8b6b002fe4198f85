#include "leat/drivers/null/null_store.h"

#include "leat/base/hash.h"
#include "leat/store/testing/contract.h"

namespace leat {
namespace {

using testing::bytes_of;
using testing::ContractSubject;
using testing::fails_with;
using testing::StoreContract;
using testing::succeeds;

INSTANTIATE_TEST_SUITE_P(
    Null, StoreContract,
    ::testing::Values(
        ContractSubject{"null", [] { return make_null_store({}); }},
        ContractSubject{"null_large",
                        [] { return make_null_store({.size_bytes = (2 << 20) + 3, .count = 0}); }}),
    testing::contract_subject_name);

std::uint64_t size_of(ObjectStore& store, std::string_view name) {
  const auto info = store.stat(name, {});
  EXPECT_TRUE(succeeds(info));
  return info.ok() ? info->size_bytes : 0;
}

TEST(NullStore, TheNameSaysTheSize) {
  const auto store = make_null_store({.size_bytes = 100, .count = 0});
  EXPECT_EQ(size_of(*store, "x"), 100u);
  EXPECT_EQ(size_of(*store, "x@4KiB"), 4096u);
  EXPECT_EQ(size_of(*store, "train/7,784"), 784u);
  EXPECT_EQ(size_of(*store, "a@1KiB,2KiB"), 2048u);
  EXPECT_EQ(size_of(*store, "x@0"), 0u);
  EXPECT_EQ(size_of(*store, "x@8EiB"), std::uint64_t{8} << 60);
  EXPECT_EQ(size_of(*store, "someone@example.org"), 100u);
  EXPECT_EQ(size_of(*store, "x@"), 100u);
}

TEST(NullStore, BytesAreTheSameForEver) {
  const auto store = make_null_store({});
  const auto bytes = read_object(*store, "golden@3000000", {});
  ASSERT_TRUE(succeeds(bytes));
  EXPECT_EQ(crc32c(0, *bytes), 2158451348u);
}

TEST(NullStore, BytesDifferByName) {
  const auto store = make_null_store({.size_bytes = 64, .count = 0});
  EXPECT_NE(*read_object(*store, "a", {}), *read_object(*store, "b", {}));
}

TEST(NullStore, ReadsAtTheEndOfAVastObject) {
  const auto store = make_null_store({});
  const auto reader = store->open("vast@15EiB", {}, {});
  ASSERT_TRUE(succeeds(reader));
  const std::uint64_t size = (*reader)->info().size_bytes;
  std::vector<std::byte> target(100);
  const auto count = (*reader)->read_at(size - 10, target, {});
  ASSERT_TRUE(succeeds(count));
  EXPECT_EQ(*count, 10u);
}

TEST(NullStore, BatchSlicesCopyNothing) {
  const auto store = make_null_store({});
  BatchRead reads[2];
  reads[0].name = reads[1].name = "same";
  store->read_batch(reads, {});
  ASSERT_TRUE(succeeds(reads[0].result));
  EXPECT_EQ(reads[0].result->bytes.data(), reads[1].result->bytes.data());
}

TEST(NullStore, ListsNumbers) {
  const auto store = make_null_store({.size_bytes = 5, .count = 1234});
  const auto first = store->list({}, {});
  ASSERT_TRUE(succeeds(first));
  ASSERT_EQ(first->entries.size(), 1000u);
  EXPECT_EQ(first->entries[0].name, "000000000");
  EXPECT_EQ(first->entries[0].info.size_bytes, 5u);
  EXPECT_EQ(first->next_start_after, "000000999");
  ListRequest request;
  request.start_after = first->next_start_after;
  const auto second = store->list(request, {});
  ASSERT_TRUE(succeeds(second));
  EXPECT_EQ(second->entries.size(), 234u);
  EXPECT_EQ(second->entries.back().name, "000001233");
  EXPECT_EQ(second->next_start_after, "");

  request = {};
  request.prefix = "0000012";
  EXPECT_EQ(store->list(request, {})->entries.size(), 34u);
  request.prefix = "x";
  EXPECT_TRUE(store->list(request, {})->entries.empty());
  EXPECT_TRUE(make_null_store({})->list({}, {})->entries.empty());
}

TEST(NullStore, CountsWhatItThrowsAway) {
  const auto store = make_null_store({});
  ASSERT_TRUE(succeeds(write_object(*store, "a", bytes_of("12345"), {}, {})));
  ASSERT_TRUE(succeeds(write_object(*store, "b", bytes_of("67"), {}, {})));
  { ASSERT_TRUE(succeeds(store->create("abandoned", {}, {}))); }
  ASSERT_TRUE(succeeds(store->remove("a", {}, {})));
  EXPECT_EQ(store->counts().objects, 2u);
  EXPECT_EQ(store->counts().bytes, 7u);
  EXPECT_EQ(store->counts().removals, 1u);
  EXPECT_EQ(size_of(*store, "a"), std::uint64_t{1} << 20);
}

TEST(NullStore, RefusesWhatItCannotKeep) {
  const auto store = make_null_store({});
  CreateOptions options;
  options.precondition = Precondition::absent();
  EXPECT_TRUE(fails_with(store->create("x", options, {}), ErrorCode::kUnsupported));
  options = {};
  options.metadata.user["key"] = "value";
  EXPECT_TRUE(fails_with(store->create("x", options, {}), ErrorCode::kUnsupported));
  EXPECT_TRUE(fails_with(store->open("x", {.generation = 0}, {}), ErrorCode::kUnsupported));
}

TEST(NullStore, OpensByUrl) {
  Registry registry;
  register_null(registry);
  const auto open = [&](std::string_view url) { return registry.open(url, IfMissing::kFail); };
  const auto location = open("null:a%20name?size=4KiB&count=3");
  ASSERT_TRUE(succeeds(location));
  EXPECT_EQ(location->name, "a name");
  EXPECT_EQ(size_of(*location->store, "x"), 4096u);
  EXPECT_EQ(location->store->list({}, {})->entries.size(), 3u);
  for (const char* url :
       {"null:?size=x", "null:?count=-1", "null:?count=2000000000", "null:?cuont=1"}) {
    EXPECT_TRUE(fails_with(open(url), ErrorCode::kInvalidArgument)) << url;
  }
}

}  // namespace
}  // namespace leat
