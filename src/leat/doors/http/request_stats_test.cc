#include "leat/doors/http/request_stats.h"

#include <gtest/gtest.h>

#include <thread>

namespace leat::doors::http {
namespace {

using std::chrono::microseconds;

TEST(RequestStats, AddsUpWhatThreadsRecord) {
  RequestStats stats;
  RequestStats::Operation& get = stats.operation("s3", "GetObject");
  EXPECT_EQ(&stats.operation("s3", "GetObject"), &get);
  (void)stats.operation("s3", "PutObject");  // never used, never told
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 8; ++number) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) get.record(i % 10 == 0 ? 404 : 200, 3, microseconds(100));
      });
    }
  }
  get.record(503, 0, microseconds(1));
  get.record(0, 0, microseconds(1));
  const auto all = stats.summaries();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].api, "s3");
  EXPECT_EQ(all[0].name, "GetObject");
  EXPECT_EQ(all[0].count, 8002u);
  EXPECT_EQ(all[0].client_errors, 801u);
  EXPECT_EQ(all[0].server_errors, 1u);
  EXPECT_EQ(all[0].bytes, 24'000u);
  EXPECT_EQ(all[0].latency_ns.count(), 8002u);
  EXPECT_NEAR(static_cast<double>(all[0].latency_ns.percentile(50)), 100e3, 1e3);
}

TEST(RequestStats, SpeaksToPrometheus) {
  RequestStats stats;
  EXPECT_EQ(stats.prometheus_text().find('{'), std::string::npos);
  stats.operation("native", "batch").record(200, 1000, microseconds(20));
  const std::string text = stats.prometheus_text();
  const auto has = [&](std::string_view line) { return text.find(line) != std::string::npos; };
  const std::string labels = "api=\"native\",operation=\"batch\"";
  EXPECT_TRUE(has("leat_http_requests_total{" + labels + ",result=\"ok\"} 1\n")) << text;
  EXPECT_TRUE(has("leat_http_bytes_total{" + labels + "} 1000\n"));
  EXPECT_TRUE(has("leat_http_request_seconds_bucket{" + labels + ",le=\"1e-05\"} 0\n")) << text;
  EXPECT_TRUE(has("leat_http_request_seconds_bucket{" + labels + ",le=\"2.5e-05\"} 1\n"));
  EXPECT_TRUE(has("leat_http_request_seconds_bucket{" + labels + ",le=\"+Inf\"} 1\n"));
  EXPECT_TRUE(has("leat_http_request_seconds_count{" + labels + "} 1\n"));
}

}  // namespace
}  // namespace leat::doors::http
