#include "leat/local/record_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>

namespace leat::local {
namespace {

constexpr std::uint64_t kCapacity = 2 << 20;

Place place(std::uint32_t number) {
  return Place({1 + number / 1000, number % 1000}, 1024, Place::kPlainBit);
}
std::string name(std::uint32_t number) {
  return "bucket/" + std::to_string(number);
}
std::string content(std::uint32_t number, std::size_t size) {
  return std::string(size, static_cast<char>('a' + number % 26));
}

void insert(RecordCache& cache, std::uint32_t number, std::size_t size) {
  const std::string key = name(number);
  const std::string bytes = content(number, size);
  const RecordCache::Entry entry{{place(number), key}, std::as_bytes(std::span(bytes))};
  cache.insert({&entry, 1});
}

std::optional<std::string> find(RecordCache& cache, Place at, std::string_view key) {
  std::optional<std::string> found;
  const RecordCache::Key wanted{at, key};
  cache.find({&wanted, 1}, [&](std::size_t i, std::span<const std::byte> bytes) {
    EXPECT_EQ(i, 0u);
    found.emplace(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  return found;
}
std::optional<std::string> find(RecordCache& cache, std::uint32_t number) {
  return find(cache, place(number), name(number));
}

TEST(RecordCache, FindsWhatWasInserted) {
  RecordCache cache(kCapacity);
  EXPECT_EQ(find(cache, 1), std::nullopt);
  for (const std::uint32_t number : {1u, 2u, 3u}) insert(cache, number, number * 100);
  insert(cache, 4, 0);
  for (const std::uint32_t number : {1u, 2u, 3u}) {
    EXPECT_EQ(find(cache, number), content(number, number * 100));
  }
  EXPECT_EQ(find(cache, 4), "");
  EXPECT_EQ(find(cache, 5), std::nullopt);
}

TEST(RecordCache, ComparesNames) {
  RecordCache cache(kCapacity);
  insert(cache, 1, 10);
  EXPECT_EQ(find(cache, place(1), "bucket/another"), std::nullopt);
  EXPECT_EQ(find(cache, place(2), name(1)), std::nullopt);
  EXPECT_EQ(find(cache, place(1).verified(), name(1)), content(1, 10));
}

TEST(RecordCache, LeavesOutLongObjects) {
  RecordCache cache(kCapacity);
  insert(cache, 1, RecordCache::kMostObjectBytes);
  insert(cache, 2, RecordCache::kMostObjectBytes + 1);
  EXPECT_TRUE(find(cache, 1).has_value());
  EXPECT_FALSE(find(cache, 2).has_value());
}

TEST(RecordCache, IsKeptWhenFullUntilItIsUseless) {
  RecordCache cache(kCapacity);
  std::uint32_t count = 0;
  while (cache.takes_more()) insert(cache, count++, 1000);
  EXPECT_GT(count, 1500u);
  insert(cache, count, 1000);
  EXPECT_FALSE(find(cache, count).has_value());
  // One hit in ten: worth keeping.
  for (std::uint32_t i = 0; i < 40 * count; ++i) {
    (void)find(cache, i % 10 == 0 ? i % 1000 : 100'000 + i);
  }
  EXPECT_FALSE(cache.takes_more());
  // Something else is read now.
  std::uint32_t misses = 0;
  while (!cache.takes_more() && misses < 100 * count) (void)find(cache, 200'000 + misses++);
  ASSERT_TRUE(cache.takes_more());
  EXPECT_EQ(find(cache, 0), content(0, 1000));
  insert(cache, 200'000, 1000);
  EXPECT_EQ(find(cache, 0), std::nullopt);
  EXPECT_EQ(find(cache, 200'000), content(200'000, 1000));
}

TEST(RecordCache, HoldsManySmallObjects) {
  RecordCache cache(kCapacity);
  for (std::uint32_t i = 0; i < 100'000; ++i) insert(cache, i, 1);
  EXPECT_FALSE(cache.takes_more());
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    if (const auto bytes = find(cache, i)) {
      EXPECT_EQ(*bytes, content(i, 1));
      ++found;
    }
  }
  EXPECT_GT(found, 2000u);
}

TEST(RecordCache, OfNoSizeTakesNothing) {
  RecordCache cache(1000);
  EXPECT_FALSE(cache.takes_more());
  insert(cache, 1, 1);
  EXPECT_EQ(find(cache, 1), std::nullopt);
}

TEST(RecordCache, ServesManyThreads) {
  RecordCache cache(kCapacity);
  std::vector<std::jthread> threads;
  for (std::uint32_t thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&cache, thread] {
      for (std::uint32_t i = 0; i < 3000; ++i) {
        insert(cache, i * 7 % 1000 + thread * 500, 500);
        const std::uint32_t number = i * 13 % 2000;
        if (const auto bytes = find(cache, number)) {
          EXPECT_EQ(*bytes, content(number, 500));
        }
      }
    });
  }
}

}  // namespace
}  // namespace leat::local
