#include "leat/store/forwarding.h"

#include "leat/store/testing/contract.h"
#include "leat/store/testing/plain_store.h"

namespace leat {
namespace {

using testing::StoreContract;

// Nothing overridden: the contract holds if every call arrives. Decorators over a store with all
// capabilities are tested in drivers/decorators_test.cc.
INSTANTIATE_TEST_SUITE_P(
    Forwarding, StoreContract,
    ::testing::Values(testing::ContractSubject{
        "forwarding",
        [] { return std::make_shared<ForwardingStore>(std::make_shared<testing::PlainStore>()); }}),
    testing::contract_subject_name);

TEST(ForwardingStore, TellsAboutItsTarget) {
  ForwardingStore store(std::make_shared<testing::PlainStore>());
  EXPECT_EQ(store.url(), "plain:");
  EXPECT_FALSE(store.capabilities().metadata);
}

}  // namespace
}  // namespace leat
