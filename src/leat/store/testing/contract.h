// The contract suite: one set of tests that every ObjectStore passes, present and future.
//
// store/object_store.h says what a store promises; these tests hold it to that. They adapt to a
// store only through its capabilities(): what it says it cannot do must be refused with
// kUnsupported or kInvalidArgument, and that is tested as well.
//
// A driver's test brings a factory and instantiates the suite:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreContract,
//                            ::testing::Values(ContractSubject{"mem", make_memory_store}),
//                            contract_subject_name);
//
// The tests are in contract_*.cc, by theme; the test program links the object library
// leat_store_testing, so that all of them are registered.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/context.h"
#include "leat/store/object_store.h"

namespace leat::testing {

struct ContractSubject {
  std::string name;
  // A store without objects, independent of those made before. Null when it cannot be made: the
  // tests fail.
  std::function<std::shared_ptr<ObjectStore>()> make;
};
void PrintTo(const ContractSubject& subject, std::ostream* out);
std::string contract_subject_name(const ::testing::TestParamInfo<ContractSubject>& info);

using Bytes = std::vector<std::byte>;

// `size` bytes that look random and depend on nothing but the arguments.
Bytes pattern_bytes(std::size_t size, std::uint64_t seed);
Bytes bytes_of(std::string_view text);

class StoreContract : public ::testing::TestWithParam<ContractSubject> {
 protected:
  void SetUp() override;

  ObjectStore& store() { return *store_; }
  const Capabilities& capabilities() const { return capabilities_; }
  // Whether what is written can be read again; tests of anything that is written need it.
  bool keeps_objects() const { return capabilities_.writable && capabilities_.stores_bytes; }
  bool lists_objects() const { return keeps_objects() && capabilities_.listable; }

  // Writes in one append and with little durability, which only costs time here.
  Result<ObjectInfo> try_put(std::string_view name, const Bytes& bytes, CreateOptions options = {});
  // Writes, expects success and returns the bytes that reads must now give: `bytes`, or what the
  // store says that it holds if it does not keep what is written.
  Bytes put(std::string_view name, const Bytes& bytes);
  // Writes unless the store refuses the name, which only one without any_name may, and only with
  // kInvalidArgument. True when written.
  bool put_if_allowed(std::string_view name, const Bytes& bytes);

  Result<Bytes> get(std::string_view name) { return read_object(store(), name, context_); }
  // Expects the object to be there with these bytes, by open() and by stat().
  void expect_holds(std::string_view name, const Bytes& bytes);
  // Expects the object not to be there, by open(), stat() and, where the store lists, list().
  void expect_absent(std::string_view name);

  // Names from following next_start_after to the end.
  std::vector<std::string> list_names(ListRequest request = {});

  const Context context_ = {};

 private:
  std::shared_ptr<ObjectStore> store_;
  Capabilities capabilities_;
};

// Options with one field set.
CreateOptions with_durability(Durability durability);
CreateOptions with_expected_size(std::uint64_t size_bytes);
CreateOptions with_metadata(Metadata metadata);
CreateOptions with_precondition(Precondition precondition);

// What is refused because the store cannot do it.
::testing::AssertionResult is_refused(ErrorCode code);

template <typename T>
::testing::AssertionResult fails_with(const Result<T>& result, ErrorCode code) {
  if (result.failed_with(code)) return ::testing::AssertionSuccess();
  if (result.ok()) {
    return ::testing::AssertionFailure() << "succeeded, not " << error_traits(code).name;
  }
  return ::testing::AssertionFailure()
         << "failed with \"" << error_traits(result.error().code()).name << "\" ("
         << result.error().message() << "), not \"" << error_traits(code).name << '"';
}

template <typename T>
::testing::AssertionResult is_refused(const Result<T>& result) {
  if (result.ok()) return ::testing::AssertionFailure() << "succeeded";
  return is_refused(result.error().code());
}

template <typename T>
::testing::AssertionResult succeeds(const Result<T>& result) {
  if (result.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << error_traits(result.error().code()).name << ": " << result.error().message();
}

}  // namespace leat::testing
