#include "leat/cli/top_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "leat/base/units.h"

namespace leat::cli {
namespace {

StatsSample::Operation operation_of(const Json& json) {
  StatsSample::Operation operation;
  operation.api = json.at("api");
  operation.name = json.at("operation");
  operation.count = json.at("count");
  operation.bytes = json.at("bytes");
  operation.errors =
      json.at("client_errors").get<std::uint64_t>() + json.at("server_errors").get<std::uint64_t>();
  operation.in_progress = json.at("in_progress");
  for (const Json& bucket : json.at("latency_ns").at("histogram")) {
    operation.latencies[bucket.at(0)] = bucket.at(1);
  }
  return operation;
}

StatsSample::Drive drive_of(const Json& json) {
  StatsSample::Drive drive;
  drive.id = json.at("id");
  drive.directory = json.at("directory");
  drive.is_missing = json.at("missing");
  drive.is_draining = json.at("draining");
  drive.objects = json.at("objects");
  drive.total_bytes = json.at("total_bytes");
  drive.available_bytes = json.at("available_bytes");
  return drive;
}

Rates rates_of(const StatsSample::Operation& now, const StatsSample::Operation& before,
               double seconds) {
  const auto rate = [&](std::uint64_t later, std::uint64_t earlier) {
    return later < earlier ? 0 : static_cast<double>(later - earlier) / seconds;
  };
  Rates rates;
  rates.api = now.api;
  rates.name = now.name;
  rates.requests_per_second = rate(now.count, before.count);
  rates.bytes_per_second = rate(now.bytes, before.bytes);
  rates.errors_per_second = rate(now.errors, before.errors);
  rates.in_progress = now.in_progress;
  rates.count = now.count;
  rates.errors = now.errors;
  for (const auto& [highest, count] : now.latencies) {
    const auto earlier = before.latencies.find(highest);
    const std::uint64_t known = earlier == before.latencies.end() ? 0 : earlier->second;
    if (count > known) rates.latencies[highest] = count - known;
  }
  return rates;
}

void add(Rates& total, const Rates& rates) {
  total.requests_per_second += rates.requests_per_second;
  total.bytes_per_second += rates.bytes_per_second;
  total.errors_per_second += rates.errors_per_second;
  total.in_progress += rates.in_progress;
  total.count += rates.count;
  total.errors += rates.errors;
  for (const auto& [highest, count] : rates.latencies) total.latencies[highest] += count;
}

Json json_of(const Rates& rates) {
  const auto percentile = [&](double percent) {
    const auto value = rates.percentile_ns(percent);
    return value ? Json(*value) : Json();
  };
  return {{"requests_per_second", rates.requests_per_second},
          {"bytes_per_second", rates.bytes_per_second},
          {"errors_per_second", rates.errors_per_second},
          {"p50_ns", percentile(50)},
          {"p99_ns", percentile(99)},
          {"in_progress", rates.in_progress},
          {"count", rates.count},
          {"errors", rates.errors}};
}

std::string rate_text(double per_second) {
  return per_second > 0 && per_second < 10 ? fmt::format("{:.1f}", per_second)
                                           : fmt::format("{:.0f}", per_second);
}

std::string bytes_text(double per_second) {
  return format_size_rounded(static_cast<std::uint64_t>(per_second)) + "/s";
}

std::string latency_text(const Rates& rates, double percent) {
  const auto value = rates.percentile_ns(percent);
  if (!value) return "-";
  return format_duration_rounded(std::chrono::nanoseconds(static_cast<std::int64_t>(*value)));
}

std::string_view state_of(const StatsSample::Drive& drive) {
  if (drive.is_missing) return "missing";
  return drive.is_draining ? "being emptied" : "in use";
}

std::vector<std::vector<std::string>> operation_rows(const Figures& figures) {
  std::vector<std::vector<std::string>> rows = {
      {"operation", "api", "requests/s", "bytes/s", "p50", "p99", "failed", "total"}};
  for (const Rates& rates : figures.operations) {
    rows.push_back({printable(rates.name), printable(rates.api),
                    rate_text(rates.requests_per_second), bytes_text(rates.bytes_per_second),
                    latency_text(rates, 50), latency_text(rates, 99), std::to_string(rates.errors),
                    std::to_string(rates.count)});
  }
  return rows;
}

std::vector<std::vector<std::string>> drive_rows(const StatsSample& sample) {
  std::vector<std::vector<std::string>> rows = {{"drive", "state", "free", "size", "objects"}};
  for (const StatsSample::Drive& drive : sample.drives) {
    rows.push_back({printable(drive.directory.empty() ? drive.id : drive.directory),
                    std::string(state_of(drive)), format_size_rounded(drive.available_bytes),
                    format_size_rounded(drive.total_bytes), std::to_string(drive.objects)});
  }
  return rows;
}

}  // namespace

Result<StatsSample> StatsSample::parse(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    StatsSample sample;
    sample.uptime_ns = json.at("uptime_ns");
    sample.connections = json.at("connections").at("open");
    sample.refused = json.at("connections").at("refused");
    sample.scrub_rounds = json.at("scrub").at("rounds");
    sample.damaged_objects = json.at("scrub").at("damaged_count");
    for (const Json& one : json.at("operations")) sample.operations.push_back(operation_of(one));
    for (const Json& one : json.at("drives")) sample.drives.push_back(drive_of(one));
    return sample;
  } catch (const Json::exception&) {
    return Error(ErrorCode::kInvalidArgument, "its answer is not that of a Leat server");
  }
}

std::optional<std::uint64_t> Rates::percentile_ns(double percent) const {
  std::uint64_t total = 0;
  for (const auto& [highest, found] : latencies) total += found;
  if (total == 0) return std::nullopt;
  const auto rank =
      static_cast<std::uint64_t>(std::ceil(static_cast<double>(total) * percent / 100));
  std::uint64_t below = 0;
  for (const auto& [highest, found] : latencies) {
    below += found;
    if (below >= rank) return highest;
  }
  return latencies.rbegin()->first;
}

std::optional<Figures> Figures::between(const StatsSample& before, StatsSample after) {
  if (after.uptime_ns <= before.uptime_ns) return std::nullopt;
  Figures figures;
  figures.seconds = static_cast<double>(after.uptime_ns - before.uptime_ns) / 1e9;
  for (const StatsSample::Operation& now : after.operations) {
    const auto earlier = std::find_if(
        before.operations.begin(), before.operations.end(),
        [&](const auto& known) { return known.api == now.api && known.name == now.name; });
    figures.operations.push_back(
        rates_of(now, earlier == before.operations.end() ? StatsSample::Operation() : *earlier,
                 figures.seconds));
    const bool is_this_question = now.api == "native" && now.name == "stats";
    if (!is_this_question) add(figures.total, figures.operations.back());
  }
  std::stable_sort(figures.operations.begin(), figures.operations.end(),
                   [](const Rates& a, const Rates& b) { return a.count > b.count; });
  figures.now = std::move(after);
  return figures;
}

Json to_json(const Figures& figures) {
  const StatsSample& now = figures.now;
  Json operations = Json::array();
  for (const Rates& rates : figures.operations) {
    Json one = {{"api", rates.api}, {"operation", rates.name}};
    one.update(json_of(rates));
    operations.push_back(std::move(one));
  }
  Json drives = Json::array();
  for (const StatsSample::Drive& drive : now.drives) {
    drives.push_back({{"id", drive.id},
                      {"directory", drive.directory},
                      {"state", state_of(drive)},
                      {"objects", drive.objects},
                      {"total_bytes", drive.total_bytes},
                      {"available_bytes", drive.available_bytes}});
  }
  return {{"seconds", figures.seconds},
          {"uptime_seconds", static_cast<double>(now.uptime_ns) / 1e9},
          {"connections", now.connections},
          {"refused", now.refused},
          {"scrub_rounds", now.scrub_rounds},
          {"damaged_objects", now.damaged_objects},
          {"total", json_of(figures.total)},
          {"operations", std::move(operations)},
          {"drives", std::move(drives)}};
}

std::vector<std::string> to_lines(const Figures& figures) {
  const StatsSample& now = figures.now;
  const Rates& total = figures.total;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{} requests/s   {}   p50 {}   p99 {}   {} errors/s",
                              rate_text(total.requests_per_second),
                              bytes_text(total.bytes_per_second), latency_text(total, 50),
                              latency_text(total, 99), rate_text(total.errors_per_second)));
  lines.push_back(fmt::format(
      "{}, {} refused   {} in progress   {} of the scrub, {} damaged   up {}",
      counted(now.connections, "connection"), now.refused, counted(total.in_progress, "request"),
      counted(now.scrub_rounds, "round"), now.damaged_objects,
      format_duration_rounded(std::chrono::nanoseconds(static_cast<std::int64_t>(now.uptime_ns)))));
  lines.emplace_back();
  for (std::string& line : aligned(operation_rows(figures), "234567")) {
    lines.push_back(std::move(line));
  }
  lines.emplace_back();
  for (std::string& line : aligned(drive_rows(now), "234")) lines.push_back(std::move(line));
  return lines;
}

}  // namespace leat::cli
