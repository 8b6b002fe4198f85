// RequestStats: how many requests of each kind there were, how they ended and how long they took.
//
// An operation is asked for once and its reference kept; to record costs a few relaxed operations
// on memory that a thread shares with few others. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/histogram.h"
#include "leat/base/mutex.h"

namespace leat::doors::http {

class RequestStats {
 public:
  class Operation {
   public:
    Operation(std::string api, std::string name) : api_(std::move(api)), name_(std::move(name)) {}
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    ~Operation();

    // `bytes` counts bodies both ways. A status of 0 is a request that got no answer.
    void record(int status, std::uint64_t bytes, std::chrono::nanoseconds duration) noexcept;
    // A request is worked on, until it is not any more.
    void enter() noexcept { in_progress_.fetch_add(1, std::memory_order_relaxed); }
    void leave() noexcept { in_progress_.fetch_sub(1, std::memory_order_relaxed); }

   private:
    friend class RequestStats;
    static constexpr std::size_t kParts = 8;
    static constexpr std::size_t kClasses = 6;  // none, 1xx … 5xx
    struct alignas(64) Part {
      std::array<std::atomic<std::uint64_t>, kClasses> by_class{};
      std::atomic<std::uint64_t> bytes{0};
      std::atomic<ConcurrentHistogram*> latency{nullptr};  // made when first used: it is large
    };
    static Part& part_of_thread(std::array<Part, kParts>& parts) noexcept;

    const std::string api_;
    const std::string name_;
    std::array<Part, kParts> parts_;
    std::atomic<std::uint64_t> in_progress_{0};
  };

  // "s3", "GetObject". The same for the same names; lives as long as this.
  Operation& operation(std::string_view api, std::string_view name) EXCLUDES(mutex_);

  struct Summary {
    std::string api;
    std::string name;
    std::uint64_t count = 0;
    std::uint64_t client_errors = 0;  // 4xx, and those who went away
    std::uint64_t server_errors = 0;  // 5xx
    std::uint64_t bytes = 0;
    std::uint64_t in_progress = 0;
    Histogram latency_ns;
  };
  // Of the operations that were used, or are.
  std::vector<Summary> summaries() const EXCLUDES(mutex_);
  // The same in Prometheus' text format.
  std::string prometheus_text() const;

 private:
  static Summary summary_of(const Operation& operation);

  mutable Mutex mutex_;
  std::deque<Operation> operations_ GUARDED_BY(mutex_);
};

}  // namespace leat::doors::http
