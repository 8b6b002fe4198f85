#include "leat/local/local_store.h"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <thread>

#include "leat/base/fork_sentinel.h"
#include "leat/base/mutex.h"
#include "leat/base/url.h"
#include "leat/local/bucket.h"
#include "leat/local/engine.h"
#include "leat/local/layout.h"
#include "leat/local/local_uploads.h"
#include "leat/local/verify.h"

namespace leat::local {
namespace {

constexpr std::string_view kDurabilityOption = "durability";
constexpr std::string_view kCreatedOption = "created";
constexpr auto kUpkeepPause = std::chrono::milliseconds(200);
constexpr auto kUpkeepRetry = std::chrono::seconds(5);

std::string bucket_key(std::string_view name) {
  return std::string(name) + "/";
}

Record bucket_record(std::string_view name, const BucketOptions& options, std::int64_t created_ns) {
  Record record;
  record.kind = RecordKind::kBucket;
  record.key = bucket_key(name);
  record.mtime_ns = created_ns;
  record.options[std::string(kDurabilityOption)] =
      options.durability == Durability::kMemory ? "memory" : "disk";
  record.options[std::string(kCreatedOption)] = std::to_string(created_ns);
  return record;
}

std::shared_ptr<BucketState> bucket_state(std::string_view name, const Record& record) {
  auto state = std::make_shared<BucketState>();
  state->name = name;
  state->created_ns = record.mtime_ns;
  const auto durability = record.options.find(std::string(kDurabilityOption));
  if (durability != record.options.end() && durability->second == "memory") {
    state->durability = Durability::kMemory;
  }
  return state;
}

// The store of this process, and the engine that a forked child reads with.
class Store final : public LocalStore, public EngineSource {
 public:
  Store(std::vector<std::string> directories, const StoreOptions& options,
        std::unique_ptr<Engine> engine, std::unique_ptr<ForkSentinel> sentinel)
      : directories_(std::move(directories)),
        options_(options),
        engine_(std::move(engine)),
        sentinel_(std::move(sentinel)),
        shard_members_(std::make_unique<ShardMembers>(options.shard_index_cache_bytes)) {}

  ~Store() override {
    if (sentinel_->is_forked()) {
      // Threads and locks of the parent are not here: its engine cannot be taken apart, nor can
      // its threads be waited for.
      (void)threads_.release();
      (void)engine_.release();
      (void)shard_members_.release();
      delete child_.load();
      return;
    }
    (void)close(Context());
  }

  Status load_buckets(const Context& context);
  void start_scrub();
  // So that the next opening makes them anew.
  Status discard_damaged_catalogues(const Context& context);

  // LocalStore
  Status close(const Context& context) override;
  Status announce(std::string_view url) override {
    RETURN_IF_ERROR(writable());
    return engine_->announce(url);
  }
  Status create_bucket(std::string_view name, const BucketOptions& options,
                       const Context& context) override;
  Status set_bucket(std::string_view name, const BucketOptions& options,
                    const Context& context) override;
  Status remove_bucket(std::string_view name, const Context& context) override;
  Result<std::vector<BucketInfo>> list_buckets(const Context& context) override;
  Result<std::shared_ptr<ObjectStore>> bucket(std::string_view name) override;
  Result<ObjectInfo> compose(std::string_view bucket, std::span<const std::string> sources,
                             std::string_view target, const CreateOptions& options,
                             const CommitOptions& commit_options, const Context& context) override;
  Result<std::shared_ptr<Uploads>> uploads(std::string_view bucket) override;
  Result<StoredShard> shard(std::string_view bucket, std::string_view name,
                            const Context& context) override;
  Result<std::vector<DriveInfo>> drives() override;
  Status add_drive(const std::string& directory, const Context& context) override;
  Status remove_drive(const std::string& drive, const Context& context) override;
  Status settle(const Context& context) override;
  Result<VerifyReport> verify(const VerifyOptions& options, const Context& context) override;
  ScrubStatus scrub_status() const override;
  Status compact(const Context& context) override;
  Result<bool> maintain(const Context& context) override;

  // EngineSource
  Result<Engine*> engine() override {
    if (sentinel_->is_forked()) [[unlikely]] {
      ASSIGN_OR_RETURN(Child* const own, child());
      return own->engine.get();
    }
    if (closed_.load(std::memory_order_relaxed)) [[unlikely]] {
      return Error(ErrorCode::kUnavailable, "the store was closed");
    }
    return engine_.get();
  }
  ShardMembers& shard_members() override {
    // A child asks for its engine first.
    Child* const own = child_.load(std::memory_order_acquire);
    return own != nullptr ? own->members : *shard_members_;
  }
  void changed() override;

 private:
  // What a forked child reads with, instead of what its parent's threads may have locked.
  struct Child {
    Child(std::unique_ptr<Engine> own_engine, std::uint64_t cache_bytes)
        : engine(std::move(own_engine)), members(cache_bytes) {}
    std::unique_ptr<Engine> engine;
    ShardMembers members;
  };
  // The threads of the upkeep. A forked child, where they are not, must leave all of this alone.
  struct Threads {
    Mutex mutex;
    CondVar wakes;
    std::jthread upkeep GUARDED_BY(mutex);
    std::jthread scrub GUARDED_BY(mutex);
  };

  Result<Child*> child();
  // Whether this process may change anything: a forked child may not.
  Status writable();
  Result<std::shared_ptr<BucketState>> find_bucket(std::string_view name) EXCLUDES(buckets_mutex_);
  Status write_bucket(const Record& record, const Precondition& precondition,
                      const Context& context);
  std::string url_of(std::string_view bucket) const;
  void run_upkeep(const std::stop_token& stop);
  void stop_upkeep();
  void run_scrub(const std::stop_token& stop);

  const std::vector<std::string> directories_;
  const StoreOptions options_;
  std::unique_ptr<Engine> engine_;
  const std::unique_ptr<ForkSentinel> sentinel_;
  std::atomic<Child*> child_{nullptr};
  std::atomic<bool> closed_{false};
  std::unique_ptr<ShardMembers> shard_members_;

  Mutex buckets_mutex_;
  std::map<std::string, std::shared_ptr<BucketState>, std::less<>> buckets_
      GUARDED_BY(buckets_mutex_);

  // One piece of upkeep, or one change of the set of drives, at a time. Held over I/O: that is its
  // purpose. No reader or writer of objects ever waits for it.
  Mutex upkeep_mutex_;
  std::atomic<bool> upkeep_started_{false};
  std::unique_ptr<Threads> threads_ = std::make_unique<Threads>();
  mutable Mutex scrub_mutex_;
  ScrubStatus scrub_status_ GUARDED_BY(scrub_mutex_);
};

Status Store::load_buckets(const Context& context) {
  const auto walk = engine_->cursor();
  RETURN_IF_ERROR(walk->seek(""));
  while (walk->valid()) {
    const std::string name(walk->key().substr(0, walk->key().find('/')));
    // A bucket whose record is lost still has its objects.
    Record record = bucket_record(name, {}, 0);
    const auto located = engine_->find(bucket_key(name), ReadAlong::kNothing, context);
    if (!located.ok() && !located.failed_with(ErrorCode::kCorrupted)) return located.error();
    if (located.ok() && *located) record = (*located)->found.record;
    {
      MutexLock lock(buckets_mutex_);
      buckets_[name] = bucket_state(name, record);
    }
    RETURN_IF_ERROR(walk->seek(name + static_cast<char>('/' + 1)));
  }
  return ok_status();
}

Status Store::discard_damaged_catalogues(const Context& context) {
  for (const auto& drive : engine_->drives()) {
    Status status = drive->check_catalogue(context);
    if (status.failed_with(ErrorCode::kCorrupted)) {
      RETURN_IF_ERROR(drive->discard_catalogue());
    } else if (!status.ok()) {
      return status;
    }
  }
  return ok_status();
}

Status Store::writable() {
  if (sentinel_->is_forked())
    return Error(ErrorCode::kPermissionDenied, "a forked child can only read");
  RETURN_IF_ERROR(engine());
  return ok_status();
}

Status Store::close(const Context& context) {
  if (sentinel_->is_forked()) return ok_status();  // the parent's to close
  if (closed_.exchange(true)) return ok_status();
  stop_upkeep();
  return engine_->close(context);
}

Result<Store::Child*> Store::child() {
  if (Child* ready = child_.load(std::memory_order_acquire)) return ready;
  ASSIGN_OR_RETURN(auto engine, Engine::open(directories_, PackLog::Access::kReadOnly, options_));
  auto made = std::make_unique<Child>(std::move(engine), options_.shard_index_cache_bytes);
  Child* expected = nullptr;
  if (child_.compare_exchange_strong(expected, made.get())) return made.release();
  return expected;  // another thread was quicker
}

std::string Store::url_of(std::string_view bucket) const {
  std::vector<std::string> encoded;  // a comma in a name is not one between names
  for (const std::string& directory : directories_)
    encoded.push_back(percent_encode(directory, "/"));
  return fmt::format("leat+local://{}/{}", fmt::join(encoded, ","), bucket);
}

Result<std::shared_ptr<BucketState>> Store::find_bucket(std::string_view name) {
  MutexLock lock(buckets_mutex_);
  const auto it = buckets_.find(name);
  if (it != buckets_.end()) return it->second;
  return Error(ErrorCode::kNotFound, fmt::format("there is no bucket {}", name));
}

// On every drive, so that no lost drive takes it away.
Status Store::write_bucket(const Record& record, const Precondition& precondition,
                           const Context& context) {
  RETURN_IF_ERROR(engine_->begin_writing());
  for (const auto& drive : engine_->drives()) {
    Change change(record, {});
    change.precondition = precondition;
    const Status status = drive->commit(change, context);
    if (!status.ok()) return status.error();
  }
  changed();
  return ok_status();
}

Status Store::create_bucket(std::string_view name, const BucketOptions& options,
                            const Context& context) {
  RETURN_IF_ERROR(writable());
  RETURN_IF_ERROR(check_bucket_name(name));
  const Record record = bucket_record(name, options, options_.clock->wall_ns());
  if (find_bucket(name).ok()) {
    return Error(ErrorCode::kAlreadyExists, fmt::format("bucket {} exists already", name));
  }
  RETURN_IF_ERROR(write_bucket(record, Precondition::none(), context));
  MutexLock lock(buckets_mutex_);
  buckets_[std::string(name)] = bucket_state(name, record);
  return ok_status();
}

Status Store::set_bucket(std::string_view name, const BucketOptions& options,
                         const Context& context) {
  RETURN_IF_ERROR(writable());
  ASSIGN_OR_RETURN(const auto state, find_bucket(name));
  RETURN_IF_ERROR(
      write_bucket(bucket_record(name, options, state->created_ns), Precondition::none(), context));
  state->durability =
      options.durability == Durability::kMemory ? Durability::kMemory : Durability::kDisk;
  return ok_status();
}

Status Store::remove_bucket(std::string_view name, const Context& context) {
  RETURN_IF_ERROR(writable());
  ASSIGN_OR_RETURN(const auto state, find_bucket(name));
  if (state->is_closed.exchange(true))
    return Error(ErrorCode::kBusy, "the bucket is being removed already");
  const auto remove = [&]() -> Status {
    while (state->changes.load() > 0) {
      RETURN_IF_ERROR(context.check());
      std::this_thread::yield();
    }
    RETURN_IF_ERROR(engine_->check_whole());
    const std::string key = bucket_key(name);
    // Indexes of shards that never came to be, uploads that nobody completed, and their parts.
    std::vector<std::string> left;
    const auto walk = engine_->cursor();
    RETURN_IF_ERROR(walk->seek(key + '\0'));
    while (walk->valid() && walk->key().starts_with(key)) {
      if (!is_internal_key(walk->key())) {
        return Error(ErrorCode::kPreconditionFailed,
                     fmt::format("bucket {} is not empty; 'leat rm -r' empties it", name));
      }
      left.emplace_back(walk->key());
      RETURN_IF_ERROR(walk->next());
    }
    for (const std::string& internal : left)
      RETURN_IF_ERROR(engine_->remove(internal, {}, Durability::kMemory, context));
    Record record;
    record.kind = RecordKind::kDelete;
    record.key = key;
    record.mtime_ns = options_.clock->wall_ns();
    return write_bucket(record, Precondition::none(), context);
  };
  if (auto status = remove(); !status.ok()) {
    state->is_closed = false;
    return status;
  }
  MutexLock lock(buckets_mutex_);
  buckets_.erase(state->name);
  return ok_status();
}

Result<std::vector<BucketInfo>> Store::list_buckets(const Context& context) {
  RETURN_IF_ERROR(context.check());
  MutexLock lock(buckets_mutex_);
  std::vector<BucketInfo> all;
  for (const auto& [name, state] : buckets_) {
    all.push_back({name, {state->durability.load()}, state->created_ns});
  }
  return all;
}

Result<std::shared_ptr<ObjectStore>> Store::bucket(std::string_view name) {
  ASSIGN_OR_RETURN(auto state, find_bucket(name));
  auto self = std::static_pointer_cast<Store>(shared_from_this());
  return std::shared_ptr<ObjectStore>(
      std::make_shared<Bucket>(std::move(self), std::move(state), url_of(name)));
}

Result<ObjectInfo> Store::compose(std::string_view bucket_name,
                                  std::span<const std::string> sources, std::string_view target,
                                  const CreateOptions& options, const CommitOptions& commit_options,
                                  const Context& context) {
  ASSIGN_OR_RETURN(auto state, find_bucket(bucket_name));
  Bucket handle(std::static_pointer_cast<Store>(shared_from_this()), std::move(state),
                url_of(bucket_name));
  return handle.compose(sources, target, options, commit_options, context);
}

Result<std::shared_ptr<Uploads>> Store::uploads(std::string_view bucket_name) {
  ASSIGN_OR_RETURN(auto state, find_bucket(bucket_name));
  return make_uploads(std::static_pointer_cast<Store>(shared_from_this()), std::move(state),
                      url_of(bucket_name));
}

Result<StoredShard> Store::shard(std::string_view bucket_name, std::string_view name,
                                 const Context& context) {
  RETURN_IF_ERROR(context.check());
  RETURN_IF_ERROR(check_name(name));
  RETURN_IF_ERROR(find_bucket(bucket_name));
  ASSIGN_OR_RETURN(Engine* const current, engine());
  const std::string key = std::string(bucket_name) + "/" + std::string(name);
  ASSIGN_OR_RETURN(const auto opened, shard_members().open_shard(*current, key, context));
  if (!opened) return Error(ErrorCode::kNotFound, "there is no shard " + std::string(name));
  return StoredShard{opened->generation, opened->index};
}

Result<std::vector<DriveInfo>> Store::drives() {
  ASSIGN_OR_RETURN(Engine* const current, engine());
  return current->drive_infos();
}

Status Store::add_drive(const std::string& directory, const Context& context) {
  RETURN_IF_ERROR(writable());
  {
    MutexLock lock(upkeep_mutex_);
    RETURN_IF_ERROR(engine_->add_drive(directory, context));
  }
  changed();
  return ok_status();
}

Status Store::remove_drive(const std::string& drive, const Context& context) {
  RETURN_IF_ERROR(writable());
  ASSIGN_OR_RETURN(const std::string id, engine_->drive_id(drive));
  ASSIGN_OR_RETURN(const auto infos, engine_->drive_infos());
  bool is_missing = false;
  for (const DriveInfo& info : infos) is_missing |= info.id == id && info.is_missing;
  if (!is_missing) {
    {
      MutexLock lock(upkeep_mutex_);
      RETURN_IF_ERROR(engine_->start_draining(id, context));
    }
    if (auto settled = settle(context); !settled.ok()) {
      // One that was interrupted goes on the next time. One that cannot succeed is called off.
      const bool goes_on = settled.failed_with(ErrorCode::kCancelled) ||
                           settled.failed_with(ErrorCode::kDeadlineExceeded);
      MutexLock lock(upkeep_mutex_);
      if (!goes_on) (void)engine_->stop_draining(id);
      return settled;
    }
  }
  MutexLock lock(upkeep_mutex_);
  return engine_->drop_drive(id, context);
}

Status Store::settle(const Context& context) {
  RETURN_IF_ERROR(writable());
  while (!engine_->is_settled()) {
    ASSIGN_OR_RETURN(const bool worked, maintain(context));
    if (!worked && !engine_->is_settled()) {
      return Error(ErrorCode::kUnavailable, "a drive is missing; 'leat drive ls' shows which");
    }
  }
  return ok_status();
}

Result<VerifyReport> Store::verify(const VerifyOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(Engine* const current, engine());
  return verify_store(*current, shard_members(), options, context);
}

Status Store::compact(const Context& context) {
  RETURN_IF_ERROR(writable());
  RETURN_IF_ERROR(engine_->begin_writing());
  MutexLock lock(upkeep_mutex_);
  for (const auto& drive : engine_->drives()) RETURN_IF_ERROR(drive->compact_all(context));
  return ok_status();
}

Result<bool> Store::maintain(const Context& context) {
  RETURN_IF_ERROR(writable());
  MutexLock lock(upkeep_mutex_);
  return engine_->maintain(context);
}

void Store::changed() {
  if (options_.upkeep != StoreOptions::Upkeep::kInBackground) return;
  if (upkeep_started_.load(std::memory_order_relaxed)) return;
  MutexLock lock(threads_->mutex);
  if (upkeep_started_.exchange(true) || closed_.load()) return;
  threads_->upkeep = std::jthread([this](const std::stop_token& stop) { run_upkeep(stop); });
}

void Store::run_upkeep(const std::stop_token& stop) {
  const Context context =
      Context(*options_.clock).with_priority(Priority::kBackground).with_cancellation(stop);
  while (!stop.stop_requested()) {
    std::chrono::milliseconds pause = kUpkeepPause;
    if (engine_->needs_maintenance()) {
      const auto worked = maintain(context);
      if (worked.ok() && *worked) continue;
      if (!worked.ok()) pause = kUpkeepRetry;  // a full disk, perhaps: try again later
    }
    MutexLock lock(threads_->mutex);
    if (!stop.stop_requested()) threads_->wakes.wait_for(threads_->mutex, pause);
  }
}

void Store::stop_upkeep() {
  std::jthread upkeep;
  std::jthread scrub;
  {
    MutexLock lock(threads_->mutex);
    threads_->upkeep.request_stop();
    threads_->scrub.request_stop();
    threads_->wakes.notify_all();
    upkeep = std::move(threads_->upkeep);
    scrub = std::move(threads_->scrub);
  }
  if (upkeep.joinable()) upkeep.join();
  if (scrub.joinable()) scrub.join();
}

void Store::start_scrub() {
  if (options_.scrub_bytes_per_second == 0) return;
  MutexLock lock(threads_->mutex);
  threads_->scrub = std::jthread([this](const std::stop_token& stop) { run_scrub(stop); });
}

void Store::run_scrub(const std::stop_token& stop) {
  const Context context =
      Context(*options_.clock).with_priority(Priority::kBackground).with_cancellation(stop);
  VerifyOptions options;
  options.bytes_per_second = options_.scrub_bytes_per_second;
  while (!stop.stop_requested()) {
    // What is damaged is refused when it is read, whether or not a round reaches its end.
    if (auto report = verify(options, context); report.ok()) {
      MutexLock lock(scrub_mutex_);
      ++scrub_status_.rounds;
      scrub_status_.ended_ns = options_.clock->wall_ns();
      scrub_status_.last = *std::move(report);
    }
    const auto end = std::chrono::steady_clock::now() + options_.scrub_pause;
    MutexLock lock(threads_->mutex);
    while (!stop.stop_requested() && std::chrono::steady_clock::now() < end) {
      threads_->wakes.wait_for(threads_->mutex, end - std::chrono::steady_clock::now());
    }
  }
}

ScrubStatus Store::scrub_status() const {
  MutexLock lock(scrub_mutex_);
  return scrub_status_;
}

Result<std::shared_ptr<LocalStore>> make_store(const std::vector<std::string>& directories,
                                               const StoreOptions& options) {
  const Context context(*options.clock);
  for (bool is_second = false;; is_second = true) {
    auto opened = Engine::open(directories, PackLog::Access::kReadWrite, options);
    // Another user's store, or one on a read-only file system: it can be read.
    if (opened.failed_with(ErrorCode::kPermissionDenied))
      opened = Engine::open(directories, PackLog::Access::kReadOnly, options);
    ASSIGN_OR_RETURN(auto engine, std::move(opened));
    ASSIGN_OR_RETURN(auto sentinel, ForkSentinel::create());
    auto store =
        std::make_shared<Store>(directories, options, std::move(engine), std::move(sentinel));
    Status loaded = store->load_buckets(context);
    if (loaded.ok()) {
      store->start_scrub();
      return std::shared_ptr<LocalStore>(std::move(store));
    }
    if (is_second || !loaded.failed_with(ErrorCode::kCorrupted)) return std::move(loaded).error();
    // A catalogue is damaged: the packs know everything.
    RETURN_IF_ERROR(store->discard_damaged_catalogues(context));
  }
}

}  // namespace

Result<std::shared_ptr<LocalStore>> LocalStore::open(const std::vector<std::string>& directories,
                                                     const StoreOptions& options) {
  return make_store(directories, options);
}

Result<std::shared_ptr<LocalStore>> LocalStore::create(const std::vector<std::string>& directories,
                                                       const StoreOptions& options) {
  for (const std::string& directory : directories) {
    const auto existing = options.open_directory(directory);
    if (existing.ok()) continue;
    if (!existing.failed_with(ErrorCode::kNotFound)) return existing.error();
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) return Error::from_errno(error.value(), fmt::format("make directory {}", directory));
    ASSIGN_OR_RETURN(auto parent,
                     FileSystem::posix(std::filesystem::absolute(directory).parent_path()));
    RETURN_IF_ERROR(parent->sync_directory("."));
  }
  RETURN_IF_ERROR(Engine::format(directories, options));
  return make_store(directories, options);
}

Result<bool> LocalStore::is_drive(const std::string& directory, const StoreOptions& options) {
  auto files = options.open_directory(directory);
  if (files.failed_with(ErrorCode::kNotFound)) return false;
  if (!files.ok()) return std::move(files).error();
  const auto status = (*files)->status(kSuperblockFile);
  if (status.ok()) return true;
  if (status.failed_with(ErrorCode::kNotFound)) return false;
  return status.error();
}

Status check_bucket_name(std::string_view name) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  bool good =
      name.size() >= 3 && name.size() <= kMaxBucketNameBytes && is_alphanumeric(name.front());
  for (const char c : name) good &= is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
  if (good) return ok_status();
  return Error(
      ErrorCode::kInvalidArgument,
      fmt::format(
          "'{}' cannot be a bucket's name: 3 to 63 of a-z 0-9 . _ -, a letter or digit first",
          name));
}

}  // namespace leat::local
