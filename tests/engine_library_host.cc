#include "engine_library_host.h"

#include <memory>

#include "leat/local/local_store.h"

namespace {

constexpr std::string_view kBucket = "data";

struct Handle {
  std::shared_ptr<leat::local::LocalStore> store;
  std::shared_ptr<leat::ObjectStore> bucket;
};

leat::Result<Handle> open_handle(const std::string& directory) {
  using leat::local::LocalStore;
  const leat::local::StoreOptions options;
  ASSIGN_OR_RETURN(const bool exists, LocalStore::is_drive(directory, options));
  Handle handle;
  if (exists) {
    ASSIGN_OR_RETURN(handle.store, LocalStore::open({directory}, options));
  } else {
    ASSIGN_OR_RETURN(handle.store, LocalStore::create({directory}, options));
    RETURN_IF_ERROR(handle.store->create_bucket(kBucket, {}, {}));
  }
  ASSIGN_OR_RETURN(handle.bucket, handle.store->bucket(kBucket));
  return handle;
}

Handle& handle_of(void* store) {
  return *static_cast<Handle*>(store);
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] void* leat_host_open(const char* directory) {
  auto handle = open_handle(directory);
  return handle.ok() ? std::make_unique<Handle>(*std::move(handle)).release() : nullptr;
}

[[gnu::visibility("default")]] int leat_host_put(void* store, const char* name, const void* bytes,
                                                 size_t size) {
  const std::span content(static_cast<const std::byte*>(bytes), size);
  return write_object(*handle_of(store).bucket, name, content, {}, {}).ok() ? 0 : -1;
}

[[gnu::visibility("default")]] long leat_host_get(void* store, const char* name, void* buffer,
                                                  size_t size) {
  const auto reader = handle_of(store).bucket->open(name, {}, {});
  if (!reader.ok()) return -1;
  const auto count = (*reader)->read_at(0, {static_cast<std::byte*>(buffer), size}, {});
  return count.ok() ? static_cast<long>((*reader)->info().size_bytes) : -1;
}

[[gnu::visibility("default")]] int leat_host_close(void* store) {
  const std::unique_ptr<Handle> handle(&handle_of(store));
  return handle->store->close({}).ok() ? 0 : -1;
}

}  // extern "C"
