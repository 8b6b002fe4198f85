#include "leat/local/name_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <thread>
#include <vector>

#include "leat/base/random.h"

namespace leat::local {
namespace {

Place place_at(std::uint32_t pack, std::uint32_t block = 0) {
  return Place({pack, block}, kBlockBytes, 0);
}

using Model = std::multimap<std::uint64_t, std::uint64_t>;  // from hash to the bits of a place

std::vector<std::uint64_t> sorted_bits(const NameTable::Matches& matches) {
  std::vector<std::uint64_t> bits;
  for (const Place place : matches) bits.push_back(place.bits());
  std::sort(bits.begin(), bits.end());
  return bits;
}

std::vector<std::uint64_t> sorted_bits(const Model& model, std::uint64_t hash) {
  std::vector<std::uint64_t> bits;
  const auto [first, last] = model.equal_range(hash);
  for (auto it = first; it != last; ++it) bits.push_back(it->second);
  std::sort(bits.begin(), bits.end());
  return bits;
}

void expect_equal(const NameTable& table, const Model& model) {
  ASSERT_EQ(table.size(), model.size());
  for (const auto& [hash, bits] : model) {
    ASSERT_EQ(sorted_bits(table.find(hash)), sorted_bits(model, hash));
  }
  std::vector<std::uint64_t> all;
  table.for_each([&](Place place) { all.push_back(place.bits()); });
  std::vector<std::uint64_t> expected;
  for (const auto& [hash, bits] : model) expected.push_back(bits);
  std::sort(all.begin(), all.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(all, expected);
}

TEST(Location, APlaceHoldsItsParts) {
  const Location last{kMaxPacks, static_cast<std::uint32_t>(kMaxPackBytes / kBlockBytes) - 1};
  for (const Location location : {Location{1, 0}, Location{7, 12345}, last}) {
    for (const std::uint64_t length : {512u, 1024u, 4094u * 512u}) {
      const Place place(location, length, Place::kSharedBit);
      EXPECT_EQ(place.location(), location);
      EXPECT_EQ(place.length_bytes(), length);
      EXPECT_EQ(place.counted_bytes(), length);
      EXPECT_TRUE(place.is_shared());
      EXPECT_FALSE(place.is_tombstone());
      EXPECT_TRUE(place.verified().is_verified());
      EXPECT_EQ(place.verified().unverified().bits(), place.bits());
    }
    const Place too_long(location, std::uint64_t{4095} * 512, Place::kTombstoneBit);
    EXPECT_EQ(too_long.length_bytes(), 0u);
    EXPECT_EQ(too_long.counted_bytes(), std::uint64_t{4095} * 512);
    EXPECT_EQ(too_long.location(), location);
    EXPECT_TRUE(too_long.is_tombstone());
    EXPECT_FALSE(too_long.is_shared());
  }
}

TEST(NameTable, AnEmptyOneKnowsNothing) {
  const NameTable table;
  EXPECT_EQ(table.find(0).size(), 0u);
  EXPECT_EQ(table.find(UINT64_MAX).size(), 0u);
  table.prefetch(7);
  table.mark_learned(7, place_at(1).verified());
  EXPECT_EQ(table.memory_bytes(), 0u);
}

TEST(NameTable, EqualHashesAreSeparateEntriesUpToALimit) {
  NameTable table;
  for (std::uint32_t pack = 1; pack <= 4; ++pack) {
    EXPECT_FALSE(table.is_full(42));
    EXPECT_TRUE(table.insert(42, place_at(pack)));
  }
  EXPECT_TRUE(table.is_full(42));
  EXPECT_FALSE(table.insert(42, place_at(5)));
  table.replace(42, place_at(2), place_at(9));
  table.erase(42, place_at(3));
  EXPECT_TRUE(table.insert(42, place_at(5)));
  expect_equal(table, {{42, place_at(1).bits()},
                       {42, place_at(9).bits()},
                       {42, place_at(4).bits()},
                       {42, place_at(5).bits()}});
}

TEST(NameTable, KeepsWhatWasLearnedOfARecord) {
  NameTable table;
  ASSERT_TRUE(table.insert(1, place_at(1)));
  const auto place = [&] { return *table.find(1).begin(); };
  EXPECT_FALSE(place().has_known_header());
  table.mark_learned(1, place_at(1).with_extension(2 * kBlockBytes));
  EXPECT_EQ(place().extension_bytes(), 2 * kBlockBytes);
  EXPECT_TRUE(place().has_known_header());
  EXPECT_FALSE(place().is_verified());
  table.mark_learned(1, place_at(1).large());
  EXPECT_TRUE(place().is_large());
  EXPECT_EQ(place().extension_bytes(), 2 * kBlockBytes);
  EXPECT_EQ(place().length_bytes(), place_at(1).length_bytes());
  EXPECT_EQ(place().unverified().bits(), place_at(1).bits()) << "none of it is stored";
  EXPECT_EQ(place_at(1).with_extension(31 * kBlockBytes).extension_bytes(), 31 * kBlockBytes);
  EXPECT_EQ(place_at(1).with_extension(32 * kBlockBytes).bits(), place_at(1).bits());
}

TEST(NameTable, MarksWhatWasVerifiedUnlessItHasMoved) {
  NameTable table;
  ASSERT_TRUE(table.insert(1, place_at(1)));
  table.mark_learned(1, place_at(2).verified());
  EXPECT_FALSE(table.find(1).begin()->is_verified());
  table.mark_learned(1, place_at(1).verified());
  EXPECT_TRUE(table.find(1).begin()->is_verified());
  // What is known of the old place says nothing about the new one.
  table.replace(1, place_at(1), place_at(3));
  EXPECT_FALSE(table.find(1).begin()->is_verified());
  table.mark_learned(1, place_at(3).verified());
  table.erase(1, place_at(3));
  EXPECT_EQ(table.size(), 0u);
}

// Few homes in one sub-table make long runs that wrap around its end: the hard case of erasing.
TEST(NameTable, ErasingKeepsWhatStandsAfterTheHole) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    NameTable table;
    Model model;
    for (std::uint32_t step = 1; step <= 400; ++step) {
      const std::uint64_t hash = random.uniform(6) * 7 + 10 + (random.uniform(8) << 32);
      const auto it = model.find(hash);
      if (it != model.end() && random.uniform(2) == 0) {
        table.erase(hash, Place::from_bits(it->second));
        model.erase(it);
      } else if (!table.is_full(hash)) {
        ASSERT_TRUE(table.insert(hash, place_at(step)));
        model.emplace(hash, place_at(step).bits());
      }
    }
    expect_equal(table, model);
  }
}

TEST(NameTable, BehavesAsItsModelWhileItGrowsAndShrinks) {
  Random random(3);
  NameTable table;
  Model model;
  std::vector<std::uint64_t> hashes;
  for (std::uint32_t step = 1; step <= 60'000; ++step) {
    const bool shrinking = step / 10'000 % 2 == 1;
    const bool insert = hashes.empty() || random.uniform(10) < (shrinking ? 3u : 7u);
    const Place place = place_at(1 + step % kMaxPacks, step % 1000);
    if (insert) {
      const std::uint64_t hash = random.next();
      ASSERT_TRUE(table.insert(hash, place));
      model.emplace(hash, place.bits());
      hashes.push_back(hash);
      continue;
    }
    std::swap(hashes[random.uniform(hashes.size())], hashes.back());
    const auto it = model.find(hashes.back());
    if (random.uniform(3) == 0) {
      table.replace(it->first, Place::from_bits(it->second), place);
      it->second = place.bits();
    } else {
      table.erase(it->first, Place::from_bits(it->second));
      model.erase(it);
      hashes.pop_back();
    }
  }
  expect_equal(table, model);
}

TEST(NameTable, ReservingKeepsEntriesAndSparesGrowth) {
  Random random(4);
  NameTable table;
  Model model;
  const auto fill = [&](std::uint32_t count) {
    for (std::uint32_t i = 1; i <= count; ++i) {
      const std::uint64_t hash = random.next();
      ASSERT_TRUE(table.insert(hash, place_at(i)));
      model.emplace(hash, place_at(i).bits());
    }
  };
  fill(1'000);
  table.reserve(100'000);
  expect_equal(table, model);
  const std::uint64_t reserved = table.memory_bytes();
  EXPECT_LE(reserved, 100'000u * 45);
  fill(99'000);
  EXPECT_EQ(table.memory_bytes(), reserved);
  table.reserve(10);
  expect_equal(table, model);
}

TEST(NameTable, MarkingMayRunBesideFinding) {
  NameTable table;
  Random random(5);
  std::vector<std::uint64_t> hashes(1'000);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    hashes[i] = random.next();
    ASSERT_TRUE(table.insert(hashes[i], place_at(static_cast<std::uint32_t>(i) + 1)));
  }
  const auto work = [&] {
    for (const std::uint64_t hash : hashes) {
      const auto matches = table.find(hash);
      ASSERT_EQ(matches.size(), 1u);
      table.mark_learned(hash, matches.begin()->verified());
    }
  };
  std::jthread other(work);
  work();
  other.join();
  for (const std::uint64_t hash : hashes) EXPECT_TRUE(table.find(hash).begin()->is_verified());
}

}  // namespace
}  // namespace leat::local
