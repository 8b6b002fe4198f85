// PieceReader: many pieces of files at once, by io_uring.
//
// What a batch wants is read in the order of the disk, neighbours joined, all under way together.
// Thread-safe: each call has a ring of its own, and rings are reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/io_ring.h"
#include "leat/base/mutex.h"

namespace leat::local {

class PieceReader {
 public:
  struct Piece {
    int descriptor = -1;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    // Set by read(): the bytes, or null when they could not be had this way.
    std::shared_ptr<const std::byte[]> bytes;
  };
  void read(std::span<Piece> pieces, const Context& context) EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  std::vector<std::unique_ptr<IoRing>> rings_ GUARDED_BY(mutex_);
};

}  // namespace leat::local
