// Drive: one directory, usually one disk, with everything that is known of what it holds.
//
//   PackLog    the truth: every change, in order
//   NameTable  from a key's hash to its newest record, in memory
//   Catalogue  the keys in order
//   objects/   the bytes of large objects, as plain files
//
// A change goes through the log and is visible afterwards; a lookup asks the table and reads the
// record. The drive knows keys ("bucket/name"), not buckets; which keys are its own is decided by
// the store above.
//
// Thread-safe. maintain() may run beside everything else, but only once at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/file.h"
#include "leat/base/mutex.h"
#include "leat/base/result.h"
#include "leat/local/catalogue.h"
#include "leat/local/name_table.h"
#include "leat/local/pack_log.h"
#include "leat/local/record.h"
#include "leat/local/record_cache.h"
#include "leat/local/superblock.h"

namespace leat::local {

struct DriveOptions {
  PackLogOptions log;
  CatalogueOptions catalogue;
  // A sealed pack is compacted when less than this part of it is live.
  double compact_below = 0.5;
  // Bytes a second that compaction reads; 0: as fast as it can.
  std::uint64_t compact_bytes_per_second = 64 << 20;
  // Memory for small objects that batches read; see RecordCache. 0: none.
  std::uint64_t record_cache_bytes = 64 << 20;
};

// Gives out the generations of a store. Lock-free.
class GenerationSource {
 public:
  void start(std::uint64_t first) noexcept { next_.store(first, std::memory_order_relaxed); }
  std::uint64_t next() noexcept { return next_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> next_{1};
};

// A record that was looked up, and what keeps its bytes alive.
struct Found {
  Record record;  // the key is empty: whoever asked knows it
  Place place;
  std::shared_ptr<Pack> pack;
  std::uint64_t data_offset = 0;  // of an object's bytes in the pack
  // The object's bytes when they were read along with the record.
  std::shared_ptr<const std::byte[]> data;

  bool is_tombstone() const noexcept { return record.kind == RecordKind::kDelete; }
};

// How much of a small object a lookup reads along.
enum class ReadAlong : std::uint8_t { kNothing, kSmallObjects };

// Which blocks of a large object were compared with their checksums. Thread-safe.
class BlockMarks {
 public:
  explicit BlockMarks(std::size_t blocks) : marks_(blocks) {}
  bool is_checked(std::uint64_t block) const noexcept {
    return marks_[block].load(std::memory_order_relaxed) != 0;
  }
  void set_checked(std::uint64_t block) noexcept {
    marks_[block].store(1, std::memory_order_relaxed);
  }
  void set_unchecked(std::uint64_t block) noexcept {
    marks_[block].store(0, std::memory_order_relaxed);
  }

 private:
  std::vector<std::atomic<std::uint8_t>> marks_;
};

class Drive;

// Keeps files of large objects from being removed while a reader needs their names.
class [[nodiscard]] FilePin {
 public:
  FilePin(Drive& drive, std::vector<std::string> paths)
      : drive_(&drive), paths_(std::move(paths)) {}
  FilePin(FilePin&& other) noexcept
      : drive_(std::exchange(other.drive_, nullptr)), paths_(std::move(other.paths_)) {}
  FilePin& operator=(FilePin&&) = delete;
  ~FilePin();

 private:
  Drive* drive_;
  std::vector<std::string> paths_;
};

class Drive final : private PackLog::Listener {
 public:
  // REQUIRES: the superblock was read from `files`. `generations` outlives the drive.
  static Result<std::unique_ptr<Drive>> open(std::unique_ptr<FileSystem> files,
                                             Superblock superblock, PackLog::Access access,
                                             const DriveOptions& options,
                                             GenerationSource& generations);
  // Makes the directories of a new drive and writes its superblock.
  static Status format(FileSystem& files, const Superblock& superblock);
  ~Drive() override;

  FileSystem& files() const noexcept { return *files_; }
  const std::string& id() const noexcept { return drive_id_; }
  Superblock superblock() const EXCLUDES(superblock_mutex_);
  Status update_superblock(const std::function<void(Superblock&)>& change)
      EXCLUDES(superblock_mutex_);

  // The newest record of a key, tombstones too; nothing when there is none. The bytes of a small
  // object are checked the first time that this process reads them.
  Result<std::optional<Found>> find(std::string_view key, ReadAlong read_along,
                                    const Context& context);
  std::unique_ptr<Catalogue::Cursor> cursor() const { return catalogue_->cursor(); }

  // Commits and then gives back the space of what was replaced.
  Status commit(Change& change, const Context& context);
  Status commit(std::span<Change> changes, const Context& context);

  // A file for an object that is being written.
  Result<std::string> temporary_path();
  // Moves it to its place in the tree, syncs it if wanted, and returns the path there.
  // end_adoption() follows when the record that refers to it is committed, or failed to be.
  Result<std::string> adopt_file(const std::string& temporary_path, File& file,
                                 std::string_view key, Durability durability)
      EXCLUDES(files_mutex_);
  void end_adoption(const std::string& path) EXCLUDES(files_mutex_);
  // After a commit that failed. If the log may still turn out to have the record, the file stays
  // until the next start, which knows.
  void discard_adopted(const std::string& path, ErrorCode reason);
  // Opens a file of an extent for reading.
  Result<std::unique_ptr<File>> open_extent(const std::string& path);
  // The files stay until the pin goes, even if their object is removed meanwhile.
  FilePin pin_files(std::span<const Extent> extents) EXCLUDES(files_mutex_);
  // What is known of a large object's blocks.
  std::shared_ptr<BlockMarks> block_marks(const Record& record) EXCLUDES(marks_mutex_);

  // Compares the bytes of a small object with their checksum, unless that was done before.
  Status check_data(std::string_view key, const Found& found, std::span<const std::byte> data);
  // Notes that a large object is damaged; returns what to tell the reader.
  Error damaged_file(std::string_view key, std::string_view path, std::string_view what);

  // One step of upkeep: a checkpoint, a merge, the compaction of a pack. False: nothing to do.
  Result<bool> maintain(const Context& context);
  bool needs_maintenance() const;
  // Writes a checkpoint and marks the drive clean.
  Status close(const Context& context);
  // Compacts every pack that holds anything dead, the active one too.
  Status compact_all(const Context& context);
  // Whether tombstones may be dropped once nothing on this drive needs them: all drives are there
  // and hold no key twice.
  void set_tombstones_droppable(bool droppable) { tombstones_droppable_.store(droppable); }

  // What was found damaged since the drive was opened.
  std::vector<PackLog::Damage> damages() const EXCLUDES(damage_mutex_);
  void report_damage(PackLog::Damage damage) EXCLUDES(damage_mutex_);

  struct Usage {
    std::uint64_t objects = 0;  // and tombstones
    std::uint64_t pack_bytes = 0;
    std::uint64_t dead_bytes = 0;  // of packs
    std::uint64_t catalogue_bytes = 0;
    std::uint64_t table_bytes = 0;  // in memory
    std::uint64_t temporary_bytes = 0;
  };
  Result<Usage> usage() const;
  PackLog& log() noexcept { return log_; }
  // False in a forked child, where another process may change the files.
  bool is_writable() const noexcept { return access_ == PackLog::Access::kReadWrite; }
  RecordCache& record_cache() noexcept { return record_cache_; }
  // Walks over large files that no record refers to and removes them; returns their bytes.
  Result<std::uint64_t> remove_orphans(const Context& context);
  // Reads all of the catalogue; kCorrupted when a part of it is damaged.
  Status check_catalogue(const Context& context);
  // Forgets the catalogue, so that the next opening rebuilds it from the packs.
  Status discard_catalogue();

  // Remembers what was learned of the record at `place`.
  void mark_learned(std::string_view key, Place place) EXCLUDES(table_mutex_);
  // Where records of a key with this hash are.
  NameTable::Matches places(std::uint64_t hash) const {
    ReaderLock lock(table_mutex_);
    return table_.find(hash);
  }
  // See ObjectStore::read_now(): a small object that was compared before and is in memory.
  std::optional<std::span<const std::byte>> read_now(std::string_view key,
                                                     std::span<std::byte> space, ObjectInfo& info);
  // For read_batch(): what find() makes of `count` bytes that were read at `place`; and the places
  // of many keys at once.
  Result<std::optional<Found>> interpret(std::string_view key, std::string_view path, Place place,
                                         std::shared_ptr<Pack> pack,
                                         std::shared_ptr<const std::byte[]> bytes,
                                         std::uint64_t count);
  void find_places(std::span<const std::uint64_t> hashes,
                   std::span<NameTable::Matches> matches) const EXCLUDES(table_mutex_);

 private:
  Drive(std::unique_ptr<FileSystem> files, Superblock superblock, PackLog::Access access,
        const DriveOptions& options, GenerationSource& generations);
  Status load();
  bool has_full_overlay() const;
  Status replay(const Record& record, Place place);
  Status forget_missing_packs() EXCLUDES(table_mutex_);
  Status load_shared_files();
  Status clean_temporary();
  Status checkpoint();

  // PackLog::Listener
  std::uint64_t next_generation() override { return generations_.next(); }
  Status prepare(Change& change) override;
  void publish(std::span<Change* const> changes) override;

  void find_freed_files(const CatalogueEntry& replaced, Change& change) const;

  // The newest entry of a key, with a read of the record only if it is not in memory.
  Result<std::optional<CatalogueEntry>> find_entry(std::string_view key, std::uint64_t hash);
  // The same from the ordered catalogue alone, for records that cannot be read.
  Result<std::optional<CatalogueEntry>> find_in_catalogue(std::string_view key);
  void apply(std::string_view key, std::uint64_t hash, CatalogueEntry entry)
      EXCLUDES(changes_mutex_, table_mutex_);
  void forget(std::string_view key, std::uint64_t hash, Place place)
      EXCLUDES(changes_mutex_, table_mutex_);
  bool has_place(std::uint64_t hash, Place place) const EXCLUDES(table_mutex_);

  Result<std::optional<Found>> read_found(std::string_view key, std::string_view path, Place place,
                                          std::shared_ptr<Pack> pack, ReadAlong read_along);
  Result<std::optional<Found>> read_found_slowly(std::string_view key, Place place,
                                                 std::shared_ptr<Pack> pack);

  std::uint64_t room_to_compact() const;
  Status compact(Pack& pack, const Context& context);
  std::optional<std::uint32_t> pick_pack() const;
  std::optional<Place> newest_place(std::string_view key, Location location) const
      EXCLUDES(table_mutex_);
  Result<bool> is_tombstone_needed(std::string_view key, std::uint32_t pack_id);
  Result<const std::vector<std::uint32_t>*> names_of(const Pack& pack);

  void add_references(std::span<const Extent> extents) EXCLUDES(files_mutex_);
  void release_files(std::span<const Extent> extents) EXCLUDES(files_mutex_);
  Status sync_directories(std::string_view path) EXCLUDES(files_mutex_);
  void remove_object_file(const std::string& path);
  void remove_empty_directories(std::string_view path);
  void claim_files(std::span<const Extent> extents) EXCLUDES(files_mutex_);
  void unclaim(const std::string& path) REQUIRES(files_mutex_);
  friend class FilePin;
  void unpin_files(std::span<const std::string> paths) EXCLUDES(files_mutex_);
  Result<bool> is_referred_to(const std::string& path, const Context& context)
      EXCLUDES(files_mutex_);

  std::unique_ptr<FileSystem> files_;
  const std::string drive_id_;
  const PackLog::Access access_;
  const DriveOptions options_;
  GenerationSource& generations_;
  PackLog log_;
  RecordCache record_cache_;
  std::unique_ptr<Catalogue> catalogue_;
  std::atomic<std::uint64_t> next_temporary_{1};
  std::atomic<bool> tombstones_droppable_{false};
  std::atomic<bool> may_have_orphans_{false};     // to be looked for at the next start
  std::atomic<bool> sweep_is_due_{false};         // to be looked for now
  std::atomic<bool> catalogue_discarded_{false};  // it must not be written again
  // A record that cannot be read may refer to any file that is shared: these stay.
  std::atomic<bool> shared_files_uncertain_{false};
  // The active pack when a pack with objects was last removed: tombstones in packs up to it may
  // have become superfluous.
  std::atomic<std::uint32_t> newest_removed_pack_{0};
  std::map<std::uint32_t, std::vector<std::uint32_t>> pack_names_;  // maintain() only

  mutable SharedMutex table_mutex_;
  NameTable table_ GUARDED_BY(table_mutex_);

  mutable Mutex superblock_mutex_;
  Superblock superblock_ GUARDED_BY(superblock_mutex_);

  Mutex files_mutex_;
  // Files that more than one record may refer to, with the number of those that do.
  std::unordered_map<std::string, std::uint32_t> shared_files_ GUARDED_BY(files_mutex_);
  struct Pins {
    std::uint32_t count = 0;
    bool is_doomed = false;  // nothing but pins keeps it
  };
  std::unordered_map<std::string, Pins> pinned_files_ GUARDED_BY(files_mutex_);
  // Directories of the tree whose names are known to be durable.
  std::set<std::string, std::less<>> durable_directories_ GUARDED_BY(files_mutex_);
  // Files that somebody is at work with, so that nobody else takes or removes them: those in their
  // place whose record is not committed yet, and those whose record is gone and that are not yet.
  std::unordered_map<std::string, std::uint32_t> claimed_files_ GUARDED_BY(files_mutex_);

  Mutex marks_mutex_;
  std::map<std::uint64_t, std::shared_ptr<BlockMarks>> marks_
      GUARDED_BY(marks_mutex_);  // by generation

  mutable Mutex damage_mutex_;
  std::vector<PackLog::Damage> damages_ GUARDED_BY(damage_mutex_);

  Mutex changes_mutex_;  // the catalogue and the table change together
};

}  // namespace leat::local
