// From what a server counted since it was started to what it does now: two answers of
// /leat/v1/stats, and the difference between them.
//
// Values and pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"
#include "leat/cli/output.h"

namespace leat::cli {

// Latencies by the highest value of their bucket, in nanoseconds.
using LatencyCounts = std::map<std::uint64_t, std::uint64_t>;

struct StatsSample {
  struct Operation {
    std::string api;
    std::string name;
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t errors = 0;
    std::uint64_t in_progress = 0;
    LatencyCounts latencies;
  };
  struct Drive {
    std::string id;
    std::string directory;
    bool is_missing = false;
    bool is_draining = false;
    std::uint64_t objects = 0;
    std::uint64_t total_bytes = 0;
    std::uint64_t available_bytes = 0;
  };
  std::uint64_t uptime_ns = 0;
  std::uint64_t connections = 0;
  std::uint64_t refused = 0;
  std::uint64_t scrub_rounds = 0;
  std::uint64_t damaged_objects = 0;
  std::vector<Operation> operations;
  std::vector<Drive> drives;

  // kInvalidArgument when that is not what a server of ours says.
  static Result<StatsSample> parse(std::string_view json);
};

struct Rates {
  std::string api;
  std::string name;
  double requests_per_second = 0;
  double bytes_per_second = 0;
  double errors_per_second = 0;
  std::uint64_t in_progress = 0;
  std::uint64_t count = 0;  // since the server was started, as the next
  std::uint64_t errors = 0;
  LatencyCounts latencies;

  // Nothing when there were no requests.
  std::optional<std::uint64_t> percentile_ns(double percent) const;
};

struct Figures {
  double seconds = 0;
  std::vector<Rates> operations;  // the most used first
  Rates total;                    // but for the questions that gave these figures
  StatsSample now;

  // Nothing when the server was started anew in between.
  static std::optional<Figures> between(const StatsSample& before, StatsSample after);
};

Json to_json(const Figures& figures);
// A line each, for people.
std::vector<std::string> to_lines(const Figures& figures);

}  // namespace leat::cli
