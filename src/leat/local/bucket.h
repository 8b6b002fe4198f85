// Bucket: one bucket of a local store, as an ObjectStore.
//
// Keys are "bucket/name". Names with a NUL, which no user can make, are the store's own: indexes of
// shards (shard_members.h), uploads and their parts (upload_keys.h). Everything else is said in
// object_store.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/mutex.h"
#include "leat/local/engine.h"
#include "leat/local/shard_members.h"
#include "leat/store/object_store.h"

namespace leat::local {

// What all handles of a bucket share.
struct BucketState {
  std::string name;
  std::atomic<Durability> durability{Durability::kDisk};
  std::int64_t created_ns = 0;
  // Set while the bucket is being removed, and for ever afterwards.
  std::atomic<bool> is_closed{false};
  // Changes under way; a bucket is removed when there are none.
  std::atomic<std::uint32_t> changes{0};
  // The ids of the uploads that somebody is about to end.
  Mutex uploads_mutex;
  std::set<std::string, std::less<>> ending_uploads GUARDED_BY(uploads_mutex);
};

// Where a bucket gets the engine from: the store's own, or, in a forked child, one for reading.
class EngineSource {
 public:
  virtual ~EngineSource() = default;
  // kUnavailable when the store was closed.
  virtual Result<Engine*> engine() = 0;
  virtual ShardMembers& shard_members() = 0;
  // Called after each change, so that upkeep starts when it is due.
  virtual void changed() = 0;
};

class Bucket final : public ObjectStore {
 public:
  Bucket(std::shared_ptr<EngineSource> store, std::shared_ptr<BucketState> state, std::string url);

  std::string_view url() const noexcept override { return url_; }
  Capabilities capabilities() const noexcept override { return {}; }
  std::vector<std::string> directories(std::string_view prefix) const override;
  Result<ObjectInfo> stat(std::string_view name, const Context& context) override;
  Result<ListPage> list(const ListRequest& request, const Context& context) override;
  Result<std::unique_ptr<ObjectReader>> open(std::string_view name, const OpenOptions& options,
                                             const Context& context) override;
  Result<std::unique_ptr<ObjectWriter>> create(std::string_view name, const CreateOptions& options,
                                               const Context& context) override;
  Status remove(std::string_view name, const RemoveOptions& options,
                const Context& context) override;
  void read_batch(std::span<BatchRead> reads, const Context& context) override;
  bool read_batch_now(std::span<BatchRead> reads) override;
  std::optional<std::span<const std::byte>> read_now(std::string_view name,
                                                     std::span<std::byte> space,
                                                     ObjectInfo& info) override;
  std::shared_ptr<ObjectReader> open_now(std::string_view name) override;
  Result<ObjectInfo> copy(std::string_view source, std::string_view target,
                          const CreateOptions& options, const Context& context) override;
  // See LocalStore::compose().
  Result<ObjectInfo> compose(std::span<const std::string> sources, std::string_view target,
                             const CreateOptions& options, const CommitOptions& commit_options,
                             const Context& context);
  // An object, by its key, whose bytes become part of another; in this generation, if one is given.
  struct JoinSource {
    std::string key;
    std::optional<std::uint64_t> generation;
  };
  // The same as compose(), but the sources stay, and are told in which generation they were taken.
  // `record_options` go into the record. kNotFound when a source is not there in its generation.
  Result<ObjectInfo> join(std::span<JoinSource> sources, std::string_view target,
                          const CreateOptions& options, const CommitOptions& commit_options,
                          const std::map<std::string, std::string>& record_options,
                          const Context& context);

 private:
  // The reads of a batch, by the drives on which their objects are.
  struct BatchPlan {
    std::string keys;  // all, in one piece of memory
    std::vector<std::shared_ptr<Drive>> drives;
    std::vector<std::vector<BatchReader::Item>> by_drive;
  };
  BatchPlan plan_batch(Engine& engine, std::span<BatchRead> reads);
  // What a join holds until it is committed.
  struct Joining {
    const std::string& target_key;
    Durability durability;
    std::vector<FilePin> pins;
    std::vector<std::string> adopted;  // files that were made for it
  };
  // What a source adds to a record on `drive`.
  Result<Record> share_or_move(Engine& engine, const std::shared_ptr<Drive>& drive,
                               JoinSource& source, Joining& joining, const Context& context);
  std::string key_of(std::string_view name) const { return state_->name + "/" + std::string(name); }
  void read_members(Engine& engine, std::span<const BatchReader::Item> items,
                    const Context& context);
  // The engine, after checks that every call makes.
  Result<Engine*> begin(std::string_view name, const Context& context);
  // Reads and writes. `etag` was given to generation `generation` of the source.
  Result<ObjectInfo> copy_bytes(std::string_view source, std::string_view target,
                                const CreateOptions& options, const std::string& etag,
                                std::uint64_t generation, const Context& context);
  // A large source of copy() or compose(): its extents, marked as shared.
  Result<Record> share_files(Engine& engine, const std::string& key, const Context& context);
  void remove_part(Engine& engine, const std::string& key, std::uint64_t generation,
                   const Context& context);
  // With its index, if it is a shard.
  Status remove_object(Engine& engine, const std::string& key, const RemoveOptions& options,
                       const Context& context);

  const std::shared_ptr<EngineSource> store_;
  const std::shared_ptr<BucketState> state_;
  const std::string url_;
};

// Counts a change of a bucket while it is made. Refuses when the bucket is being removed.
class [[nodiscard]] BucketChange {
 public:
  static Result<BucketChange> begin(BucketState& state);
  BucketChange(BucketChange&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  BucketChange& operator=(BucketChange&&) = delete;
  ~BucketChange() {
    if (state_ != nullptr) state_->changes.fetch_sub(1);
  }

 private:
  // The reads of a batch, by the drives on which their objects are.
  struct BatchPlan {
    std::string keys;  // all, in one piece of memory
    std::vector<std::shared_ptr<Drive>> drives;
    std::vector<std::vector<BatchReader::Item>> by_drive;
  };
  BatchPlan plan_batch(Engine& engine, std::span<BatchRead> reads);
  explicit BucketChange(BucketState* state) : state_(state) {}
  BucketState* state_;
};

// The durability that a write gets.
inline Durability effective(Durability asked, const BucketState& bucket) {
  return asked == Durability::kDefault ? bucket.durability.load() : asked;
}

}  // namespace leat::local
