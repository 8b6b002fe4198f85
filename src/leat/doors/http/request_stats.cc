#include "leat/doors/http/request_stats.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <thread>

#include "leat/base/metrics.h"

namespace leat::doors::http {
namespace {

std::string labels_of(const RequestStats::Summary& summary) {
  return fmt::format("api=\"{}\",operation=\"{}\"", summary.api, summary.name);
}

void append_family(std::string& text, std::string_view name, std::string_view type,
                   std::string_view help) {
  text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

// The fine buckets, added up into those that Prometheus is told.
void append_latency(std::string& text, const RequestStats::Summary& summary) {
  constexpr std::string_view kName = "leat_http_request_seconds";
  const MetricScale& scale = MetricScale::seconds();
  const std::string labels = labels_of(summary);
  const auto buckets = summary.latency_ns.buckets();
  std::size_t next = 0;
  std::uint64_t below = 0;
  for (const std::uint64_t bound : scale.bounds) {
    for (; next < buckets.size() && buckets[next].highest <= bound; ++next) {
      below += buckets[next].count;
    }
    text += fmt::format("{}_bucket{{{},le=\"{}\"}} {}\n", kName, labels,
                        static_cast<double>(bound) / scale.divisor, below);
  }
  text +=
      fmt::format("{}_bucket{{{},le=\"+Inf\"}} {}\n", kName, labels, summary.latency_ns.count());
  text += fmt::format("{}_sum{{{}}} {}\n", kName, labels, summary.latency_ns.sum() / scale.divisor);
  text += fmt::format("{}_count{{{}}} {}\n", kName, labels, summary.latency_ns.count());
}

}  // namespace

RequestStats::Operation::~Operation() {
  for (Part& part : parts_) delete part.latency.load();
}

RequestStats::Operation::Part& RequestStats::Operation::part_of_thread(
    std::array<Part, kParts>& parts) noexcept {
  const std::size_t id = std::hash<std::thread::id>{}(std::this_thread::get_id());
  return parts[(id * 0x9e3779b97f4a7c15) >> 61];
}

void RequestStats::Operation::record(int status, std::uint64_t bytes,
                                     std::chrono::nanoseconds duration) noexcept {
  static_assert(kParts == 8, "three bits of a hash");
  Part& part = part_of_thread(parts_);
  const auto status_class = static_cast<std::size_t>(status / 100);
  part.by_class[status_class < kClasses ? status_class : 0].fetch_add(1, std::memory_order_relaxed);
  part.bytes.fetch_add(bytes, std::memory_order_relaxed);
  ConcurrentHistogram* latency = part.latency.load(std::memory_order_acquire);
  if (latency == nullptr) {
    auto made = std::make_unique<ConcurrentHistogram>();
    if (part.latency.compare_exchange_strong(latency, made.get(), std::memory_order_acq_rel)) {
      latency = made.release();
    }
  }
  latency->record(duration);
}

RequestStats::Operation& RequestStats::operation(std::string_view api, std::string_view name) {
  const MutexLock lock(mutex_);
  for (Operation& known : operations_) {
    if (known.api_ == api && known.name_ == name) return known;
  }
  return operations_.emplace_back(std::string(api), std::string(name));
}

RequestStats::Summary RequestStats::summary_of(const Operation& operation) {
  Summary summary;
  summary.api = operation.api_;
  summary.name = operation.name_;
  summary.in_progress = operation.in_progress_.load(std::memory_order_relaxed);
  for (const Operation::Part& part : operation.parts_) {
    for (std::size_t i = 0; i < part.by_class.size(); ++i) {
      const std::uint64_t count = part.by_class[i].load(std::memory_order_relaxed);
      summary.count += count;
      if (i == 0 || i == 4) summary.client_errors += count;
      if (i == 5) summary.server_errors += count;
    }
    summary.bytes += part.bytes.load(std::memory_order_relaxed);
    if (const auto* latency = part.latency.load(std::memory_order_acquire)) {
      summary.latency_ns.merge(latency->snapshot());
    }
  }
  return summary;
}

std::vector<RequestStats::Summary> RequestStats::summaries() const {
  std::vector<Summary> all;
  const MutexLock lock(mutex_);
  for (const Operation& operation : operations_) {
    Summary summary = summary_of(operation);
    if (summary.count + summary.in_progress > 0) all.push_back(std::move(summary));
  }
  return all;
}

std::string RequestStats::prometheus_text() const {
  const auto all = summaries();
  std::string text;
  append_family(text, "leat_http_requests_total", "counter", "Requests by how they ended.");
  for (const Summary& summary : all) {
    const std::string labels = labels_of(summary);
    const std::uint64_t good = summary.count - summary.client_errors - summary.server_errors;
    text += fmt::format("leat_http_requests_total{{{},result=\"ok\"}} {}\n", labels, good);
    text += fmt::format("leat_http_requests_total{{{},result=\"client_error\"}} {}\n", labels,
                        summary.client_errors);
    text += fmt::format("leat_http_requests_total{{{},result=\"server_error\"}} {}\n", labels,
                        summary.server_errors);
  }
  append_family(text, "leat_http_bytes_total", "counter", "Bytes of bodies, both ways.");
  for (const Summary& summary : all) {
    text += fmt::format("leat_http_bytes_total{{{}}} {}\n", labels_of(summary), summary.bytes);
  }
  append_family(text, "leat_http_requests_in_progress", "gauge", "Requests that are worked on.");
  for (const Summary& summary : all) {
    text += fmt::format("leat_http_requests_in_progress{{{}}} {}\n", labels_of(summary),
                        summary.in_progress);
  }
  append_family(text, "leat_http_request_seconds", "histogram",
                "From the head of a request to the end of its answer.");
  for (const Summary& summary : all) append_latency(text, summary);
  return text;
}

}  // namespace leat::doors::http
