// Pack: one tar file of the log, open for reading (and, while it is the active one, appending).
//
// Whoever reads holds it by shared_ptr: a pack that compaction has removed keeps its bytes until
// its last reader is gone. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "leat/base/file.h"
#include "leat/base/mutex.h"
#include "leat/base/result.h"
#include "leat/local/location.h"
#include "leat/local/record.h"

namespace leat::local {

std::string pack_path(std::uint32_t id);
// The number of a pack's file name; nothing for other files.
std::optional<std::uint32_t> pack_id_of(std::string_view file_name);

class Pack {
 public:
  // `salt` sets the positions of this drive's blocks apart from those of all others.
  Pack(std::uint32_t id, std::uint64_t salt, std::unique_ptr<File> file)
      : id_(id), salt_(salt), file_(std::move(file)) {}
  ~Pack();
  Pack(const Pack&) = delete;
  Pack& operator=(const Pack&) = delete;

  std::uint32_t id() const noexcept { return id_; }
  File& file() const noexcept { return *file_; }
  // The position of the block at `offset`, as record.h wants it.
  std::uint64_t position(std::uint64_t offset) const noexcept {
    return salt_ + (std::uint64_t{id_} << 32) + offset / kBlockBytes;
  }
  // Where the records end. Grows while the pack is active.
  std::uint64_t end_bytes() const noexcept { return end_bytes_.load(std::memory_order_acquire); }
  void set_end_bytes(std::uint64_t end_bytes) noexcept {
    end_bytes_.store(end_bytes, std::memory_order_release);
  }
  // Bytes of records that are the newest of their key: what compaction would have to move.
  std::uint64_t live_bytes() const noexcept { return live_bytes_.load(std::memory_order_relaxed); }
  // Of these, tombstones.
  std::uint64_t tombstone_bytes() const noexcept {
    return tombstone_bytes_.load(std::memory_order_relaxed);
  }
  void set_live_bytes(std::uint64_t live_bytes, std::uint64_t tombstone_bytes) noexcept {
    live_bytes_.store(live_bytes, std::memory_order_relaxed);
    tombstone_bytes_.store(tombstone_bytes, std::memory_order_relaxed);
  }
  void add_live(Place place) noexcept {
    live_bytes_.fetch_add(place.counted_bytes(), std::memory_order_relaxed);
    if (place.is_tombstone())
      tombstone_bytes_.fetch_add(place.counted_bytes(), std::memory_order_relaxed);
  }
  void remove_live(Place place) noexcept {
    live_bytes_.fetch_sub(place.counted_bytes(), std::memory_order_relaxed);
    if (place.is_tombstone())
      tombstone_bytes_.fetch_sub(place.counted_bytes(), std::memory_order_relaxed);
  }
  // Holds a damaged record that something refers to: not to be removed.
  bool is_damaged() const noexcept { return damaged_.load(std::memory_order_relaxed); }
  void set_damaged() noexcept { damaged_.store(true, std::memory_order_relaxed); }

  // The pack as memory, for the kernel to copy from in one call for many records. NEVER to be
  // dereferenced: a page that the disk cannot give would be a SIGBUS here, but is an EFAULT there.
  // Null when it cannot be mapped. The mapping covers [0, length).
  struct Mapping {
    const std::byte* data = nullptr;
    std::uint64_t length = 0;
  };
  Mapping mapping(std::uint64_t at_least_bytes) EXCLUDES(mutex_);

  // Reads and decodes the record at `offset` (its head; not the bytes of an object).
  struct Head {
    Record record;
    std::uint32_t durable_block = 0;  // as in the stamp
    std::uint64_t head_bytes = 0;
    std::uint64_t length_bytes = 0;
  };
  Result<Head> read_head(std::uint64_t offset) const;
  // The whole record, checked against its checksums.
  Result<std::vector<std::byte>> read_whole(std::uint64_t offset, const Head& head) const;

 private:
  const std::uint32_t id_;
  const std::uint64_t salt_;
  const std::unique_ptr<File> file_;
  std::atomic<std::uint64_t> end_bytes_{0};
  std::atomic<std::uint64_t> live_bytes_{0};
  std::atomic<std::uint64_t> tombstone_bytes_{0};
  std::atomic<bool> damaged_{false};
  Mutex mutex_;
  // A pack grows and is mapped again; older mappings stay until the end, for those who use them.
  std::vector<Mapping> mappings_ GUARDED_BY(mutex_);
  std::atomic<const std::byte*> mapped_{nullptr};
  std::atomic<std::uint64_t> mapped_bytes_{0};
};

// Walks the records of a pack from `from_bytes` on. `record` gets each head and its offset;
// `damage` gets a stretch without a readable record, after which the walk goes on at the next
// readable one. Where a record cannot be read, it is damaged if it lies before `durable_bytes`, or
// if a later record says that it was durable once; otherwise the log ends there. Returns where.
struct PackWalk {
  std::function<Status(std::uint64_t offset, Pack::Head& head)> record;
  std::function<Status(std::uint64_t offset, std::uint64_t length, const std::string& what)> damage;
};
Result<std::uint64_t> walk_pack(const Pack& pack, std::uint64_t from_bytes,
                                std::uint64_t durable_bytes, const PackWalk& walk);

}  // namespace leat::local
