// LocalStore: objects in buckets on the drives of one machine. The public face of local/.
//
// A store is one or more drives (directories, one per disk). Each key lives on one of them, chosen
// by rendezvous hashing; while drives come and go a key may be elsewhere, and then all are asked
// and the highest generation wins. A bucket is an ObjectStore; doors and commands use that.
//
// One process owns a store at a time, by a lock in each drive. A forked child may go on reading
// through the same handles: they notice, and open the drives anew, for reading only.
//
// Thread-safe. Starts one background thread, for upkeep, with the first change.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/file.h"
#include "leat/base/result.h"
#include "leat/local/drive.h"
#include "leat/local/uploads.h"
#include "leat/shard/shard_index.h"
#include "leat/store/object_store.h"

namespace leat::local {

struct BucketOptions {
  Durability durability = Durability::kDisk;  // of writes that do not say; never kDefault
};

struct BucketInfo {
  std::string name;
  BucketOptions options;
  std::int64_t created_ns = 0;
};

struct DriveInfo {
  std::string id;
  std::string directory;  // empty when the drive is missing
  bool is_missing = false;
  bool is_draining = false;
  Drive::Usage usage;
  SpaceStatus space;
};

// A tar with the index of its members.
struct StoredShard {
  std::uint64_t generation = 0;
  std::shared_ptr<const ShardIndex> index;
};

struct StoreOptions {
  DriveOptions drive;
  // Objects up to this size are packed; larger ones are files of their own.
  std::uint64_t small_object_bytes = 256 << 10;
  // Large objects that are kept open after they were read; each holds a descriptor.
  std::size_t open_objects = 256;
  // Memory for the indexes of shards that were used lately.
  std::uint64_t shard_index_cache_bytes = 256 << 20;
  enum class Upkeep : std::uint8_t { kInBackground, kWhenAsked };
  Upkeep upkeep = Upkeep::kInBackground;
  // The scrub: while the store is open, everything is compared with its checksums in the
  // background, at this pace, again and again. 0: never; then there is verify().
  std::uint64_t scrub_bytes_per_second = 0;
  std::chrono::milliseconds scrub_pause = std::chrono::hours(7 * 24);  // between two rounds
  // How long to wait for another process that owns the store, unless that one serves it.
  std::chrono::milliseconds lock_patience{10'000};
  Context opening;  // may end that wait early
  const Clock* clock = &Clock::system();
  // How a drive's directory is reached, and how new ids are made; replaced in tests.
  std::function<Result<std::unique_ptr<FileSystem>>(const std::string& directory)> open_directory =
      FileSystem::posix;
  std::function<Result<std::string>()> make_id = random_id;
};

// What verify() found. Names are "bucket/name" as people write them.
struct VerifyReport {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  struct Damaged {
    std::string name;  // empty when not even that is known
    std::string what;
    bool repaired = false;
  };
  std::vector<Damaged> damaged;
  std::uint64_t orphan_bytes = 0;  // of files that nothing refers to; removed when repairing
  bool ok() const {
    for (const Damaged& item : damaged) {
      if (!item.repaired) return false;
    }
    return true;
  }
};

struct VerifyOptions {
  bool repair = false;
  std::uint64_t bytes_per_second = 0;  // 0: as fast as it can
  // Called now and then with what was done so far.
  std::function<void(const VerifyReport&)> progress;
};

// How far the scrub is.
struct ScrubStatus {
  std::uint64_t rounds = 0;   // that came to their end
  std::int64_t ended_ns = 0;  // when the last one did
  VerifyReport last;          // what it found
};

class LocalStore : public std::enable_shared_from_this<LocalStore> {
 public:
  // Opens the store on `directories`: all of its drives, or those that are there. Without drives
  // there: kNotFound. kBusy when another process owns it; the message says which.
  static Result<std::shared_ptr<LocalStore>> open(const std::vector<std::string>& directories,
                                                  const StoreOptions& options);
  // Makes a new store. kAlreadyExists if one of the directories holds one. The directories are
  // made when missing.
  static Result<std::shared_ptr<LocalStore>> create(const std::vector<std::string>& directories,
                                                    const StoreOptions& options);
  // Whether a directory is a drive of some store.
  static Result<bool> is_drive(const std::string& directory, const StoreOptions& options);

  virtual ~LocalStore() = default;
  LocalStore(const LocalStore&) = delete;
  LocalStore& operator=(const LocalStore&) = delete;

  // Stops upkeep, writes a checkpoint and gives the store back. Every other call fails afterwards.
  // The destructor closes too, but cannot tell of errors.
  virtual Status close(const Context& context) = 0;

  // Tells others, in the lock, under which URL this process serves the store.
  virtual Status announce(std::string_view url) = 0;

  // Bucket names have 3 to 63 characters: a-z 0-9 . _ -, a letter or a digit first.
  virtual Status create_bucket(std::string_view name, const BucketOptions& options,
                               const Context& context) = 0;
  virtual Status set_bucket(std::string_view name, const BucketOptions& options,
                            const Context& context) = 0;
  // kPreconditionFailed when it is not empty.
  virtual Status remove_bucket(std::string_view name, const Context& context) = 0;
  virtual Result<std::vector<BucketInfo>> list_buckets(const Context& context) = 0;
  // kNotFound when there is no such bucket.
  virtual Result<std::shared_ptr<ObjectStore>> bucket(std::string_view name) = 0;

  // Makes `target` of `bucket` from the bytes of `sources`, objects of the same bucket, one after
  // another, and removes those. Large sources give their files; nothing is copied.
  virtual Result<ObjectInfo> compose(std::string_view bucket, std::span<const std::string> sources,
                                     std::string_view target, const CreateOptions& options,
                                     const CommitOptions& commit_options,
                                     const Context& context) = 0;

  // The uploads of a bucket: objects that come in parts. kNotFound when there is no such bucket.
  virtual Result<std::shared_ptr<Uploads>> uploads(std::string_view bucket) = 0;

  // Where the members of a shard lie in it. kNotFound when there is none by that name.
  virtual Result<StoredShard> shard(std::string_view bucket, std::string_view name,
                                    const Context& context) = 0;

  // Drives.
  virtual Result<std::vector<DriveInfo>> drives() = 0;
  // Adds an empty directory as a drive; objects move there in the background.
  virtual Status add_drive(const std::string& directory, const Context& context) = 0;
  // Moves everything off a drive (by directory or id), then takes it out of the store. A drive
  // that is missing is given up: what it held is lost.
  virtual Status remove_drive(const std::string& drive, const Context& context) = 0;
  // Waits until every object is on the drive where it belongs.
  virtual Status settle(const Context& context) = 0;

  // Reads everything and compares it with its checksums.
  virtual Result<VerifyReport> verify(const VerifyOptions& options, const Context& context) = 0;
  virtual ScrubStatus scrub_status() const = 0;
  // Gives back all space that can be had, now.
  virtual Status compact(const Context& context) = 0;
  // One round of upkeep, for Upkeep::kWhenAsked; false when there was nothing to do.
  virtual Result<bool> maintain(const Context& context) = 0;

 protected:
  LocalStore() = default;
};

inline constexpr std::size_t kMaxBucketNameBytes = 63;
Status check_bucket_name(std::string_view name);

}  // namespace leat::local
