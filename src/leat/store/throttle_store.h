// ThrottleStore: a fast store that behaves like a far one.
//
// The stand-in for a remote bucket in tests and benchmarks: each request waits for its turn
// (operations per second), for an answer (latency, drawn from a distribution), and for its bytes
// (bandwidth, shared by all). Waiting ends with the Context's deadline or cancellation.
//
//   stat list open create remove commit copy   turn and latency, then the call
//   read_at                                     turn and latency, then the call, then its bytes
//   append                                      its bytes, then the call
//   read_batch                                  each item as a read_at; batch_concurrency at a time
//
// A batch is not run by threads: the target answers it at once, and the time at which the last item
// would have come is computed and waited for. Items that a deadline cuts off fail, the others keep
// their results. local_extents() is refused: bytes that are far away are not in local files.
//
// Latencies are a function of the seed and the order of the calls. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "leat/base/clock.h"
#include "leat/base/random.h"
#include "leat/store/forwarding.h"

namespace leat {

// How long a request waits for its answer. A small immutable value.
class LatencyDistribution {
 public:
  // Nothing to wait for.
  LatencyDistribution() = default;
  // Always the same.
  static LatencyDistribution fixed(std::chrono::nanoseconds latency);
  // Log-normal through two quantiles; `p99` must not be less than `p50`.
  static LatencyDistribution log_normal(std::chrono::nanoseconds p50, std::chrono::nanoseconds p99);

  std::chrono::nanoseconds sample(Random& random) const;

 private:
  LatencyDistribution(std::chrono::nanoseconds median, double sigma)
      : median_(median), sigma_(sigma) {}

  std::chrono::nanoseconds median_{0};
  double sigma_ = 0;  // of the logarithm
};

struct ThrottleOptions {
  std::uint64_t bytes_per_second = 0;  // 0: no limit
  std::uint64_t burst_bytes = 0;       // moved at once after a pause
  double operations_per_second = 0;    // 0: no limit
  LatencyDistribution latency = {};
  std::size_t batch_concurrency = 1;  // at least 1
  std::uint64_t seed = 0;
  const Clock* clock = &Clock::system();  // must outlive the store, its readers and writers
};

class ThrottleStore final : public ForwardingStore {
 public:
  ThrottleStore(std::shared_ptr<ObjectStore> target, const ThrottleOptions& options);
  ~ThrottleStore() override;

  Result<ObjectInfo> stat(std::string_view name, const Context& context) override;
  Result<ListPage> list(const ListRequest& request, const Context& context) override;
  Result<std::unique_ptr<ObjectReader>> open(std::string_view name, const OpenOptions& options,
                                             const Context& context) override;
  Result<std::unique_ptr<ObjectWriter>> create(std::string_view name, const CreateOptions& options,
                                               const Context& context) override;
  Status remove(std::string_view name, const RemoveOptions& options,
                const Context& context) override;
  void read_batch(std::span<BatchRead> reads, const Context& context) override;
  Result<ObjectInfo> copy(std::string_view source, std::string_view target,
                          const CreateOptions& options, const Context& context) override;

 private:
  class Link;
  class Reader;
  class Writer;

  // Shared with readers and writers, which may outlive the store.
  const std::shared_ptr<Link> link_;
};

}  // namespace leat
