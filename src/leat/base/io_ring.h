// IoRing: many reads of local files by few system calls, through io_uring.
//
// A batch of cold reads is bound by the latency of the disk when they go one after another. The
// ring hands the kernel up to `depth` at once, so that the disk sees them together and may choose
// their order. For bytes that are surely in the page cache a plain pread() costs less.
//
// A ring belongs to the process that made it: a forked child shares its memory with the parent, so
// there every read fails with kUnavailable, and the owner makes a new ring. For one thread at a
// time. Starts no thread of its own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "leat/base/context.h"
#include "leat/base/result.h"

struct io_uring;

namespace leat {

class IoRing {
 public:
  struct Read {
    int descriptor = -1;
    std::uint64_t offset = 0;
    std::span<std::byte> target;
    // Set by read_all(): the bytes read, fewer than asked for only at the end of the file.
    Result<std::size_t> result = Error(ErrorCode::kCancelled);
  };

  // `depth`: how many reads may be under way at once. kUnsupported where io_uring is not there or
  // not allowed, as in many containers.
  static Result<std::unique_ptr<IoRing>> create(unsigned depth);
  IoRing(const IoRing&) = delete;
  IoRing& operator=(const IoRing&) = delete;
  ~IoRing();

  // Performs every read and sets its result; one failure does not stop the others. When the
  // context ends, what was not begun fails as it says; what is under way is waited for, because
  // the kernel writes into its target.
  void read_all(std::span<Read> reads, const Context& context);
  // False when the kernel has failed the ring as a whole, or in a forked child.
  bool is_usable() const { return check_usable().ok(); }

 private:
  IoRing(std::unique_ptr<io_uring> ring, unsigned depth);
  Status check_usable() const;
  // The part of reads[index] that is still missing.
  void enqueue(std::span<Read> reads, std::size_t index);
  // Hands over what is enqueued and waits for `wanted` completions. False when the ring is broken.
  bool submit_and_wait(unsigned under_way, unsigned wanted);
  // Takes the completions that are there; returns how many reads are finished by them.
  unsigned reap(std::span<Read> reads);

  const std::unique_ptr<io_uring> ring_;
  const unsigned depth_;
  const pid_t owner_;
  bool broken_ = false;
};

}  // namespace leat
