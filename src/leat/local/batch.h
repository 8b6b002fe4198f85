// BatchReader: many small objects with few system calls.
//
// A mini-batch is a few hundred small reads at random places. Three ways lead to them:
//
//   cached  The drive's RecordCache has the bytes: no system call at all.
//   warm    The records were compared with their checksums before and are in the page cache. The
//           packs are mapped, and one pwritev() into a memory file lets the kernel gather all
//           records; nothing of ours dereferences a mapped pack, so a page that the disk cannot
//           give is an error code here and not a signal. Prefetching their lines first hides a
//           part of the memory's latency.
//   cold    Reads in the order of the disk, neighbours joined, all under way at once by io_uring.
//
// What fits none (shards' members, large objects, odd names, a store that is not settled) is left
// to the caller. Thread-safe; the buffers of a batch are reused.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "leat/base/mutex.h"
#include "leat/local/drive.h"
#include "leat/local/piece_reader.h"
#include "leat/store/object_store.h"

namespace leat::local {

class BatchReader {
 public:
  explicit BatchReader(PieceReader& pieces);
  ~BatchReader();

  // One read of a small object: its key, and where the answer goes.
  struct Item {
    std::string_view key;
    BatchRead* read = nullptr;
    std::uint64_t hash = 0;
    Place place;
  };
  // Reads those of `items`, whose keys all belong to `drive`, that it can.
  void read(Drive& drive, std::span<Item> items, const Context& context);
  // The same, as far as the cache goes.
  static void read_now(Drive& drive, std::span<Item> items);

 private:
  class Gather;  // a memory file and its mapping
  // An item whose record is in a Gather, and where.
  struct Gathered {
    Item* item = nullptr;
    std::size_t header_at = 0;
    std::size_t data_at = 0;
  };

  // Those whose records are kept for themselves; `other` gets those that were not compared yet, or
  // are long.
  static std::vector<Item*> find_small(Drive& drive, std::span<Item> items,
                                       std::vector<Item*>& other);
  static void read_cached(Drive& drive, std::vector<Item*>& items);
  static std::vector<Gathered> gather_records(Drive& drive, std::span<Item* const> items,
                                              Gather& gather);
  static void deliver_gathered(Drive& drive, std::span<const Gathered> gathered,
                               const Gather& gather);
  void read_warm(Drive& drive, std::span<Item*> items);
  void read_cold(Drive& drive, std::span<Item*> items, const Context& context);
  bool looks_warm(Drive& drive, std::span<Item* const> items);

  PieceReader& pieces_;
  // While positive, reads have been slow lately, and the warm way is not tried.
  std::atomic<int> cold_batches_{0};
  Mutex mutex_;
  std::vector<std::unique_ptr<Gather>> gathers_ GUARDED_BY(mutex_);
};

}  // namespace leat::local
