// PackLog: the packs of a drive, as one log that many threads append to.
//
// commit() is the drive's only commit point. Threads that commit at the same time form a group:
// one of them, the leader, gives each record its generation and place, writes the group with one
// call, syncs it once, and publishes it. The first header of a group is written after everything
// else of the group, into a file of zeros, so that a pack is a valid tar file at every instant at
// which the process may die. After a power cut, recover() cuts off what was not yet durable.
//
// A failed write or sync fails the whole group. A failed write is undone; after a failed sync the
// log goes on in a new pack: nothing is known of pages that a sync could not write. Only when the
// disk is full, those of the group that give space back are tried once more, with the reserve's
// room.
//
// Thread-safe. No lock is held over I/O.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/file.h"
#include "leat/base/futex.h"
#include "leat/base/mutex.h"
#include "leat/base/result.h"
#include "leat/local/catalogue_entry.h"
#include "leat/local/pack.h"
#include "leat/local/record.h"
#include "leat/local/reserve.h"

namespace leat::local {

// One record on its way into the log.
struct Change {
  Change(Record change_record, std::span<const std::byte> data);
  // A record that exists, read from `from`, to be written again so that its pack can go.
  Change(Pack::Head head, std::vector<std::byte> bytes, Location from);

  // What to write.
  Record record;
  EncodedRecord encoded;
  std::uint64_t hash = 0;  // of record.key
  Precondition precondition;
  bool wait_for_disk = true;
  // It gives back more than it takes: on a full disk it is written in the room of the reserve.
  bool frees_space = false;
  // A record that exists already, on this drive (at moved_from) or on another: it is as old as its
  // generation says, and a newer one wins over it.
  bool keeps_generation = false;
  Location moved_from;
  // What another drive has of the key and could not give up, because it is damaged.
  std::optional<ObjectInfo> damaged_elsewhere;

  // Set by PackLog and its listener. `entry.previous` is the place that this change replaces.
  CatalogueEntry entry;
  std::vector<Extent> freed;  // files that nobody needs once this change is published
  Status result = ok_status();
};

// Marks, among the options of a kReference, that its files may belong to other records, too.
inline constexpr std::string_view kSharedOption = "shared";

Place place_of(const Record& record, Location location, std::uint64_t length_bytes);
// What the catalogue keeps of a record that stands at `place`.
CatalogueEntry catalogue_entry(const Record& record, Place place);

struct PackLogOptions {
  std::uint64_t salt = 0;  // see Pack
  std::uint64_t pack_bytes = std::uint64_t{1} << 30;
  std::uint64_t preallocate_bytes = 4 << 20;
  std::size_t group_records = 1024;
  std::uint64_t group_bytes = 16 << 20;
  std::uint64_t reserve_bytes = 4 << 20;  // see Reserve
};

class PackLog {
 public:
  // The drive, as the log sees it. Called by one thread at a time, the leader of a group.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual std::uint64_t next_generation() = 0;
    // Checks the change's precondition and finds what it replaces. An error refuses the change.
    virtual Status prepare(Change& change) = 0;
    // Makes changes that are in the log visible.
    virtual void publish(std::span<Change* const> changes) = 0;
  };

  enum class Access : std::uint8_t { kReadWrite, kReadOnly };

  PackLog(FileSystem& files, const PackLogOptions& options, Listener& listener)
      : files_(files),
        options_(options),
        listener_(listener),
        reserve_(files, options.reserve_bytes) {}

  // What recovery found apart from records.
  struct Damage {
    Location location;
    std::uint64_t length_bytes = 0;
    std::string what;
  };
  struct Recovered {
    std::vector<Damage> damages;
    std::uint64_t torn_bytes = 0;  // cut off the end of the log
  };
  // Opens the packs and visits every record from `checkpoint` on, in the order of the log.
  // The bytes of objects that may have been written by the last group are checked.
  // To be called once, before anything else.
  using Visit = std::function<Status(const Record& record, Place place)>;
  Result<Recovered> recover(Location checkpoint, Access access, const Visit& visit);

  // Returns when the change is in the log, durable if it asked for that, and published.
  Status commit(Change& change, const Context& context) EXCLUDES(mutex_);
  // Several changes, not atomic together. Each has its result; the first error is returned.
  Status commit(std::span<Change> changes, const Context& context) EXCLUDES(mutex_);

  // Null when the pack is gone.
  std::shared_ptr<Pack> pack(std::uint32_t id) const EXCLUDES(packs_mutex_);
  std::vector<std::shared_ptr<Pack>> packs() const EXCLUDES(packs_mutex_);
  // Where the next record will stand. Everything before it is published when no commit runs.
  Location end() const EXCLUDES(mutex_);
  std::uint32_t active_pack() const { return end().pack; }
  // Whether records are being appended to this pack.
  bool is_active(std::uint32_t id) const EXCLUDES(packs_mutex_) {
    ReaderLock lock(packs_mutex_);
    return id == active_id_;
  }
  // Ends the active pack, so that it may be compacted.
  Status seal_active(const Context& context) EXCLUDES(mutex_);
  // Removes a pack; readers that hold it keep their bytes.
  Status remove_pack(std::uint32_t id) EXCLUDES(packs_mutex_);
  // Syncs what was committed without waiting for the disk.
  Status sync() EXCLUDES(mutex_);
  Reserve& reserve() noexcept { return reserve_; }

 private:
  struct Waiter {
    Change* change = nullptr;
    std::atomic<std::size_t>* pending = nullptr;  // of one commit(): changes that are not done yet
  };
  enum class Exclusive : std::uint8_t { kSeal, kSync };

  void lead() REQUIRES(mutex_);
  void await_returning() REQUIRES(mutex_);
  std::vector<Waiter> take_group() REQUIRES(mutex_);
  void withdraw(std::atomic<std::size_t>& pending, const Error& reason) EXCLUDES(mutex_);
  void run_group(std::span<const Waiter> group) EXCLUDES(mutex_);
  void refuse_what_needs_space(std::vector<Change*>& changes, const Error& reason);
  Status write_group(std::span<Change* const> changes) EXCLUDES(mutex_);
  Status make_room(std::uint64_t bytes);
  Status start_pack();
  Status seal();
  Status finish_sealing() EXCLUDES(packs_mutex_);
  bool erase_after_end();
  Status run_exclusively(Exclusive action) EXCLUDES(mutex_);

  Status open_packs(Access access);
  // Everything before `durable_bytes` is known to have been durable. Returns where the log ends.
  Result<std::uint64_t> scan_pack(Pack& pack, std::uint64_t from_bytes, std::uint64_t durable_bytes,
                                  const Visit& visit, Recovered& recovered);
  Status cut_tail(Pack& pack, std::uint64_t end_bytes, Recovered& recovered);
  Status keep_torn(std::uint32_t pack_id, std::uint64_t offset, std::span<const std::byte> bytes);

  FileSystem& files_;
  const PackLogOptions options_;
  Listener& listener_;
  Reserve reserve_;

  // The writing end: touched by the leader only, and by recover().
  std::shared_ptr<Pack> active_;
  std::shared_ptr<Pack> unsealed_;  // came before it; its end is not on the disk yet
  std::uint64_t end_bytes_ = 0;
  std::uint64_t allocated_bytes_ = 0;
  std::uint64_t zeroed_bytes_ = 0;   // up to here zeros were written, not only allocated
  std::uint64_t durable_bytes_ = 0;  // of the active pack
  std::uint32_t last_pack_id_ = 0;
  std::chrono::nanoseconds sync_time_{0};  // of the last group; 0 when it did not sync

  mutable Mutex mutex_;
  std::vector<Waiter> queue_ GUARDED_BY(mutex_);
  bool has_leader_ GUARDED_BY(mutex_) = false;
  FutexCounter turns_;  // of leaders that have ended
  // How many changes are likely to come: those of the last group and those that came meanwhile.
  std::size_t expected_ GUARDED_BY(mutex_) = 0;
  Location end_ GUARDED_BY(mutex_);

  mutable SharedMutex packs_mutex_;
  std::map<std::uint32_t, std::shared_ptr<Pack>> packs_ GUARDED_BY(packs_mutex_);
  std::uint32_t active_id_ GUARDED_BY(packs_mutex_) = 0;  // of active_, for other threads; or 0
};

}  // namespace leat::local
