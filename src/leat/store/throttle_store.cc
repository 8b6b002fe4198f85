#include "leat/store/throttle_store.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <queue>
#include <utility>
#include <vector>

#include "leat/base/check.h"
#include "leat/base/mutex.h"
#include "leat/store/token_bucket.h"

namespace leat {
namespace {

// How soon a waiting call notices that it was cancelled.
constexpr std::chrono::nanoseconds kMaxSleep = std::chrono::milliseconds(5);

// One sample of the standard normal distribution (Box and Muller).
double sample_normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.unit()));  // 1 - unit() is never 0
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

}  // namespace

LatencyDistribution LatencyDistribution::fixed(std::chrono::nanoseconds latency) {
  return {latency, 0};
}

LatencyDistribution LatencyDistribution::log_normal(std::chrono::nanoseconds p50,
                                                    std::chrono::nanoseconds p99) {
  CHECK(p50.count() > 0 && p99 >= p50);
  constexpr double kNormal99 = 2.3263478740408408;  // 99 % of a normal distribution lie below
  const double ratio = static_cast<double>(p99.count()) / static_cast<double>(p50.count());
  return {p50, std::log(ratio) / kNormal99};
}

std::chrono::nanoseconds LatencyDistribution::sample(Random& random) const {
  if (sigma_ == 0) return median_;
  const double factor = std::exp(sigma_ * sample_normal(random));
  return std::chrono::nanoseconds(std::llround(static_cast<double>(median_.count()) * factor));
}

// What lies between the caller and the far store.
class ThrottleStore::Link {
 public:
  explicit Link(const ThrottleOptions& options)
      : latency_(options.latency),
        concurrency_(options.batch_concurrency),
        clock_(*options.clock),
        operations_(options.operations_per_second, 1),
        bytes_(static_cast<double>(options.bytes_per_second),
               static_cast<double>(options.burst_bytes)),
        random_(options.seed) {
    CHECK(concurrency_ > 0);
  }

  MonotonicTime now() const { return clock_.now(); }

  // Waits as a request does before it is answered.
  Status pay_request(const Context& context) {
    RETURN_IF_ERROR(context.check());
    return wait_until(answer_time(clock_.now()), context);
  }

  Status pay_bytes(std::uint64_t count, const Context& context) {
    return wait_until(transfer_end(clock_.now(), count), context);
  }

  void pay_batch(std::span<BatchRead> reads, MonotonicTime start, const Context& context) {
    const std::vector<MonotonicTime> ends = schedule(reads, start);
    if (ends.empty()) return;
    const auto status = wait_until(*std::max_element(ends.begin(), ends.end()), context);
    if (status.ok()) return;
    const MonotonicTime now = clock_.now();
    for (std::size_t index = 0; index < reads.size(); ++index) {
      if (ends[index] > now) reads[index].result = status.error();
    }
  }

 private:
  MonotonicTime answer_time(MonotonicTime at) {
    const MonotonicTime turn = operations_.take(at, 1);
    const MutexLock lock(mutex_);
    return turn + latency_.sample(random_);
  }

  MonotonicTime transfer_end(MonotonicTime at, std::uint64_t count) {
    return bytes_.take(at, static_cast<double>(count));
  }

  // When each item would have come if `concurrency_` of them were under way at any time. Items
  // transfer in the order in which they are answered, and the next begins when one has come.
  std::vector<MonotonicTime> schedule(std::span<const BatchRead> reads, MonotonicTime start) {
    using Answer = std::pair<MonotonicTime, std::size_t>;
    std::priority_queue<Answer, std::vector<Answer>, std::greater<>> answers;
    std::size_t begun = 0;
    for (; begun < std::min(concurrency_, reads.size()); ++begun) {
      answers.emplace(answer_time(start), begun);
    }
    std::vector<MonotonicTime> ends(reads.size());
    while (!answers.empty()) {
      const auto [answered, index] = answers.top();
      answers.pop();
      const auto& result = reads[index].result;
      ends[index] = transfer_end(answered, result.ok() ? result->bytes.size() : 0);
      if (begun < reads.size()) answers.emplace(answer_time(ends[index]), begun++);
    }
    return ends;
  }

  Status wait_until(MonotonicTime time, const Context& context) const {
    while (true) {
      const std::chrono::nanoseconds left = time - clock_.now();
      if (left.count() <= 0) return ok_status();
      RETURN_IF_ERROR(context.check());
      clock_.sleep_for(std::min({left, kMaxSleep, context.remaining()}));
    }
  }

  const LatencyDistribution latency_;
  const std::size_t concurrency_;
  const Clock& clock_;
  TokenBucket operations_;
  TokenBucket bytes_;
  Mutex mutex_;
  Random random_ GUARDED_BY(mutex_);
};

class ThrottleStore::Reader final : public ForwardingReader {
 public:
  Reader(std::unique_ptr<ObjectReader> target, std::shared_ptr<Link> link)
      : ForwardingReader(std::move(target)), link_(std::move(link)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override {
    RETURN_IF_ERROR(link_->pay_request(context));
    ASSIGN_OR_RETURN(const auto count, ForwardingReader::read_at(offset, target, context));
    RETURN_IF_ERROR(link_->pay_bytes(count, context));
    return count;
  }

  Result<std::vector<LocalExtent>> local_extents(ByteRange, const Context&) override {
    return ErrorCode::kUnsupported;
  }

 private:
  const std::shared_ptr<Link> link_;
};

class ThrottleStore::Writer final : public ForwardingWriter {
 public:
  Writer(std::unique_ptr<ObjectWriter> target, std::shared_ptr<Link> link)
      : ForwardingWriter(std::move(target)), link_(std::move(link)) {}

  Status append(std::span<const std::byte> bytes, const Context& context) override {
    RETURN_IF_ERROR(link_->pay_bytes(bytes.size(), context));
    return ForwardingWriter::append(bytes, context);
  }

  Result<ObjectInfo> commit(const CommitOptions& options, const Context& context) override {
    RETURN_IF_ERROR(link_->pay_request(context));
    return ForwardingWriter::commit(options, context);
  }

 private:
  const std::shared_ptr<Link> link_;
};

ThrottleStore::ThrottleStore(std::shared_ptr<ObjectStore> target, const ThrottleOptions& options)
    : ForwardingStore(std::move(target)), link_(std::make_shared<Link>(options)) {}

ThrottleStore::~ThrottleStore() = default;

Result<ObjectInfo> ThrottleStore::stat(std::string_view name, const Context& context) {
  RETURN_IF_ERROR(link_->pay_request(context));
  return ForwardingStore::stat(name, context);
}

Result<ListPage> ThrottleStore::list(const ListRequest& request, const Context& context) {
  RETURN_IF_ERROR(link_->pay_request(context));
  return ForwardingStore::list(request, context);
}

Result<std::unique_ptr<ObjectReader>> ThrottleStore::open(std::string_view name,
                                                          const OpenOptions& options,
                                                          const Context& context) {
  RETURN_IF_ERROR(link_->pay_request(context));
  ASSIGN_OR_RETURN(auto target, ForwardingStore::open(name, options, context));
  std::unique_ptr<ObjectReader> reader = std::make_unique<Reader>(std::move(target), link_);
  return reader;
}

Result<std::unique_ptr<ObjectWriter>> ThrottleStore::create(std::string_view name,
                                                            const CreateOptions& options,
                                                            const Context& context) {
  RETURN_IF_ERROR(link_->pay_request(context));
  ASSIGN_OR_RETURN(auto target, ForwardingStore::create(name, options, context));
  std::unique_ptr<ObjectWriter> writer = std::make_unique<Writer>(std::move(target), link_);
  return writer;
}

Status ThrottleStore::remove(std::string_view name, const RemoveOptions& options,
                             const Context& context) {
  RETURN_IF_ERROR(link_->pay_request(context));
  return ForwardingStore::remove(name, options, context);
}

void ThrottleStore::read_batch(std::span<BatchRead> reads, const Context& context) {
  const MonotonicTime start = link_->now();
  ForwardingStore::read_batch(reads, context);
  link_->pay_batch(reads, start, context);
}

Result<ObjectInfo> ThrottleStore::copy(std::string_view source, std::string_view target,
                                       const CreateOptions& options, const Context& context) {
  RETURN_IF_ERROR(link_->pay_request(context));
  return ForwardingStore::copy(source, target, options, context);
}

}  // namespace leat
