// UploadSweeper: gives back the space of multipart uploads that nobody completes or aborts.
//
// Looks at once and then every hour, on a thread of its own that ends with it. An upload to which
// nothing came for `idle` is aborted; what a crash left half ended is ended. An error is left to
// the next round.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/local/local_store.h"

namespace leat::doors::http {

// One round over all buckets; returns how many uploads were ended.
Result<std::uint64_t> sweep_uploads(local::LocalStore& store, std::chrono::nanoseconds idle,
                                    const Context& context);

class UploadSweeper {
 public:
  // With an `idle` of 0 it does nothing.
  UploadSweeper(std::shared_ptr<local::LocalStore> store, std::chrono::nanoseconds idle);

 private:
  std::jthread thread_;
};

}  // namespace leat::doors::http
