#include "leat/base/metrics.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace leat {
namespace {

using namespace std::chrono_literals;

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Metrics, ExposesCountersAndGauges) {
  MetricsRegistry registry;
  registry.counter("leat_reads_total", "Reads.", {{"bucket", "b"}, {"at", "a"}}).add(3);
  registry.counter("leat_reads_total", "Reads.", {{"bucket", "c"}}).add();
  registry.gauge("leat_cached_bytes", "Cached.").set(-5);
  registry.gauge("leat_cached_bytes", "Cached.").add(2);
  EXPECT_EQ(registry.prometheus_text(),
            "# HELP leat_cached_bytes Cached.\n"
            "# TYPE leat_cached_bytes gauge\n"
            "leat_cached_bytes -3\n"
            "# HELP leat_reads_total Reads.\n"
            "# TYPE leat_reads_total counter\n"
            "leat_reads_total{at=\"a\",bucket=\"b\"} 3\n"
            "leat_reads_total{bucket=\"c\"} 1\n");
}

TEST(Metrics, TheSameNameAndLabelsAreTheSameMetric) {
  MetricsRegistry registry;
  Counter& first = registry.counter("a_total", "A.", {{"x", "1"}});
  for (int i = 0; i < 100; ++i) registry.counter("a_total", "A.", {{"x", std::to_string(i)}});
  EXPECT_EQ(&registry.counter("a_total", "A.", {{"x", "1"}}), &first);
  EXPECT_NE(&registry.counter("a_total", "A.", {{"x", "2"}}), &first);
}

TEST(Metrics, Escapes) {
  MetricsRegistry registry;
  registry.counter("a_total", "one \\ two\nthree \"four\"", {{"path", "a\\b\"c\nd\xFF"}});
  EXPECT_EQ(registry.prometheus_text(),
            "# HELP a_total one \\\\ two\\nthree \"four\"\n"
            "# TYPE a_total counter\n"
            "a_total{path=\"a\\\\b\\\"c\\nd\uFFFD\"} 0\n");
}

TEST(Metrics, HistogramBucketsAreCumulativeAndInclusive) {
  MetricsRegistry registry;
  MetricHistogram& seconds =
      registry.histogram("leat_read_seconds", "Time.", MetricScale::seconds(), {{"op", "get"}});
  seconds.record(1us);
  seconds.record(1us + 1ns);
  seconds.record(1s);
  seconds.record(2min);
  seconds.record(-1s);
  const std::string text = registry.prometheus_text();
  EXPECT_TRUE(has_line(text, "# TYPE leat_read_seconds histogram"));
  EXPECT_TRUE(has_line(text, "leat_read_seconds_bucket{op=\"get\",le=\"1e-06\"} 2"));
  EXPECT_TRUE(has_line(text, "leat_read_seconds_bucket{op=\"get\",le=\"2.5e-06\"} 3"));
  EXPECT_TRUE(has_line(text, "leat_read_seconds_bucket{op=\"get\",le=\"0.5\"} 3"));
  EXPECT_TRUE(has_line(text, "leat_read_seconds_bucket{op=\"get\",le=\"1\"} 4"));
  EXPECT_TRUE(has_line(text, "leat_read_seconds_bucket{op=\"get\",le=\"60\"} 4"));
  EXPECT_TRUE(has_line(text, "leat_read_seconds_bucket{op=\"get\",le=\"+Inf\"} 5"));
  EXPECT_TRUE(has_line(text, "leat_read_seconds_count{op=\"get\"} 5"));
  EXPECT_TRUE(has_line(text, "leat_read_seconds_sum{op=\"get\"} 121.000002001")) << text;
}

TEST(Metrics, HistogramOfBytesHasWholeBounds) {
  MetricsRegistry registry;
  registry.histogram("leat_object_bytes", "Sizes.", MetricScale::bytes()).record(4096);
  const std::string text = registry.prometheus_text();
  EXPECT_TRUE(has_line(text, "leat_object_bytes_bucket{le=\"1024\"} 0"));
  EXPECT_TRUE(has_line(text, "leat_object_bytes_bucket{le=\"4096\"} 1"));
  EXPECT_TRUE(has_line(text, "leat_object_bytes_bucket{le=\"4294967296\"} 1"));
  EXPECT_TRUE(has_line(text, "leat_object_bytes_sum 4096"));
  EXPECT_TRUE(has_line(text, "leat_object_bytes_count 1"));
}

TEST(Metrics, CountsFromManyThreads) {
  MetricsRegistry registry;
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&registry] {
        Counter& counter = registry.counter("a_total", "A.");
        MetricHistogram& sizes = registry.histogram("b_bytes", "B.", MetricScale::bytes());
        for (int i = 0; i < kRounds; ++i) {
          counter.add();
          sizes.record(std::uint64_t{1});
          EXPECT_TRUE(i % 500 != 0 || !registry.prometheus_text().empty());
        }
      });
    }
  }
  const std::string text = registry.prometheus_text();
  EXPECT_TRUE(has_line(text, "a_total 8000"));
  EXPECT_TRUE(has_line(text, "b_bytes_count 8000"));
}

TEST(MetricsDeathTest, WrongNamesAreBugs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  MetricsRegistry registry;
  registry.counter("a_total", "A.");
  EXPECT_DEATH(registry.gauge("a_total", "A."), "type");
  EXPECT_DEATH(registry.counter("9lives", "A."), "is_name");
  EXPECT_DEATH(registry.counter("b_total", "A.", {{"le", "x"}}), "le");
}

}  // namespace
}  // namespace leat
