// health, stats, metrics and openapi.json.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "leat/base/metrics.h"
#include "leat/doors/http/native/openapi.h"
#include "leat/doors/http/native/operation.h"

namespace leat::doors::http::native {
namespace {

enum class Histograms : std::uint8_t { kLeaveOut, kShow };

// As [[up to, count], …], with a quarter of a histogram's buckets: enough for a plot. Whoever takes
// the difference of two has the latencies of the time between.
std::string histogram_json(const Histogram& histogram) {
  constexpr std::uint64_t kWidth = 4;  // fine buckets in one
  std::string text = "[";
  std::optional<std::uint64_t> highest;
  std::uint64_t count = 0;
  const auto end_bucket = [&] {
    if (highest) text += fmt::format("{}[{},{}]", text.size() > 1 ? "," : "", *highest, count);
    count = 0;
  };
  for (const Histogram::Bucket& fine : histogram.buckets()) {
    const std::size_t last = Histogram::bucket_of(fine.lowest) | (kWidth - 1);
    if (highest != Histogram::highest_of(last)) {
      end_bucket();
      highest = Histogram::highest_of(last);
    }
    count += fine.count;
  }
  end_bucket();
  return text + "]";
}

std::string operations_json(const RequestStats& stats, Histograms histograms) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kPercentiles{
      {{"p50", 50}, {"p90", 90}, {"p95", 95}, {"p99", 99}, {"p99.9", 99.9}}};
  std::string text = "[";
  std::string_view separator = "\n";
  for (const RequestStats::Summary& summary : stats.summaries()) {
    text += fmt::format(
        "{}{{\"api\":\"{}\",\"operation\":\"{}\",\"count\":{},\"bytes\":{},"
        "\"client_errors\":{},\"server_errors\":{},\"in_progress\":{},"
        "\"latency_ns\":{{\"mean\":{:.0f}",
        separator, summary.api, summary.name, summary.count, summary.bytes, summary.client_errors,
        summary.server_errors, summary.in_progress, summary.latency_ns.mean());
    for (const auto& [name, percent] : kPercentiles) {
      text += fmt::format(",\"{}\":{}", name, summary.latency_ns.percentile(percent));
    }
    text += fmt::format(",\"max\":{}", summary.latency_ns.max());
    if (histograms == Histograms::kShow) {
      text += ",\"histogram\":" + histogram_json(summary.latency_ns);
    }
    text += "}}";
    separator = ",\n";
  }
  return text + "]";
}

std::string drives_json(const std::vector<local::DriveInfo>& drives) {
  std::string text = "[";
  std::string_view separator = "\n";
  for (const local::DriveInfo& drive : drives) {
    text += fmt::format(
        "{}{{\"id\":\"{}\",\"directory\":\"{}\",\"missing\":{},\"draining\":{},\"objects\":{},"
        "\"pack_bytes\":{},\"dead_bytes\":{},\"total_bytes\":{},\"available_bytes\":{}}}",
        separator, drive.id, json_text(drive.directory), drive.is_missing, drive.is_draining,
        drive.usage.objects, drive.usage.pack_bytes, drive.usage.dead_bytes,
        drive.space.total_bytes, drive.space.available_bytes);
    separator = ",\n";
  }
  return text + "]";
}

// What the last round of the scrub found. There may be a great deal: the first are named.
std::string scrub_json(const local::ScrubStatus& scrub) {
  constexpr std::size_t kMostNames = 20;
  const auto& damaged = scrub.last.damaged;
  std::string text = fmt::format(
      "{{\"rounds\":{},\"ended_ns\":{},\"objects\":{},\"bytes\":{},\"damaged_count\":{},"
      "\"damaged\":[",
      scrub.rounds, scrub.ended_ns, scrub.last.objects, scrub.last.bytes, damaged.size());
  for (std::size_t i = 0; i < std::min(damaged.size(), kMostNames); ++i) {
    text +=
        fmt::format("{}{{\"name\":\"{}\",\"what\":\"{}\",\"repaired\":{}}}", i > 0 ? "," : "",
                    json_text(damaged[i].name), json_text(damaged[i].what), damaged[i].repaired);
  }
  return text + "]}";
}

class StatusOperation final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    switch (request_.route.row->route) {
      case Route::kHealth:
        return health();
      case Route::kOpenApi:
        return json_answer(std::string(openapi_document()));
      case Route::kMetrics:
        return metrics();
      default:
        return stats(context);
    }
  }

 private:
  Result<Answer> health() const {
    if (!services_.is_draining.load()) return json_answer("{\"status\":\"ok\"}\n");
    Answer answer = json_answer("{\"status\":\"draining\"}\n");
    answer.status = 503;
    return answer;
  }

  Server::Counts server_counts() const {
    std::function<Server::Counts()> counts;
    {
      const MutexLock lock(services_.mutex);
      counts = services_.server_counts;
    }
    return counts ? counts() : Server::Counts();
  }

  Result<Answer> stats(const Context& context) const {
    ASSIGN_OR_RETURN(const auto buckets, services_.buckets->list(context));
    ASSIGN_OR_RETURN(const auto drives, services_.buckets->store()->drives());
    std::string bucket_names;
    for (const local::BucketInfo& info : buckets) {
      if (!allows(Right::kRead, info.name, "")) continue;
      bucket_names += fmt::format("{}\"{}\"", bucket_names.empty() ? "" : ",", info.name);
    }
    const Server::Counts counts = server_counts();
    const auto histograms =
        request_.query.find("histograms") == "1" ? Histograms::kShow : Histograms::kLeaveOut;
    const auto uptime = services_.clock->now() - services_.started;
    return json_answer(fmt::format(
        "{{\"uptime_ns\":{},\"draining\":{},\n"
        "\"connections\":{{\"open\":{},\"accepted\":{},\"refused\":{}}},\"requests\":{},\n"
        "\"pool\":{{\"requests\":{},\"threads\":{}}},\n"
        "\"buckets\":[{}],\n\"drives\":{},\n\"scrub\":{},\n\"operations\":{}}}\n",
        uptime.count(), services_.is_draining.load(), counts.connections, counts.accepted,
        counts.refused, counts.requests, counts.in_pool, counts.pool_threads, bucket_names,
        drives_json(drives), scrub_json(services_.buckets->store()->scrub_status()),
        operations_json(*services_.stats, histograms)));
  }

  Result<Answer> metrics() const {
    // What others count is copied into a registry for the form of it.
    MetricsRegistry registry;
    const Server::Counts counts = server_counts();
    registry.gauge("leat_http_connections", "Connections that are open.")
        .set(static_cast<std::int64_t>(counts.connections));
    registry.counter("leat_http_accepted_total", "Connections that were accepted.")
        .add(counts.accepted);
    registry.counter("leat_http_refused_total", "Connections beyond the limit.")
        .add(counts.refused);
    registry.gauge("leat_http_pool_requests", "Requests that wait for the pool or are in it.")
        .set(static_cast<std::int64_t>(counts.in_pool));
    registry.gauge("leat_http_pool_threads", "Threads of the pool.")
        .set(static_cast<std::int64_t>(counts.pool_threads));
    ASSIGN_OR_RETURN(const auto drives, services_.buckets->store()->drives());
    for (const local::DriveInfo& drive : drives) {
      const MetricsRegistry::Labels labels{{"drive", drive.id}};
      const auto set = [&](std::string_view name, std::string_view help, std::uint64_t value) {
        registry.gauge(name, help, labels).set(static_cast<std::int64_t>(value));
      };
      set("leat_drive_up", "Whether the drive is there.", drive.is_missing ? 0 : 1);
      set("leat_drive_objects", "Objects on the drive.", drive.usage.objects);
      set("leat_drive_pack_bytes", "Bytes of packs.", drive.usage.pack_bytes);
      set("leat_drive_dead_bytes", "Bytes of packs that nothing refers to.",
          drive.usage.dead_bytes);
      set("leat_drive_size_bytes", "Size of the drive.", drive.space.total_bytes);
      set("leat_drive_available_bytes", "Free bytes of the drive.", drive.space.available_bytes);
    }
    Answer answer;
    answer.headers = fmt::format("Content-Type: {}\r\n", MetricsRegistry::kContentType);
    answer.body = registry.prometheus_text() + services_.stats->prometheus_text();
    return answer;
  }
};

}  // namespace

std::unique_ptr<Exchange> make_status(NativeRequest request, Services& services) {
  return std::make_unique<StatusOperation>(std::move(request), services);
}

}  // namespace leat::doors::http::native
