#include "leat/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace leat {
namespace {

// These values are a promise: orders of data sets are made from them, and a training run that is
// resumed next year must see the same order.
TEST(Random, IsPinned) {
  Random bits(0);
  EXPECT_EQ(bits.next(), 0x99EC5F36CB75F2B4u);
  EXPECT_EQ(bits.next(), 0xBF6E1F784956452Au);
  EXPECT_EQ(bits.next(), 0x1A5F849D4933E6E0u);
  EXPECT_EQ(bits.next(), 0x6AA594F1262D2D2Cu);

  Random dice(42);
  std::vector<std::uint64_t> drawn(8);
  for (std::uint64_t& value : drawn) value = dice.uniform(1000);
  EXPECT_EQ(drawn, (std::vector<std::uint64_t>{83, 378, 680, 924, 991, 769, 719, 850}));

  std::vector<int> order(10);
  std::iota(order.begin(), order.end(), 0);
  Random(7).shuffle(std::span(order));
  EXPECT_EQ(order, (std::vector<int>{1, 8, 3, 0, 4, 5, 9, 6, 2, 7}));

  EXPECT_EQ(Random(1).unit(), 0.7029218331588505);
}

// Half of the draws are rejected at this bound: the worst case of Lemire's method.
TEST(Random, IsPinnedWhereItRedraws) {
  Random random(3);
  constexpr std::uint64_t kBound = (std::uint64_t{1} << 63) + 1;
  EXPECT_EQ(random.uniform(kBound), 6370013938770462304u);
  EXPECT_EQ(random.uniform(kBound), 5908316944864129655u);
  EXPECT_EQ(random.uniform(kBound), 2013115070431952552u);
}

TEST(Random, UniformStaysInBoundsAndReachesEveryValue) {
  Random random(5);
  EXPECT_EQ(random.uniform(1), 0u);
  std::vector<int> seen(6);
  constexpr int kDraws = 60'000;
  for (int i = 0; i < kDraws; ++i) ++seen.at(random.uniform(6));
  for (const int count : seen) EXPECT_NEAR(count, kDraws / 6, 500);  // five sigma
}

TEST(Random, ShuffleFavoursNoOrder) {
  Random random(11);
  std::vector<int> seen(6);
  constexpr int kShuffles = 60'000;
  for (int i = 0; i < kShuffles; ++i) {
    std::array<int, 3> items = {0, 1, 2};
    random.shuffle(std::span<int>(items));
    ++seen.at(static_cast<std::size_t>(items[0] * 2 + (items[1] > items[2] ? 1 : 0)));
  }
  for (const int count : seen) EXPECT_NEAR(count, kShuffles / 6, 500);
}

TEST(Random, ShufflesNothingAndOne) {
  Random random(0);
  std::vector<int> items;
  random.shuffle(std::span(items));
  items = {1};
  random.shuffle(std::span(items));
  EXPECT_EQ(items, std::vector<int>{1});
}

TEST(Random, UnitStaysBelowOne) {
  Random random(9);
  double lowest = 1;
  double highest = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double value = random.unit();
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  EXPECT_GE(lowest, 0);
  EXPECT_LT(lowest, 0.001);
  EXPECT_GT(highest, 0.999);
  EXPECT_LT(highest, 1);
}

}  // namespace
}  // namespace leat
