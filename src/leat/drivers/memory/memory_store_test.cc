#include "leat/drivers/memory/memory_store.h"

#include "leat/base/hash.h"
#include "leat/store/testing/contract.h"

namespace leat {
namespace {

using testing::bytes_of;
using testing::ContractSubject;
using testing::StoreContract;
using testing::succeeds;

INSTANTIATE_TEST_SUITE_P(Memory, StoreContract,
                         ::testing::Values(ContractSubject{"mem",
                                                           [] { return make_memory_store(); }}),
                         testing::contract_subject_name);

TEST(MemoryStore, HasEveryCapability) {
  const auto capabilities = make_memory_store()->capabilities();
  EXPECT_TRUE(capabilities.writable && capabilities.preconditions && capabilities.generations &&
              capabilities.metadata && capabilities.listable && capabilities.any_name &&
              capabilities.stores_bytes);
  EXPECT_EQ(capabilities.max_name_bytes, kMaxNameBytes);
}

TEST(MemoryStore, ReportsChecksumAndTime) {
  const ManualClock clock;
  const auto store = make_memory_store(clock);
  clock.advance(std::chrono::seconds(7));
  const auto bytes = bytes_of("123456789");
  const auto info = write_object(*store, "name", bytes, {}, {});
  ASSERT_TRUE(succeeds(info));
  EXPECT_EQ(info->crc32c, crc32c(0, bytes));
  EXPECT_EQ(info->mtime_ns, clock.wall_ns());
}

TEST(MemoryStore, BatchesAndCopiesShareBytes) {
  const auto store = make_memory_store();
  ASSERT_TRUE(succeeds(write_object(*store, "a", bytes_of("shared bytes"), {}, {})));
  ASSERT_TRUE(succeeds(store->copy("a", "b", {}, {})));
  BatchRead reads[2];
  reads[0].name = "a";
  reads[1].name = "b";
  store->read_batch(reads, {});
  ASSERT_TRUE(succeeds(reads[0].result));
  ASSERT_TRUE(succeeds(reads[1].result));
  EXPECT_EQ(reads[0].result->bytes.data(), reads[1].result->bytes.data());
}

TEST(MemoryStore, WritersAndReadersOutliveTheStore) {
  auto store = make_memory_store();
  ASSERT_TRUE(succeeds(write_object(*store, "a", bytes_of("bytes"), {}, {})));
  auto reader = store->open("a", {}, {});
  auto writer = store->create("b", {}, {});
  ASSERT_TRUE(succeeds(reader));
  ASSERT_TRUE(succeeds(writer));
  store.reset();
  std::vector<std::byte> target(5);
  EXPECT_TRUE(succeeds((*reader)->read_at(0, target, {})));
  EXPECT_EQ(target, bytes_of("bytes"));
  EXPECT_TRUE(succeeds((*writer)->append(target, {})));
  EXPECT_TRUE(succeeds((*writer)->commit({}, {})));
}

TEST(MemoryStore, EveryUrlIsAFreshStore) {
  Registry registry;
  register_memory(registry);
  const auto first = registry.open("mem:some%20name", IfMissing::kFail);
  const auto second = registry.open("mem:", IfMissing::kFail);
  ASSERT_TRUE(succeeds(first));
  ASSERT_TRUE(succeeds(second));
  EXPECT_EQ(first->name, "some name");
  EXPECT_EQ(second->name, "");
  ASSERT_TRUE(succeeds(write_object(*first->store, "x", {}, {}, {})));
  EXPECT_TRUE(second->store->stat("x", {}).failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(
      registry.open("mem:?size=1", IfMissing::kFail).failed_with(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace leat
