#include "leat/doors/http/upload_sweeper.h"

#include <condition_variable>
#include <mutex>

namespace leat::doors::http {
namespace {

constexpr auto kPeriod = std::chrono::hours(1);

void run(const std::stop_token& stop, local::LocalStore& store, std::chrono::nanoseconds idle) {
  const Context context = Context().with_priority(Priority::kBackground).with_cancellation(stop);
  std::mutex mutex;
  std::condition_variable_any stopped;
  while (!stop.stop_requested()) {
    (void)sweep_uploads(store, idle, context);
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop, kPeriod, [] { return false; });
  }
}

}  // namespace

Result<std::uint64_t> sweep_uploads(local::LocalStore& store, std::chrono::nanoseconds idle,
                                    const Context& context) {
  const std::int64_t since_ns = context.clock().wall_ns() - idle.count();
  ASSIGN_OR_RETURN(const auto buckets, store.list_buckets(context));
  std::uint64_t ended = 0;
  for (const local::BucketInfo& bucket : buckets) {
    const auto uploads = store.uploads(bucket.name);
    if (uploads.failed_with(ErrorCode::kNotFound)) continue;  // removed meanwhile
    RETURN_IF_ERROR(uploads);
    const auto swept = (*uploads)->sweep(since_ns, context);
    if (swept.failed_with(ErrorCode::kNotFound)) continue;
    RETURN_IF_ERROR(swept);
    ended += *swept;
  }
  return ended;
}

UploadSweeper::UploadSweeper(std::shared_ptr<local::LocalStore> store,
                             std::chrono::nanoseconds idle) {
  if (idle.count() <= 0) return;
  thread_ = std::jthread(
      [store = std::move(store), idle](const std::stop_token& stop) { run(stop, *store, idle); });
}

}  // namespace leat::doors::http
