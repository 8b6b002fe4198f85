// health, stats, metrics and openapi.json.
#include <fmt/format.h>

#include <array>

#include "leat/base/metrics.h"
#include "leat/doors/http/native/openapi.h"
#include "leat/doors/http/native/operation.h"

namespace leat::doors::http::native {
namespace {

std::string operations_json(const RequestStats& stats) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kPercentiles{
      {{"p50", 50}, {"p90", 90}, {"p95", 95}, {"p99", 99}, {"p99.9", 99.9}}};
  std::string text = "[";
  std::string_view separator = "\n";
  for (const RequestStats::Summary& summary : stats.summaries()) {
    text += fmt::format(
        "{}{{\"api\":\"{}\",\"operation\":\"{}\",\"count\":{},\"bytes\":{},"
        "\"client_errors\":{},\"server_errors\":{},\"latency_ns\":{{\"mean\":{:.0f}",
        separator, summary.api, summary.name, summary.count, summary.bytes, summary.client_errors,
        summary.server_errors, summary.latency_ns.mean());
    for (const auto& [name, percent] : kPercentiles) {
      text += fmt::format(",\"{}\":{}", name, summary.latency_ns.percentile(percent));
    }
    text += fmt::format(",\"max\":{}}}}}", summary.latency_ns.max());
    separator = ",\n";
  }
  return text + "]";
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
    std::string drive_list;
    for (const local::DriveInfo& drive : drives) {
      drive_list += fmt::format(
          "{}\n{{\"id\":\"{}\",\"missing\":{},\"draining\":{},\"objects\":{},\"pack_bytes\":{},"
          "\"dead_bytes\":{},\"total_bytes\":{},\"available_bytes\":{}}}",
          drive_list.empty() ? "" : ",", drive.id, drive.is_missing, drive.is_draining,
          drive.usage.objects, drive.usage.pack_bytes, drive.usage.dead_bytes,
          drive.space.total_bytes, drive.space.available_bytes);
    }
    const Server::Counts counts = server_counts();
    return json_answer(fmt::format(
        "{{\"connections\":{{\"open\":{},\"accepted\":{},\"refused\":{}}},\"requests\":{},\n"
        "\"buckets\":[{}],\n\"drives\":[{}],\n\"operations\":{}}}\n",
        counts.connections, counts.accepted, counts.refused, counts.requests, bucket_names,
        drive_list, operations_json(*services_.stats)));
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
