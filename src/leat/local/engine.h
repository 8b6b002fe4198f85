// Engine: the drives of a store as one. Finds a key on whichever drive has its newest record,
// commits changes to the drive where the key belongs, walks all keys in order, and moves records
// when drives come and go.
//
// "Settled" means that every key is on the drive where it belongs, and nowhere else: the ordinary
// state, in which one drive is asked. Otherwise all are, and the highest generation wins.
//
// Internal to local/; LocalStore is the public face. Thread-safe; maintain() for one thread.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/mutex.h"
#include "leat/base/result.h"
#include "leat/local/batch.h"
#include "leat/local/drive.h"
#include "leat/local/local_store.h"
#include "leat/local/open_objects.h"
#include "leat/local/piece_reader.h"

namespace leat::local {

// A record and the drive that it is on.
struct Located {
  Found found;
  std::shared_ptr<Drive> drive;
};

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> open(const std::vector<std::string>& directories,
                                              PackLog::Access access, const StoreOptions& options);
  // Formats the directories as drives of a new store.
  static Status format(const std::vector<std::string>& directories, const StoreOptions& options);
  ~Engine();

  const StoreOptions& options() const noexcept { return options_; }
  bool is_writable() const noexcept { return access_ == PackLog::Access::kReadWrite; }

  // See ObjectStore::read_now().
  std::optional<std::span<const std::byte>> read_now(std::string_view key,
                                                     std::span<std::byte> space, ObjectInfo& info);
  // See ObjectStore::open_now(): what keep_open() kept.
  std::shared_ptr<ObjectReader> open_now(std::string_view key);
  // For an object that is at `place`; given out while the table has exactly that there, which for
  // a small object says that its bytes were compared.
  void keep_open(std::string_view key, Place place, std::shared_ptr<ObjectReader> reader);
  // Nothing for tombstones and unknown keys. kUnavailable when a missing drive may have it.
  Result<std::optional<Located>> find(std::string_view key, ReadAlong read_along,
                                      const Context& context);

  // Call before the first change of any kind; cheap afterwards. Starts a new epoch of generations.
  Status begin_writing() EXCLUDES(writing_mutex_);
  // Where `key` is to be written.
  Result<std::shared_ptr<Drive>> home(std::string_view key) const;
  // Commits a change of a key to its home. `drive` has the record's files, if any; kUnavailable
  // when that is not the home any more.
  Status commit(const std::shared_ptr<Drive>& drive, Change& change, const Context& context);
  // The same record with its files on another drive, adopted there.
  Result<Record> copy_files(const Record& record, Drive& from, Drive& to, const Context& context);
  // Commits that there is no object by this key.
  Status remove(std::string_view key, const Precondition& precondition, Durability durability,
                const Context& context);
  // The drives that are there.
  std::vector<std::shared_ptr<Drive>> drives() const EXCLUDES(drives_mutex_);

  // Walks the visible entries of all drives in key order.
  class Cursor {
   public:
    explicit Cursor(const std::vector<std::shared_ptr<Drive>>& drives);
    Status seek(std::string_view at_or_after);
    Status next();
    bool valid() const noexcept { return valid_; }
    std::string_view key() const noexcept { return key_; }
    const CatalogueEntry& entry() const noexcept { return *entry_; }

   private:
    Status pick();
    Status skip_current();
    std::vector<std::shared_ptr<Drive>> drives_;
    std::vector<std::unique_ptr<Catalogue::Cursor>> cursors_;
    std::string key_;
    const CatalogueEntry* entry_ = nullptr;
    bool valid_ = false;
  };
  std::unique_ptr<Cursor> cursor() const { return std::make_unique<Cursor>(drives()); }

  Result<std::vector<DriveInfo>> drive_infos() const;
  Status add_drive(const std::string& directory, const Context& context);
  Status start_draining(const std::string& drive, const Context& context);
  // Calls it off: the drive takes objects again.
  Status stop_draining(const std::string& drive_id);
  // Takes a drive that is empty by now, or missing, out of the set.
  Status drop_drive(const std::string& drive_id, const Context& context);
  bool is_settled() const noexcept { return settled_.load(); }
  // kUnavailable when a drive is missing: what is listed then is not everything.
  Status check_whole() const;
  // A number that nobody else gets. REQUIRES: begin_writing().
  std::uint64_t unique_number() noexcept { return generations_.next(); }
  BatchReader& batch_reader() noexcept { return batch_reader_; }
  PieceReader& piece_reader() noexcept { return piece_reader_; }
  // The id of a drive that is named by id or directory. kNotFound.
  Result<std::string> drive_id(const std::string& drive) const;

  // One step of upkeep of any drive, or of moving records to where they belong.
  Result<bool> maintain(const Context& context);
  bool needs_maintenance() const;
  Status announce(std::string_view url);
  Status close(const Context& context);

 private:
  struct Member {
    std::string id;
    std::string directory;
    std::shared_ptr<Drive> drive;  // null when missing
    std::atomic<bool> is_draining{false};
  };
  using Members = std::vector<std::shared_ptr<const Member>>;

  Engine(PackLog::Access access, const StoreOptions& options)
      : options_(options), access_(access), open_objects_(options.open_objects) {}
  Result<std::shared_ptr<Member>> open_member(const std::string& directory);
  Status adopt_members(std::vector<std::shared_ptr<Member>> opened);
  Result<std::unique_ptr<FileLock>> lock_drive(FileSystem& files);
  Members members() const EXCLUDES(drives_mutex_);
  // Writes the set of drives into all superblocks; Settled::kNo starts the move.
  enum class Settled : bool { kNo, kYes };
  Status write_set(const std::vector<std::string>& ids, Settled settled);
  void update_settled(Settled settled);
  Status set_draining(const std::string& id, bool is_draining);

  Result<std::optional<Located>> find_newest(std::string_view key, ReadAlong read_along,
                                             const Context& context);
  Result<bool> may_be_missing(std::string_view key) const;
  Status bring_home(Change& change, const std::shared_ptr<Drive>& home, const Context& context)
      REQUIRES_SHARED(set_mutex_);
  Status move(std::string_view key, Drive& from, const std::shared_ptr<Drive>& to,
              const Context& context);
  Status import(std::string_view key, const Found& found, Drive& from,
                const std::shared_ptr<Drive>& to, const Context& context);
  Status settle_one(std::string_view key, Drive& from, const std::shared_ptr<Drive>& to,
                    const Context& context);
  Status copy_bucket_records(const Context& context);
  // Moves some records; true while there is more to do.
  Result<bool> settle_some(const Context& context);

  const StoreOptions options_;
  const PackLog::Access access_;
  GenerationSource generations_;
  PieceReader piece_reader_;
  BatchReader batch_reader_{piece_reader_};
  std::atomic<bool> settled_{true};
  OpenObjects open_objects_;

  Mutex writing_mutex_;
  std::atomic<bool> writing_{false};

  // Held by a change from the choice of its drive until it is committed there, so that no drive
  // joins or leaves in between. Taken before drives_mutex_.
  mutable SharedMutex set_mutex_;
  mutable SharedMutex drives_mutex_;
  Members members_ GUARDED_BY(drives_mutex_);
  std::vector<std::unique_ptr<FileLock>> locks_ GUARDED_BY(drives_mutex_);

  // Where the move of records is. For maintain() and the calls that change the set of drives, of
  // which LocalStore runs one at a time.
  std::size_t settle_drive_ = 0;
  std::string settle_key_;
  std::uint64_t settle_set_epoch_ = 0;
  std::uint64_t stuck_ = 0;  // damaged objects that this round could not move
};

}  // namespace leat::local
