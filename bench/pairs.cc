#include "pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "leat/base/check.h"

namespace leat::bench {
namespace {

constexpr double kConfidence = 0.95;

double median_of_sorted(const std::vector<double>& values) {
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

// How many values may be left out at either end. The median lies below the (k+1)-th smallest of n
// values when at most k of n fair coins show heads.
std::size_t values_outside(std::size_t count) {
  double probability = std::pow(0.5, static_cast<double>(count));  // of exactly `outside` heads
  double tail = probability;
  std::size_t outside = 0;
  while (outside < count / 2) {
    probability *= static_cast<double>(count - outside) / static_cast<double>(outside + 1);
    tail += probability;
    if (2 * tail > 1 - kConfidence) break;
    ++outside;
  }
  return outside;
}

// Three or four digits, with separators where a number is long.
std::string number(double value) {
  const double size = std::abs(value);
  if (size >= 1000) {
    std::string digits = fmt::format("{:.0f}", value);
    const std::size_t first = value < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) {
      at -= 3;
      digits.insert(at, ",");
    }
    return digits;
  }
  return fmt::format("{:.{}f}", value, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

// What was measured once, or is always the same, has no interval worth a line's width.
std::string interval(const MedianInterval& value) {
  if (value.low == value.high) return number(value.median);
  return fmt::format("{} [{}, {}]", number(value.median), number(value.low), number(value.high));
}

bool is_beyond(const MedianInterval& value, const Bar& bar) {
  return bar.wanted == Bar::Wanted::kAtLeast ? value.high < bar.limit : value.low > bar.limit;
}

std::string bar_text(const Figure& figure) {
  if (!figure.bar) return "-";
  const std::string_view sign = figure.bar->wanted == Bar::Wanted::kAtLeast ? ">=" : "<=";
  if (figure.bar->of == Bar::Of::kRatio)
    return fmt::format("{} {} x", sign, number(figure.bar->limit));
  return fmt::format("{} {} {}", sign, number(figure.bar->limit), figure.unit);
}

std::string_view verdict(const Figure& figure, const Summary& summary) {
  if (!figure.bar) return "-";
  return summary.is_missed ? "missed" : "met";
}

std::string columns(std::string_view name, std::string_view unit, std::string_view leat,
                    std::string_view peer, std::string_view ratio, std::string_view bar,
                    std::string_view verdict) {
  return fmt::format("{:<30} {:<12} {:>30} {:>30} {:>22} {:>18} {:>7}", name, unit, leat, peer,
                     ratio, bar, verdict);
}

nlohmann::json json_of(const std::optional<MedianInterval>& value) {
  if (!value) return nullptr;
  return {{"median", value->median}, {"low", value->low}, {"high", value->high}};
}

}  // namespace

MedianInterval median_interval(std::vector<double> values) {
  CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t outside = values_outside(values.size());
  return {median_of_sorted(values), values[outside], values[values.size() - 1 - outside]};
}

Summary summarise(const Figure& figure) {
  std::vector<double> leat;
  std::vector<double> peer;
  std::vector<double> ratio;
  for (const Pair& pair : figure.pairs) {
    leat.push_back(pair.leat);
    if (!pair.peer) continue;
    peer.push_back(*pair.peer);
    ratio.push_back(pair.leat / *pair.peer);
  }
  CHECK(peer.empty() || peer.size() == leat.size());
  Summary summary;
  summary.leat = median_interval(std::move(leat));
  if (!peer.empty()) {
    summary.peer = median_interval(std::move(peer));
    summary.ratio = median_interval(std::move(ratio));
  }
  if (!figure.bar) return summary;
  const bool is_of_ratio = figure.bar->of == Bar::Of::kRatio;
  CHECK(!is_of_ratio || summary.ratio);
  summary.is_missed = is_beyond(is_of_ratio ? *summary.ratio : summary.leat, *figure.bar);
  return summary;
}

Result<std::vector<Pair>> interleave(std::size_t pairs, const Measurement& leat,
                                     const Measurement& peer) {
  std::vector<Pair> measured;
  for (std::size_t i = 0; i < pairs; ++i) {
    Pair pair;
    if (i % 2 == 0) {
      ASSIGN_OR_RETURN(pair.peer, peer());
      ASSIGN_OR_RETURN(pair.leat, leat());
    } else {
      ASSIGN_OR_RETURN(pair.leat, leat());
      ASSIGN_OR_RETURN(pair.peer, peer());
    }
    measured.push_back(pair);
  }
  return measured;
}

Result<std::vector<Pair>> repeat(std::size_t times, const Measurement& leat) {
  std::vector<Pair> measured;
  for (std::size_t i = 0; i < times; ++i) {
    ASSIGN_OR_RETURN(const double value, leat());
    measured.push_back({value, std::nullopt});
  }
  return measured;
}

std::string text_heading() {
  return columns("figure", "unit", "Leat", "peer", "Leat / peer", "bar", "");
}

std::string text_line(const Figure& figure) {
  const Summary summary = summarise(figure);
  return columns(figure.name, figure.unit, interval(summary.leat),
                 summary.peer ? interval(*summary.peer) : "-",
                 summary.ratio ? interval(*summary.ratio) : "-", bar_text(figure),
                 verdict(figure, summary));
}

std::string json_line(const Figure& figure) {
  const Summary summary = summarise(figure);
  nlohmann::json json = {{"name", figure.name},
                         {"unit", figure.unit},
                         {"leat", json_of(summary.leat)},
                         {"peer", json_of(summary.peer)},
                         {"ratio", json_of(summary.ratio)},
                         {"bar", bar_text(figure)},
                         {"verdict", verdict(figure, summary)},
                         {"peer_is", figure.peer},
                         {"pairs", nlohmann::json::array()}};
  for (const Pair& pair : figure.pairs) {
    nlohmann::json item = {{"leat", pair.leat}};
    if (pair.peer) item["peer"] = *pair.peer;
    json["pairs"].push_back(std::move(item));
  }
  return json.dump();
}

Status Report::add(const Figure& figure) {
  if (!has_heading_) fmt::print("{}\n", text_heading());
  has_heading_ = true;
  fmt::print("{}\n", text_line(figure));
  std::fflush(stdout);
  if (json_file_.empty()) return ok_status();
  std::ofstream file(json_file_, std::ios::app);
  file << json_line(figure) << '\n';
  file.flush();
  if (!file) return Error(ErrorCode::kIoError, fmt::format("cannot write {}", json_file_));
  return ok_status();
}

}  // namespace leat::bench
