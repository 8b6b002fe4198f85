// The contract suite: every name that the contract allows, and none that it does not.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "leat/store/testing/contract.h"

namespace leat::testing {
namespace {

std::string all_bytes() {
  std::string name;
  for (int byte = 1; byte < 256; ++byte) name += static_cast<char>(byte);
  return name;
}

std::vector<std::string> odd_names() {
  return {"plain",
          " ",
          " leading and trailing ",
          "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x8e",  // é € and a horse, as UTF-8
          "e\xcc\x81",                             // é once more, decomposed
          ".",
          "..",
          "../escape",
          "a/../b",
          "a/./b",
          "a//b",
          "/",
          "//",
          "/leading",
          "trailing/",
          "%2F",
          "%",
          "100%25",
          "back\\slash",
          "new\nline",
          "tab\tand\rreturn",
          "\x01\x02\x7f",
          "not \xff\xfe\xc3 UTF-8",
          "query?a=b&c#fragment",
          "quote\"and'apostrophe`",
          "*?[a-z]{x,y}",
          "$HOME ~user",
          "-rf",
          ":colon,comma;semicolon@at+plus=equals",
          "leat.store",
          ".hidden",
          "CON",
          "UPPER/lower",
          "upper/LOWER",
          all_bytes(),
          std::string(255, 'c'),
          std::string(256, 'c'),
          std::string(kMaxNameBytes, 'n'),
          std::string(kMaxNameBytes, '\xff'),
          std::string(kMaxNameBytes, '/'),
          std::string(200, 'd') + "/" + std::string(200, 'e') + "/" + std::string(200, 'f')};
}

TEST_P(StoreContract, KeepsOddNamesApart) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  std::map<std::string, Bytes> kept;
  for (const std::string& name : odd_names()) {
    if (name.size() > capabilities().max_name_bytes) continue;
    const Bytes bytes = bytes_of("the bytes of " + name);
    if (put_if_allowed(name, bytes)) kept.emplace(name, bytes);
  }
  if (capabilities().any_name) {
    EXPECT_GE(kept.size(), 30u);
  }
  EXPECT_TRUE(kept.contains("plain"));
  for (const auto& [name, bytes] : kept) expect_holds(name, bytes);
  if (capabilities().listable) {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : kept) names.push_back(name);
    EXPECT_EQ(list_names(), names);
  }
  while (!kept.empty()) {
    const std::string name = kept.begin()->first;
    ASSERT_TRUE(succeeds(store().remove(name, {}, context_))) << name;
    kept.erase(kept.begin());
    EXPECT_TRUE(fails_with(store().stat(name, context_), ErrorCode::kNotFound)) << name;
  }
  if (capabilities().listable) {
    EXPECT_EQ(list_names(), std::vector<std::string>());
  }
}

TEST_P(StoreContract, ANameThatItCannotHoldIsRefusedOrAbsentEverywhere) {
  if (!keeps_objects() || capabilities().any_name) GTEST_SKIP() << "holds any name";
  const auto refused_or_absent = [](const auto& result) {
    return result.failed_with(ErrorCode::kInvalidArgument) ||
           result.failed_with(ErrorCode::kNotFound);
  };
  for (const std::string& name : odd_names()) {
    if (put_if_allowed(name, bytes_of("x"))) continue;
    EXPECT_TRUE(refused_or_absent(store().stat(name, context_))) << name;
    EXPECT_TRUE(refused_or_absent(store().open(name, {}, context_))) << name;
    EXPECT_TRUE(refused_or_absent(store().remove(name, {}, context_))) << name;
  }
}

TEST_P(StoreContract, ANameAndWhatLiesBeneathItAreBothObjects) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  std::map<std::string, Bytes> kept;
  for (const char* name : {"a", "a/b", "a/b/c", "x/y/z", "x/y", "x", "a/", "a-", "a0"}) {
    if (put_if_allowed(name, bytes_of(name))) kept.emplace(name, bytes_of(name));
  }
  for (const auto& [name, bytes] : kept) expect_holds(name, bytes);
  if (!kept.contains("a/b")) return;
  // Removing the upper one leaves what lies beneath it.
  ASSERT_TRUE(succeeds(store().remove("a", {}, context_)));
  expect_absent("a");
  expect_holds("a/b", kept["a/b"]);
}

std::vector<std::string> bad_names(std::size_t max_name_bytes) {
  using namespace std::string_literals;
  return {""s,
          "\0"s,
          "nul\0inside"s,
          "end\0"s,
          std::string(max_name_bytes + 1, 'n'),
          std::string(100'000, 'n')};
}

TEST_P(StoreContract, RefusesToReadBadNames) {
  constexpr auto kCode = ErrorCode::kInvalidArgument;
  for (const std::string& name : bad_names(capabilities().max_name_bytes)) {
    EXPECT_TRUE(fails_with(store().stat(name, context_), kCode)) << name.size();
    EXPECT_TRUE(fails_with(store().open(name, {}, context_), kCode)) << name.size();
    BatchRead reads[] = {{.name = name, .range = {}, .target = {}}};
    store().read_batch(reads, context_);
    EXPECT_TRUE(fails_with(reads[0].result, kCode)) << name.size();
  }
}

TEST_P(StoreContract, RefusesToChangeBadNames) {
  if (!capabilities().writable) GTEST_SKIP() << "not writable";
  constexpr auto kCode = ErrorCode::kInvalidArgument;
  put("good", bytes_of("good"));
  for (const std::string& name : bad_names(capabilities().max_name_bytes)) {
    EXPECT_TRUE(fails_with(store().create(name, {}, context_), kCode)) << name.size();
    EXPECT_TRUE(fails_with(store().remove(name, {}, context_), kCode)) << name.size();
    EXPECT_TRUE(fails_with(store().copy(name, "other", {}, context_), kCode)) << name.size();
    EXPECT_TRUE(fails_with(store().copy("good", name, {}, context_), kCode)) << name.size();
  }
  if (lists_objects()) {
    EXPECT_EQ(list_names(), std::vector<std::string>{"good"});
  }
}

}  // namespace
}  // namespace leat::testing
