// Reserve: a file that only takes up space, so that a full disk still lets objects be removed.
//
// Removing appends a tombstone to the log, and a log cannot grow on a full disk. When that happens
// the file is given up, and what gives space back is written in its room. Until the file can be
// made again, the log takes nothing else: otherwise the next object would be in that room.
//
// Nothing depends on the file. A crash may leave it short, or bring it back; it is made again when
// a process opens the drive for writing and the disk has room. Other programs may be faster to take
// the room that was given up: then removing fails, as it would without a reserve.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "leat/base/file.h"
#include "leat/base/mutex.h"
#include "leat/base/result.h"

namespace leat::local {

class Reserve {
 public:
  // At most `most_bytes`, and a small part of the disk; 0: none. `files` outlives it.
  Reserve(FileSystem& files, std::uint64_t most_bytes) : files_(files), most_bytes_(most_bytes) {}

  // Makes the file, if it is not there whole and the disk has room for it and as much again.
  // False when it has not: it counts as given up then.
  bool keep() EXCLUDES(mutex_);
  // Gives its room to whoever writes next; false when there was none.
  bool give_up() EXCLUDES(mutex_);
  // Between give_up() and a keep() that returned true.
  bool is_given_up() const noexcept { return is_given_up_.load(std::memory_order_acquire); }

 private:
  Status make(std::uint64_t bytes) REQUIRES(mutex_);

  FileSystem& files_;
  const std::uint64_t most_bytes_;
  std::atomic<bool> is_given_up_{false};
  Mutex mutex_;  // held over I/O: one at a time makes it
};

}  // namespace leat::local
