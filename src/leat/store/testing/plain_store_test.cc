#include "leat/store/testing/plain_store.h"

#include "leat/store/testing/contract.h"

namespace leat::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Plain, StoreContract,
                         ::testing::Values(ContractSubject{
                             "plain", [] { return std::make_shared<PlainStore>(); }}),
                         contract_subject_name);

}  // namespace
}  // namespace leat::testing
