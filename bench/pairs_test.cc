#include "pairs.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

namespace leat::bench {
namespace {

std::vector<double> one_to(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.rbegin(), values.rend(), 1.0);
  return values;
}

Figure figure_of(std::vector<Pair> pairs, std::optional<Bar> bar) {
  return {"rate", "1/s", "peer", std::move(pairs), bar};
}

// The ranks are those of the tables of the sign test.
TEST(MedianInterval, LeavesOutAsManyAsTheConfidenceAllows) {
  struct Case {
    std::size_t count;
    double low, median, high;
  };
  for (const Case& expected :
       {Case{1, 1, 1, 1}, Case{5, 1, 3, 5}, Case{7, 1, 4, 7}, Case{8, 1, 4.5, 8}, Case{9, 2, 5, 8},
        Case{12, 3, 6.5, 10}, Case{15, 4, 8, 12}, Case{25, 8, 13, 18}}) {
    const MedianInterval interval = median_interval(one_to(expected.count));
    EXPECT_EQ(interval.low, expected.low) << expected.count;
    EXPECT_EQ(interval.median, expected.median) << expected.count;
    EXPECT_EQ(interval.high, expected.high) << expected.count;
  }
}

TEST(Summary, TheRatioIsThatOfThePairsNotOfTheMedians) {
  const Summary summary = summarise(figure_of({{1, 1.0}, {10, 2.0}, {3, 30.0}}, std::nullopt));
  EXPECT_EQ(summary.leat.median, 3);
  EXPECT_EQ(summary.peer->median, 2);
  EXPECT_EQ(summary.ratio->median, 1);
}

TEST(Summary, IsMissedOnlyWhenTheWholeIntervalIsBeyondTheBar) {
  const std::vector<Pair> pairs = {{1, 1.0}, {2, 1.0}, {3, 1.0}};
  EXPECT_FALSE(summarise(figure_of(pairs, ratio_at_least(3))).is_missed);
  EXPECT_TRUE(summarise(figure_of(pairs, ratio_at_least(3.1))).is_missed);
  EXPECT_FALSE(summarise(figure_of(pairs, ratio_at_most(1))).is_missed);
  EXPECT_TRUE(summarise(figure_of(pairs, ratio_at_most(0.9))).is_missed);
}

TEST(Summary, ABarOnTheValueLooksAtLeatAlone) {
  const std::vector<Pair> pairs = {{100, 1.0}, {200, 1.0}};
  EXPECT_FALSE(summarise(figure_of(pairs, value_at_most(150))).is_missed);
  EXPECT_TRUE(summarise(figure_of(pairs, value_at_most(99))).is_missed);
  EXPECT_TRUE(summarise(figure_of(pairs, value_at_least(201))).is_missed);
  EXPECT_FALSE(summarise(figure_of({{100, {}}}, value_at_least(50))).peer.has_value());
}

TEST(Interleave, ChangesWhoIsFirst) {
  std::string order;
  const auto side = [&order](char name) {
    return [&order, name]() -> Result<double> {
      order += name;
      return static_cast<double>(order.size());
    };
  };
  const auto pairs = interleave(4, side('L'), side('P'));
  ASSERT_TRUE(pairs.ok());
  EXPECT_EQ(order, "PLLPPLLP");
  EXPECT_EQ((*pairs)[0].peer, 1);
  EXPECT_EQ((*pairs)[0].leat, 2);
  EXPECT_EQ((*pairs)[1].leat, 3);
}

TEST(Interleave, AFailureEndsIt) {
  const auto fails = []() -> Result<double> { return ErrorCode::kIoError; };
  const auto works = []() -> Result<double> { return 1.0; };
  EXPECT_TRUE(interleave(7, works, fails).failed_with(ErrorCode::kIoError));
  EXPECT_TRUE(interleave(7, fails, works).failed_with(ErrorCode::kIoError));
  EXPECT_TRUE(repeat(7, fails).failed_with(ErrorCode::kIoError));
}

TEST(Lines, HoldEverything) {
  const Figure figure =
      figure_of({{1234567, 2469134.0}, {1234567, 4938268.0}}, ratio_at_least(0.2));
  const std::string text = text_line(figure);
  for (const char* part : {"rate", "1,234,567", "3,703,701 [2,469,134, 4,938,268]",
                           "0.38 [0.25, 0.50]", ">= 0.20 x", "met"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_EQ(text.find("1,234,567 ["), std::string::npos) << text;
  const auto json = nlohmann::json::parse(json_line(figure));
  EXPECT_EQ(json["ratio"]["median"], 0.375);
  EXPECT_EQ(json["verdict"], "met");
  EXPECT_EQ(json["pairs"].size(), 2U);
}

}  // namespace
}  // namespace leat::bench
