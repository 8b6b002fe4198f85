// The decorators of store/ over a store with every capability: with nothing to say, none of them
// may be noticed. It is here and not beside them because store/ knows no driver.
#include "leat/drivers/memory/memory_store.h"
#include "leat/store/checksum_store.h"
#include "leat/store/count_store.h"
#include "leat/store/fault_store.h"
#include "leat/store/testing/contract.h"
#include "leat/store/throttle_store.h"

namespace leat {
namespace {

using testing::bytes_of;
using testing::ContractSubject;
using testing::fails_with;
using testing::StoreContract;
using testing::succeeds;

std::shared_ptr<ObjectStore> make_throttled() {
  ThrottleOptions options;
  options.bytes_per_second = std::uint64_t{100} << 30;
  options.operations_per_second = 10'000'000;
  options.latency = LatencyDistribution::log_normal(std::chrono::nanoseconds(100),
                                                    std::chrono::nanoseconds(1000));
  options.batch_concurrency = 8;
  return std::make_shared<ThrottleStore>(make_memory_store(), options);
}

INSTANTIATE_TEST_SUITE_P(
    Decorated, StoreContract,
    ::testing::Values(
        ContractSubject{"count", [] { return std::make_shared<CountStore>(make_memory_store()); }},
        ContractSubject{"fault",
                        [] {
                          return std::make_shared<FaultStore>(make_memory_store(),
                                                              std::vector<FaultRule>());
                        }},
        ContractSubject{"throttle", make_throttled},
        ContractSubject{"checksum",
                        [] {
                          return std::make_shared<ChecksumStore>(make_memory_store(),
                                                                 KeepChecksum::kInMetadata);
                        }}),
    testing::contract_subject_name);

class ChecksumInMetadataTest : public ::testing::Test {
 protected:
  // What a store does that keeps metadata well and bytes badly.
  void damage(std::string_view name) {
    CreateOptions options;
    options.metadata = *target_->stat(name, {})->metadata;
    ASSERT_TRUE(succeeds(write_object(*target_, name, bytes_of("damaged"), options, {})));
  }

  const std::shared_ptr<ObjectStore> target_ = make_memory_store();
  ChecksumStore store_{target_, KeepChecksum::kInMetadata};
};

TEST_F(ChecksumInMetadataTest, IsKeptHiddenAndCompared) {
  const auto written = write_object(store_, "name", bytes_of("correct"), {}, {});
  ASSERT_TRUE(succeeds(written));
  EXPECT_EQ(written->metadata, nullptr);
  EXPECT_TRUE(written->crc32c.has_value());
  EXPECT_TRUE(succeeds(read_object(store_, "name", {})));
  damage("name");
  EXPECT_TRUE(fails_with(read_object(store_, "name", {}), ErrorCode::kCorrupted));
  EXPECT_EQ(store_.stat("name", {})->crc32c, written->crc32c);
  EXPECT_EQ(store_.list({}, {})->entries[0].info.metadata, nullptr);
}

TEST_F(ChecksumInMetadataTest, GoesWithACopy) {
  ASSERT_TRUE(succeeds(write_object(store_, "source", bytes_of("correct"), {}, {})));
  CreateOptions described;
  described.metadata.user["key"] = "value";
  ASSERT_TRUE(succeeds(store_.copy("source", "plain", {}, {})));
  ASSERT_TRUE(succeeds(store_.copy("source", "described", described, {})));
  for (const char* name : {"plain", "described"}) {
    EXPECT_TRUE(succeeds(read_object(store_, name, {}))) << name;
    damage(name);
    EXPECT_TRUE(fails_with(read_object(store_, name, {}), ErrorCode::kCorrupted)) << name;
  }
  EXPECT_EQ(*store_.stat("described", {})->metadata, described.metadata);
}

}  // namespace
}  // namespace leat
