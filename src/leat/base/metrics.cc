#include "leat/base/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "leat/base/check.h"
#include "leat/base/utf8.h"

namespace leat {
namespace {

constexpr std::array<std::uint64_t, 25> kSecondsBounds = {
    1'000,          2'500,          5'000,           // 1 us
    10'000,         25'000,         50'000,          // 10 us
    100'000,        250'000,        500'000,         // 100 us
    1'000'000,      2'500'000,      5'000'000,       // 1 ms
    10'000'000,     25'000'000,     50'000'000,      // 10 ms
    100'000'000,    250'000'000,    500'000'000,     // 100 ms
    1'000'000'000,  2'500'000'000,  5'000'000'000,   // 1 s
    10'000'000'000, 25'000'000'000, 50'000'000'000,  // 10 s
    60'000'000'000,
};

constexpr std::array<std::uint64_t, 13> kBytesBounds = {
    1ull << 8,  1ull << 10, 1ull << 12, 1ull << 14, 1ull << 16, 1ull << 18, 1ull << 20,
    1ull << 22, 1ull << 24, 1ull << 26, 1ull << 28, 1ull << 30, 1ull << 32,
};

bool is_name(std::string_view name, std::string_view also_allowed) {
  const auto is_letter = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           also_allowed.find(c) != std::string_view::npos;
  };
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

enum class Quotes : std::uint8_t { kPlain, kEscaped };

void append_escaped(std::string& text, std::string_view value, Quotes quotes) {
  for (const char c : to_valid_utf8(value)) {
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\\' || (c == '"' && quotes == Quotes::kEscaped)) {
      text += '\\';
      text += c;
    } else {
      text += c;
    }
  }
}

std::string labels_text(const MetricsRegistry::Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    CHECK(is_name(name, "") && !name.starts_with("__") && name != "le");
    if (!text.empty()) text += ',';
    text += name;
    text += "=\"";
    append_escaped(text, value, Quotes::kEscaped);
    text += '"';
  }
  return text;
}

template <typename Number>
void append_sample(std::string& text, std::string_view name, std::string_view labels,
                   Number value) {
  text += name;
  if (!labels.empty()) fmt::format_to(std::back_inserter(text), "{{{}}}", labels);
  fmt::format_to(std::back_inserter(text), " {}\n", value);
}

}  // namespace

const MetricScale& MetricScale::seconds() {
  static constexpr MetricScale kScale{kSecondsBounds, 1e9};
  return kScale;
}

const MetricScale& MetricScale::bytes() {
  static constexpr MetricScale kScale{kBytesBounds, 1};
  return kScale;
}

void MetricHistogram::record(std::uint64_t value) noexcept {
  const auto bound = std::lower_bound(scale_.bounds.begin(), scale_.bounds.end(), value);
  const auto bucket = static_cast<std::size_t>(bound - scale_.bounds.begin());
  counts_[bucket].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

MetricsRegistry::MetricsRegistry() = default;
MetricsRegistry::~MetricsRegistry() = default;

Counter& MetricsRegistry::counter(std::string_view name, std::string_view help,
                                  const Labels& labels) {
  const MutexLock lock(mutex_);
  Series& series = series_of(name, Type::kCounter, help, labels);
  if (series.counter == nullptr) series.counter = std::make_unique<Counter>();
  return *series.counter;
}

Gauge& MetricsRegistry::gauge(std::string_view name, std::string_view help, const Labels& labels) {
  const MutexLock lock(mutex_);
  Series& series = series_of(name, Type::kGauge, help, labels);
  if (series.gauge == nullptr) series.gauge = std::make_unique<Gauge>();
  return *series.gauge;
}

MetricHistogram& MetricsRegistry::histogram(std::string_view name, std::string_view help,
                                            const MetricScale& scale, const Labels& labels) {
  CHECK(scale.bounds.size() <= MetricScale::kMaxBounds);
  const MutexLock lock(mutex_);
  Series& series = series_of(name, Type::kHistogram, help, labels);
  if (series.histogram == nullptr) series.histogram = std::make_unique<MetricHistogram>(scale);
  return *series.histogram;
}

MetricsRegistry::Series& MetricsRegistry::series_of(std::string_view name, Type type,
                                                    std::string_view help, const Labels& labels) {
  auto position = families_.find(name);
  if (position == families_.end()) {
    CHECK(is_name(name, ":"));
    position = families_.emplace(name, Family{type, std::string(help), {}}).first;
  }
  CHECK(position->second.type == type);
  return position->second.series[labels_text(labels)];
}

std::string MetricsRegistry::prometheus_text() const {
  constexpr std::array<std::string_view, 3> kTypeNames = {"counter", "gauge", "histogram"};
  std::string text;
  const MutexLock lock(mutex_);
  for (const auto& [name, family] : families_) {
    text += "# HELP " + name + " ";
    append_escaped(text, family.help, Quotes::kPlain);
    text += "\n# TYPE " + name + " ";
    text += kTypeNames[static_cast<std::size_t>(family.type)];
    text += '\n';
    for (const auto& [labels, series] : family.series) append_series(text, name, labels, series);
  }
  return text;
}

void MetricsRegistry::append_series(std::string& text, const std::string& name,
                                    const std::string& labels, const Series& series) {
  if (series.counter != nullptr) append_sample(text, name, labels, series.counter->value());
  if (series.gauge != nullptr) append_sample(text, name, labels, series.gauge->value());
  if (series.histogram != nullptr) append_histogram(text, name, labels, *series.histogram);
}

// The buckets are cumulative, and the count is the sum of what was read: the sample is consistent
// with itself even while others record.
void MetricsRegistry::append_histogram(std::string& text, const std::string& name,
                                       const std::string& labels,
                                       const MetricHistogram& histogram) {
  const MetricScale& scale = histogram.scale_;
  const std::string prefix = labels.empty() ? "le=" : labels + ",le=";
  std::uint64_t count = 0;
  for (std::size_t i = 0; i <= scale.bounds.size(); ++i) {
    count += histogram.counts_[i].load(std::memory_order_relaxed);
    const std::string bound =
        i == scale.bounds.size()
            ? "+Inf"
            : fmt::format("{:.10g}", static_cast<double>(scale.bounds[i]) / scale.divisor);
    append_sample(text, name + "_bucket", fmt::format("{}\"{}\"", prefix, bound), count);
  }
  const auto sum = static_cast<double>(histogram.sum_.load(std::memory_order_relaxed));
  append_sample(text, name + "_sum", labels, sum / scale.divisor);
  append_sample(text, name + "_count", labels, count);
}

}  // namespace leat
