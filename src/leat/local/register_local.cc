#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "leat/base/mutex.h"
#include "leat/local/local_url.h"

namespace leat::local {
namespace {

// Opens every store once, however many locations are in it: a second opening would find it locked
// by this very process. Thread-safe.
class OpenStores {
 public:
  explicit OpenStores(StoreOptions options) : options_(std::move(options)) {}

  Result<StoreLocation> open(const Url& url, IfMissing if_missing) {
    bool is_new = false;
    Result<LocalUrl> place = resolve_local_url(url, options_);
    if (place.failed_with(ErrorCode::kNotFound) && if_missing == IfMissing::kCreate) {
      ASSIGN_OR_RETURN(place, place_new_store(url, NewStore::kNamesObject));
      is_new = true;
    }
    if (!place) return std::move(place).error();
    if (place->bucket.empty()) {
      return Error(ErrorCode::kInvalidArgument, url.to_string() + " names a store; add a bucket: " +
                                                    place->store_url() + "/BUCKET");
    }
    ASSIGN_OR_RETURN(const auto store, open_store(place->directories, is_new));
    Result<std::shared_ptr<ObjectStore>> bucket = store->bucket(place->bucket);
    if (bucket.failed_with(ErrorCode::kNotFound) && if_missing == IfMissing::kCreate) {
      RETURN_IF_ERROR(store->create_bucket(place->bucket, {}, Context()));
      bucket = store->bucket(place->bucket);
    }
    if (bucket.failed_with(ErrorCode::kNotFound)) {
      return Error(ErrorCode::kNotFound,
                   "there is no bucket " + place->bucket + " in " + place->store_url());
    }
    if (!bucket) return std::move(bucket).error();
    return StoreLocation{*std::move(bucket), std::move(place->name)};
  }

 private:
  // The same for every way to write the same directories.
  static std::vector<std::string> canonical(std::vector<std::string> directories) {
    for (std::string& directory : directories) {
      std::error_code error;
      const auto path = std::filesystem::weakly_canonical(directory, error);
      if (!error) directory = path.string();
    }
    std::sort(directories.begin(), directories.end());
    return directories;
  }

  struct Slot {
    std::weak_ptr<LocalStore> store;
    bool is_opening = false;
  };

  Result<std::shared_ptr<LocalStore>> open_store(const std::vector<std::string>& directories,
                                                 bool is_new) EXCLUDES(mutex_) {
    const std::vector<std::string> key = canonical(directories);
    {
      const MutexLock lock(mutex_);
      while (slots_[key].is_opening) opened_.wait(mutex_);
      Slot& slot = slots_[key];
      if (auto store = slot.store.lock()) return store;
      slot.is_opening = true;
    }
    auto store = is_new ? create_store(directories) : LocalStore::open(directories, options_);
    const MutexLock lock(mutex_);
    Slot& slot = slots_[key];
    slot.is_opening = false;
    if (store) slot.store = *store;
    opened_.notify_all();
    return store;
  }

  Result<std::shared_ptr<LocalStore>> create_store(const std::vector<std::string>& directories) {
    for (const std::string& directory : directories) {
      const auto files = options_.open_directory(directory);
      if (!files) continue;  // create() makes it, or says why not
      ASSIGN_OR_RETURN(const auto entries, (*files)->read_directory("."));
      if (entries.empty()) continue;
      return Error(ErrorCode::kNotFound,
                   directory + " is neither a store nor empty: it is not made one in passing");
    }
    return LocalStore::create(directories, options_);
  }

  const StoreOptions options_;
  Mutex mutex_;
  CondVar opened_;
  std::map<std::vector<std::string>, Slot> slots_ GUARDED_BY(mutex_);
};

}  // namespace

void register_local(Registry& registry, const StoreOptions& options) {
  auto stores = std::make_shared<OpenStores>(options);
  registry.add(std::string(kLocalScheme), [stores](const Url& url, IfMissing if_missing) {
    return stores->open(url, if_missing);
  });
}

}  // namespace leat::local
