// Buckets: the buckets of a store by name, for threads that may not wait.
//
// The map is never changed, only replaced, so that a look at it takes no lock. The server owns the
// store, so nobody else makes or removes buckets. Thread-safe.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "leat/base/context.h"
#include "leat/base/mutex.h"
#include "leat/local/local_store.h"

namespace leat::doors::http {

// Its path is that of the native API, so a server makes no such bucket.
inline constexpr std::string_view kReservedBucket = "leat";

class Buckets {
 public:
  explicit Buckets(std::shared_ptr<local::LocalStore> store) : store_(std::move(store)) {}

  const std::shared_ptr<local::LocalStore>& store() const noexcept { return store_; }
  // Null when it is not known, which may mean that nobody asked for it yet.
  std::shared_ptr<ObjectStore> find(std::string_view name) const;
  // kNotFound when there is none.
  Result<std::shared_ptr<ObjectStore>> open(std::string_view name) EXCLUDES(mutex_);
  Status create(std::string_view name, const local::BucketOptions& options, const Context& context);
  Status remove(std::string_view name, const Context& context) EXCLUDES(mutex_);
  Result<std::vector<local::BucketInfo>> list(const Context& context) {
    return store_->list_buckets(context);
  }

 private:
  using Map = std::map<std::string, std::shared_ptr<ObjectStore>, std::less<>>;

  const std::shared_ptr<local::LocalStore> store_;
  Mutex mutex_;  // held while the map is replaced
  std::atomic<std::shared_ptr<const Map>> map_{std::make_shared<const Map>()};
};

}  // namespace leat::doors::http
