#include "leat/store/testing/contract.h"

#include <algorithm>
#include <ostream>
#include <random>
#include <utility>

namespace leat::testing {

// A test program may link this library for PlainStore or the assertions alone.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreContract);

void PrintTo(const ContractSubject& subject, std::ostream* out) {
  *out << subject.name;
}

std::string contract_subject_name(const ::testing::TestParamInfo<ContractSubject>& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char byte) { return std::isalnum(byte) == 0; }, '_');
  return name;
}

Bytes pattern_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 words(seed * 0x9e3779b97f4a7c15 + size);
  Bytes bytes(size);
  std::uint64_t word = 0;
  for (std::size_t at = 0; at < size; ++at) {
    if (at % sizeof word == 0) word = words();
    bytes[at] = static_cast<std::byte>(word >> (8 * (at % sizeof word)));
  }
  return bytes;
}

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

CreateOptions with_durability(Durability durability) {
  CreateOptions options;
  options.durability = durability;
  return options;
}

CreateOptions with_expected_size(std::uint64_t size_bytes) {
  CreateOptions options;
  options.expected_size_bytes = size_bytes;
  return options;
}

CreateOptions with_metadata(Metadata metadata) {
  CreateOptions options;
  options.metadata = std::move(metadata);
  return options;
}

CreateOptions with_precondition(Precondition precondition) {
  CreateOptions options;
  options.precondition = std::move(precondition);
  return options;
}

::testing::AssertionResult is_refused(ErrorCode code) {
  if (code == ErrorCode::kUnsupported || code == ErrorCode::kInvalidArgument) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "failed with \"" << error_traits(code).name
                                       << "\", not refused as unsupported or invalid";
}

void StoreContract::SetUp() {
  store_ = GetParam().make();
  ASSERT_NE(store_, nullptr);
  capabilities_ = store_->capabilities();
}

Result<ObjectInfo> StoreContract::try_put(std::string_view name, const Bytes& bytes,
                                          CreateOptions options) {
  if (options.durability == Durability::kDefault) options.durability = Durability::kMemory;
  return write_object(store(), name, bytes, options, context_);
}

Bytes StoreContract::put(std::string_view name, const Bytes& bytes) {
  EXPECT_TRUE(succeeds(try_put(name, bytes))) << name;
  if (capabilities_.stores_bytes) return bytes;
  auto held = get(name);
  EXPECT_TRUE(succeeds(held)) << name;
  return held.ok() ? *std::move(held) : Bytes();
}

bool StoreContract::put_if_allowed(std::string_view name, const Bytes& bytes) {
  const auto info = try_put(name, bytes);
  if (info.ok()) return true;
  EXPECT_FALSE(capabilities_.any_name) << info.error().message();
  EXPECT_TRUE(fails_with(info, ErrorCode::kInvalidArgument)) << name;
  return false;
}

void StoreContract::expect_holds(std::string_view name, const Bytes& bytes) {
  const auto info = store().stat(name, context_);
  ASSERT_TRUE(succeeds(info)) << name;
  EXPECT_EQ(info->size_bytes, bytes.size()) << name;
  const auto held = get(name);
  ASSERT_TRUE(succeeds(held)) << name;
  EXPECT_TRUE(*held == bytes) << name << ": other bytes";
}

void StoreContract::expect_absent(std::string_view name) {
  EXPECT_TRUE(fails_with(store().stat(name, context_), ErrorCode::kNotFound)) << name;
  EXPECT_TRUE(fails_with(store().open(name, {}, context_), ErrorCode::kNotFound)) << name;
  if (!capabilities_.listable) return;
  const auto names = list_names();
  EXPECT_EQ(std::find(names.begin(), names.end(), name), names.end()) << name;
}

std::vector<std::string> StoreContract::list_names(ListRequest request) {
  std::vector<std::string> names;
  while (true) {
    const auto page = store().list(request, context_);
    EXPECT_TRUE(succeeds(page));
    if (!page.ok()) return names;
    for (const auto& entry : page->entries) names.push_back(entry.name);
    if (page->next_start_after.empty()) return names;
    EXPECT_LT(request.start_after, page->next_start_after);
    if (page->next_start_after <= request.start_after) return names;
    request.start_after = page->next_start_after;
  }
}

}  // namespace leat::testing
