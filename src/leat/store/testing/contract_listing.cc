// The contract suite: listings against a model that is written from the definition alone.
#include <algorithm>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "leat/store/testing/contract.h"

namespace leat::testing {
namespace {

// Entries and common prefixes in one byte order; the kinds are told apart by `is_prefix`.
struct Item {
  std::string text;
  bool is_prefix = false;
  auto operator<=>(const Item&) const = default;
};

void PrintTo(const Item& item, std::ostream* out) {
  *out << (item.is_prefix ? "prefix " : "name ") << ::testing::PrintToString(item.text);
}

std::vector<Item> model_items(const std::set<std::string>& names, const ListRequest& request) {
  std::vector<Item> items;
  for (const std::string& name : names) {
    if (!name.starts_with(request.prefix)) continue;
    Item item{name, false};
    if (!request.delimiter.empty()) {
      const std::size_t at = name.find(request.delimiter, request.prefix.size());
      if (at != std::string::npos) item = {name.substr(0, at + request.delimiter.size()), true};
    }
    if (item.text <= request.start_after) continue;
    if (items.empty() || items.back() != item) items.push_back(item);
  }
  return items;
}

std::vector<Item> items_of(const ListPage& page) {
  std::vector<Item> items;
  for (const auto& entry : page.entries) items.push_back({entry.name, false});
  for (const auto& prefix : page.common_prefixes) items.push_back({prefix, true});
  EXPECT_TRUE(std::is_sorted(page.common_prefixes.begin(), page.common_prefixes.end()));
  std::inplace_merge(items.begin(), items.begin() + static_cast<long>(page.entries.size()),
                     items.end());
  EXPECT_TRUE(std::is_sorted(items.begin(), items.end())) << "entries out of order";
  return items;
}

// All items, page by page; every page but the last must make progress and keep the limit.
std::vector<Item> page_through(ObjectStore& store, ListRequest request, const Context& context) {
  std::vector<Item> items;
  while (true) {
    const auto page = store.list(request, context);
    EXPECT_TRUE(succeeds(page));
    if (!page.ok()) return items;
    const auto part = items_of(*page);
    EXPECT_LE(part.size(), request.limit);
    items.insert(items.end(), part.begin(), part.end());
    if (page->next_start_after.empty()) return items;
    EXPECT_FALSE(part.empty()) << "a page without items that is not the last";
    EXPECT_GT(page->next_start_after, request.start_after);
    if (page->next_start_after <= request.start_after) return items;
    request.start_after = page->next_start_after;
  }
}

// Names over few letters, so that they share prefixes, and with bytes that sort around '/'.
std::string random_name(std::mt19937_64& random) {
  static const std::vector<std::string> kParts = {"a",  "b",    "/",    "/",    ".",  "-",  "0",
                                                  "--", "\x01", "\x7f", "\xff", "ab", "a/b"};
  std::string name;
  for (std::size_t count = 1 + random() % 6; count > 0; --count) {
    name += kParts[random() % kParts.size()];
  }
  return name;
}

TEST_P(StoreContract, ListsNothingInAnEmptyStore) {
  if (!lists_objects()) GTEST_SKIP() << "lists no objects";
  for (const ListRequest& request :
       {ListRequest{}, ListRequest{.prefix = "p/", .delimiter = "/", .start_after = {}},
        ListRequest{.prefix = {}, .delimiter = {}, .start_after = "z"}}) {
    const auto page = store().list(request, context_);
    ASSERT_TRUE(succeeds(page));
    EXPECT_TRUE(page->entries.empty());
    EXPECT_TRUE(page->common_prefixes.empty());
    EXPECT_TRUE(page->next_start_after.empty());
  }
}

TEST_P(StoreContract, RefusesToListWhenNotListable) {
  if (capabilities().listable) GTEST_SKIP() << "listable";
  EXPECT_TRUE(is_refused(store().list({}, context_)));
}

TEST_P(StoreContract, ListsAsTheModelDoes) {
  if (!lists_objects()) GTEST_SKIP() << "lists no objects";
  std::mt19937_64 random(11);
  std::set<std::string> names;
  for (int round = 0; round < 250; ++round) {
    const std::string name = random_name(random);
    if (put_if_allowed(name, {})) names.insert(name);
  }
  ASSERT_GE(names.size(), 40u);
  const std::vector<std::string> prefixes = {"", "a", "a/", "/", "a/b", "\xff", "nothing"};
  const std::vector<std::string> delimiters = {"", "/", "b", "--", "a/", "\xff", "\xff\xff"};
  for (const std::string& prefix : prefixes) {
    for (const std::string& delimiter : delimiters) {
      ListRequest request{.prefix = prefix, .delimiter = delimiter, .start_after = {}};
      for (const std::uint32_t limit : {1, 1000}) {
        request.limit = limit;
        EXPECT_EQ(page_through(store(), request, context_), model_items(names, request))
            << ::testing::PrintToString(request.prefix) << ' '
            << ::testing::PrintToString(request.delimiter) << ' ' << limit;
      }
      for (int round = 0; round < 8; ++round) {
        request.start_after = round == 0 ? prefix : random_name(random);
        if (round % 3 == 0) request.start_after = prefix + request.start_after;
        request.limit = round % 2 == 0 ? 2 : 7;
        EXPECT_EQ(page_through(store(), request, context_), model_items(names, request))
            << ::testing::PrintToString(request.prefix) << ' '
            << ::testing::PrintToString(request.delimiter) << ' '
            << ::testing::PrintToString(request.start_after) << ' ' << request.limit;
      }
    }
  }
}

TEST_P(StoreContract, ListsFromInsideACommonPrefix) {
  if (!lists_objects()) GTEST_SKIP() << "lists no objects";
  for (const char* name : {"a/1", "a/2", "a/3", "b", "c/1", "c/2/x", "d"}) put(name, {});
  const auto list = [&](std::string prefix, std::string start_after) {
    const auto page = store().list(
        {.prefix = std::move(prefix), .delimiter = "/", .start_after = std::move(start_after)},
        context_);
    EXPECT_TRUE(succeeds(page));
    return page.ok() ? items_of(*page) : std::vector<Item>();
  };
  const std::vector<Item> after_a = {{"b", false}, {"c/", true}, {"d", false}};
  EXPECT_EQ(list("", "a/"), after_a);
  EXPECT_EQ(list("", "a/2"), after_a);
  EXPECT_EQ(list("", "a/9"), after_a);
  EXPECT_EQ(list("", "a/\xff"), after_a);
  const std::vector<Item> all = {{"a/", true}, {"b", false}, {"c/", true}, {"d", false}};
  EXPECT_EQ(list("", "a"), all);
  EXPECT_EQ(list("", "a."), all);
  EXPECT_EQ(list("c/", ""), (std::vector<Item>{{"c/1", false}, {"c/2/", true}}));
  EXPECT_EQ(list("c/", "c/1"), (std::vector<Item>{{"c/2/", true}}));
  EXPECT_EQ(list("c/", "c/2/x"), std::vector<Item>());
  EXPECT_EQ(list("c/", "d"), std::vector<Item>());
  EXPECT_EQ(list("c/", "b"), (std::vector<Item>{{"c/1", false}, {"c/2/", true}}));
}

TEST_P(StoreContract, ListsManyNamesByPages) {
  if (!lists_objects()) GTEST_SKIP() << "lists no objects";
  std::set<std::string> names;
  for (int index = 0; index < 1050; ++index) {
    names.insert((index % 2 == 0 ? "even/" : "odd/") + std::to_string(index * 7919 % 1050));
  }
  for (const std::string& name : names) ASSERT_TRUE(succeeds(try_put(name, bytes_of(name))));
  const auto first = store().list({}, context_);
  ASSERT_TRUE(succeeds(first));
  EXPECT_LE(first->entries.size(), 1000u);
  EXPECT_FALSE(first->next_start_after.empty());
  EXPECT_EQ(page_through(store(), {}, context_), model_items(names, {}));
  for (const auto& entry : first->entries) {
    ASSERT_EQ(entry.info.size_bytes, entry.name.size()) << entry.name;
  }
}

TEST_P(StoreContract, ListsNothingWithLimitZero) {
  if (!lists_objects()) GTEST_SKIP() << "lists no objects";
  put("name", {});
  ListRequest request;
  request.limit = 0;
  const auto page = store().list(request, context_);
  ASSERT_TRUE(succeeds(page));
  EXPECT_TRUE(page->entries.empty());
  EXPECT_TRUE(page->next_start_after.empty());
}

TEST_P(StoreContract, ListingNeverLosesAStableName) {
  if (!lists_objects()) GTEST_SKIP() << "lists no objects";
  std::vector<std::string> stable;
  for (int index = 0; index < 60; ++index) {
    stable.push_back("n/" + std::to_string(100 + index) + "/stable");
    put(stable.back(), {});
  }
  std::vector<std::jthread> churn;  // stopped when the test ends
  for (int number = 0; number < 2; ++number) {
    churn.emplace_back([&, number](std::stop_token stop) {
      std::mt19937_64 random(number);
      while (!stop.stop_requested()) {
        // Before, after and beside the stable ones; what another thread removed is no error.
        const std::string directory = "n/" + std::to_string(99 + random() % 63);
        const std::string name = directory + (random() % 2 == 0 ? "/a" : "/z");
        if (random() % 2 == 0) {
          EXPECT_TRUE(succeeds(try_put(name, {})));
        } else {
          (void)store().remove(name, {}, context_);
        }
      }
    });
  }
  for (int round = 0; round < 10; ++round) {
    ListRequest request;
    request.limit = 7;
    std::vector<std::string> seen;
    for (const std::string& name : list_names(request)) {
      if (name.ends_with("/stable")) seen.push_back(name);
    }
    EXPECT_EQ(seen, stable);
  }
}

}  // namespace
}  // namespace leat::testing
