#include "leat/doors/http/buckets.h"

namespace leat::doors::http {

std::shared_ptr<ObjectStore> Buckets::find(std::string_view name) const {
  const auto map = map_.load(std::memory_order_acquire);
  const auto it = map->find(name);
  return it == map->end() ? nullptr : it->second;
}

Result<std::shared_ptr<ObjectStore>> Buckets::open(std::string_view name) {
  if (auto known = find(name)) return known;
  MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(auto bucket, store_->bucket(name));
  auto changed = std::make_shared<Map>(*map_.load());
  (*changed)[std::string(name)] = bucket;
  map_.store(std::move(changed), std::memory_order_release);
  return bucket;
}

Status Buckets::create(std::string_view name, const local::BucketOptions& options,
                       const Context& context) {
  if (name == kReservedBucket) {
    return Error(ErrorCode::kInvalidArgument, "\"leat\" is where the native API is");
  }
  return store_->create_bucket(name, options, context);
}

Status Buckets::remove(std::string_view name, const Context& context) {
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(store_->remove_bucket(name, context));
  auto changed = std::make_shared<Map>(*map_.load());
  if (const auto it = changed->find(name); it != changed->end()) changed->erase(it);
  map_.store(std::move(changed), std::memory_order_release);
  return ok_status();
}

}  // namespace leat::doors::http
