// Pairs: the statistics and the printing that all benchmarks share.
//
// The speed of a machine drifts: other work, temperature, the state of the disk. So a benchmark
// never compares a figure of now with one of yesterday: Leat and its peer are measured one right
// after the other, many times, and the ratio of each such pair is what counts. Of the ratios the
// median is reported, with the interval between two order statistics that holds the true median
// with a probability of at least 95 %, whatever the distribution.
//
// A bar is missed only when the whole interval is beyond it: one noisy pair proves nothing.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "leat/base/result.h"

namespace leat::bench {

// With fewer values no interval holds the median often enough; 7 is what the bars ask for.
inline constexpr std::size_t kMinPairs = 7;

struct MedianInterval {
  double median = 0;
  double low = 0;
  double high = 0;
};

// REQUIRES: `values` is not empty. Of fewer than 6 values: the smallest and the largest, which is
// the widest interval there is.
MedianInterval median_interval(std::vector<double> values);

// One measurement, or two that were made one right after the other.
struct Pair {
  double leat = 0;
  std::optional<double> peer;
};

struct Bar {
  enum class Wanted : std::uint8_t { kAtLeast, kAtMost };
  enum class Of : std::uint8_t { kRatio, kValue };  // Leat's value by the peer's, or Leat's alone
  Wanted wanted = Wanted::kAtLeast;
  Of of = Of::kRatio;
  double limit = 0;
};

inline Bar ratio_at_least(double limit) {
  return {Bar::Wanted::kAtLeast, Bar::Of::kRatio, limit};
}
inline Bar ratio_at_most(double limit) {
  return {Bar::Wanted::kAtMost, Bar::Of::kRatio, limit};
}
inline Bar value_at_least(double limit) {
  return {Bar::Wanted::kAtLeast, Bar::Of::kValue, limit};
}
inline Bar value_at_most(double limit) {
  return {Bar::Wanted::kAtMost, Bar::Of::kValue, limit};
}

// One line of the results.
struct Figure {
  std::string name;
  std::string unit;
  std::string peer;         // who that is; empty when there is none
  std::vector<Pair> pairs;  // not empty; either all have a peer or none
  std::optional<Bar> bar;   // none: the figure is only told
};

// What a figure comes to.
struct Summary {
  MedianInterval leat;
  std::optional<MedianInterval> peer;
  std::optional<MedianInterval> ratio;
  bool is_missed = false;
};
Summary summarise(const Figure& figure);

// Runs both sides `pairs` times; who is first changes with every pair, so that neither always
// finds the machine as the other left it.
using Measurement = std::function<Result<double>()>;
Result<std::vector<Pair>> interleave(std::size_t pairs, const Measurement& leat,
                                     const Measurement& peer);
// The same without a peer.
Result<std::vector<Pair>> repeat(std::size_t times, const Measurement& leat);

std::string text_heading();
std::string text_line(const Figure& figure);
// One JSON object with everything, every pair too; without a line feed.
std::string json_line(const Figure& figure);

// Where figures go: lines of text to standard output, and JSON lines to a file if one is named.
class Report {
 public:
  explicit Report(std::string json_file) : json_file_(std::move(json_file)) {}
  Status add(const Figure& figure);

 private:
  const std::string json_file_;
  bool has_heading_ = false;
};

}  // namespace leat::bench
