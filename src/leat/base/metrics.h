// Metrics: numbers that a running system offers to Prometheus.
//
// A component asks a MetricsRegistry for its metrics once, keeps the references, and counts with
// one relaxed atomic operation. There is no global registry. Everything is safe for concurrent use;
// the references live as long as the registry. A name has one type, one help text and any number
// of label sets; asking again for the same gives the same metric. Conventions of Prometheus:
// names in snake_case with the base unit last (leat_read_seconds, leat_cached_bytes), counters end
// in _total. Labels take few values: never the name of an object.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "leat/base/mutex.h"

namespace leat {

// Only grows.
class Counter {
 public:
  void add(std::uint64_t amount = 1) noexcept {
    value_.fetch_add(amount, std::memory_order_relaxed);
  }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// Goes up and down.
class Gauge {
 public:
  void set(std::int64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void add(std::int64_t amount) noexcept { value_.fetch_add(amount, std::memory_order_relaxed); }
  std::int64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// Bounds of the buckets of a MetricHistogram: fixed, so that machines and versions can be added up.
struct MetricScale {
  static constexpr std::size_t kMaxBounds = 25;
  std::span<const std::uint64_t> bounds;  // ascending, inclusive
  double divisor = 1;                     // from recorded to exposed unit

  static const MetricScale& seconds();  // records nanoseconds; 1 us … 60 s in steps 1, 2.5, 5
  static const MetricScale& bytes();    // records bytes; 256 B … 4 GiB in powers of four
};

// A distribution in a few coarse buckets that Prometheus adds up over machines; for percentiles of
// one process to 1 %, see base/histogram.h.
class MetricHistogram {
 public:
  explicit MetricHistogram(const MetricScale& scale) : scale_(scale) {}

  void record(std::uint64_t value) noexcept;
  void record(std::chrono::nanoseconds duration) noexcept {
    record(duration.count() < 0 ? 0 : static_cast<std::uint64_t>(duration.count()));
  }

 private:
  friend class MetricsRegistry;
  const MetricScale& scale_;
  std::array<std::atomic<std::uint64_t>, MetricScale::kMaxBounds + 1> counts_{};
  std::atomic<std::uint64_t> sum_{0};
};

class MetricsRegistry {
 public:
  using Labels = std::map<std::string, std::string>;

  MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;
  ~MetricsRegistry();

  // Aborts (base/check.h) when `name` or a label is no name for Prometheus, or when `name` has
  // another type already: names are constants in code.
  Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels = {});
  MetricHistogram& histogram(std::string_view name, std::string_view help, const MetricScale& scale,
                             const Labels& labels = {});

  // Everything in Prometheus' text format, ordered by name and labels.
  std::string prometheus_text() const;
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  enum class Type : std::uint8_t { kCounter, kGauge, kHistogram };
  // One metric; the pointer that fits the type of its family is set.
  struct Series {
    std::unique_ptr<Counter> counter;
    std::unique_ptr<Gauge> gauge;
    std::unique_ptr<MetricHistogram> histogram;
  };
  struct Family {
    Type type = Type::kCounter;
    std::string help;
    std::map<std::string, Series> series;  // by the labels as they are exposed: a="b",c="d"
  };

  Series& series_of(std::string_view name, Type type, std::string_view help, const Labels& labels)
      REQUIRES(mutex_);
  static void append_series(std::string& text, const std::string& name, const std::string& labels,
                            const Series& series);
  static void append_histogram(std::string& text, const std::string& name,
                               const std::string& labels, const MetricHistogram& histogram);

  mutable Mutex mutex_;
  std::map<std::string, Family, std::less<>> families_ GUARDED_BY(mutex_);
};

}  // namespace leat
