// Catalogue: the ordered view of a drive's keys, for listings and for quick starts.
//
// The packs are the truth; the catalogue is derived from them and may be lost at any moment: then
// it is rebuilt. It consists of the newest entries in memory, in order, and of runs on disk. From
// time to time the entries in memory become a new run, and small runs are merged into larger ones,
// so that there are few. A small file, the manifest, names the runs and says up to which point of
// the log they speak (the checkpoint); from there on the log is replayed at start.
//
// Why not LMDB or RocksDB: see ARCHITECTURE.md, "The catalogue".
//
// Thread-safe. freeze(), write_frozen(), flush() and merge() are for one thread at a time (the
// drive's maintenance).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/file.h"
#include "leat/base/mutex.h"
#include "leat/base/result.h"
#include "leat/local/catalogue_entry.h"
#include "leat/local/name_table.h"
#include "leat/local/run.h"

namespace leat::local {

struct CatalogueOptions {
  // Entries in memory that make a new run worth while.
  std::uint64_t flush_entries = 64 << 10;
};

class Catalogue {
 public:
  // An empty catalogue; removes what is left of an older one.
  static Result<std::unique_ptr<Catalogue>> create(FileSystem& files,
                                                   const CatalogueOptions& options);
  // The one that is there; fills `table`. kNotFound or kCorrupted when it has to be rebuilt.
  static Result<std::unique_ptr<Catalogue>> open(FileSystem& files, const CatalogueOptions& options,
                                                 NameTable& table);

  // An empty catalogue that touches no disk, for reading a drive without changing it.
  static Result<std::unique_ptr<Catalogue>> in_memory(FileSystem& files,
                                                      const CatalogueOptions& options);

  // How far the log is covered by the runs on disk.
  Location checkpoint() const EXCLUDES(mutex_);

  // `entry.previous` is the place of the entry that this one replaces, if any.
  void put(std::string_view key, CatalogueEntry entry) EXCLUDES(mutex_);
  // The entry if it is in memory; otherwise nothing is known.
  std::optional<CatalogueEntry> find_in_memory(std::string_view key) const EXCLUDES(mutex_);

  std::uint64_t entries_in_memory() const EXCLUDES(mutex_);
  std::uint64_t disk_bytes() const EXCLUDES(mutex_);

  // Sets the entries in memory aside; later ones are kept apart.
  // REQUIRES: every record before `log_end` has been put().
  void freeze(Location log_end) EXCLUDES(mutex_);
  // Makes a run of what was set aside; the log before its `log_end` needs no replay then.
  // REQUIRES: the records of these entries are durable.
  Status write_frozen() EXCLUDES(mutex_);
  Status flush(Location log_end) EXCLUDES(mutex_) {
    freeze(log_end);
    return write_frozen();
  }
  // Merges runs if that is worth while; false when there was nothing to do.
  Result<bool> merge() EXCLUDES(mutex_);

  class Cursor;
  // Walks all entries in key order, tombstones too; sees changes made while it walks, or not.
  std::unique_ptr<Cursor> cursor() const;

 private:
  using Entries = std::map<std::string, CatalogueEntry, std::less<>>;
  struct Snapshot {
    std::vector<std::shared_ptr<const Run>> runs;
    std::uint64_t layout = 0;
  };

  Catalogue(FileSystem& files, const CatalogueOptions& options)
      : files_(files), options_(options) {}
  Status write_manifest(const std::vector<std::shared_ptr<const Run>>& runs, Location checkpoint);
  Status remove_unlisted_files() EXCLUDES(mutex_);
  Result<std::string> next_run_path();
  // A new run with what `fill` adds to it; nothing is left of it after an error.
  Result<std::shared_ptr<const Run>> make_run(const std::function<Status(RunWriter&)>& fill);
  static Status merge_runs(std::span<const std::shared_ptr<const Run>> runs, RunWriter& writer);
  // Up to `limit` entries in memory from `from` on; nothing if the layout is not `layout` any more.
  std::optional<std::vector<std::pair<std::string, CatalogueEntry>>> copy_from_memory(
      std::string_view from, bool inclusive, std::size_t limit, std::uint64_t layout) const
      EXCLUDES(mutex_);
  Snapshot snapshot() const EXCLUDES(mutex_);

  FileSystem& files_;
  const CatalogueOptions options_;
  // Touched by write_frozen() and merge() only; 0 until the directory was looked at.
  std::uint64_t next_run_ = 0;

  mutable Mutex mutex_;
  Entries active_ GUARDED_BY(mutex_);
  std::shared_ptr<const Entries> frozen_ GUARDED_BY(mutex_);         // to be written
  Location frozen_end_ GUARDED_BY(mutex_);                           // of the log, for frozen_
  std::vector<std::shared_ptr<const Run>> runs_ GUARDED_BY(mutex_);  // oldest first
  Location checkpoint_ GUARDED_BY(mutex_);
  // Counts the moves of entries between memory and runs, by which a cursor knows it must look anew.
  std::uint64_t layout_ GUARDED_BY(mutex_) = 0;
};

class Catalogue::Cursor {
 public:
  explicit Cursor(const Catalogue& catalogue) : catalogue_(catalogue) {}

  Status seek(std::string_view at_or_after);
  bool valid() const noexcept { return valid_; }
  std::string_view key() const noexcept { return key_; }
  const CatalogueEntry& entry() const noexcept { return entry_; }
  Status next();

 private:
  Status start(std::string_view from, bool inclusive);
  Status refill();
  Status pick();

  const Catalogue& catalogue_;
  std::vector<RunCursor> runs_;  // oldest first
  std::uint64_t layout_ = 0;
  std::vector<std::pair<std::string, CatalogueEntry>> memory_;
  std::size_t memory_at_ = 0;
  bool memory_complete_ = false;  // memory_ reaches to the end
  std::string key_;
  CatalogueEntry entry_;
  bool valid_ = false;
};

}  // namespace leat::local
