#include "leat/base/io_ring.h"

#include <liburing.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "leat/base/check.h"

namespace leat {
namespace {

constexpr unsigned kMaxDepth = 4096;
// One request's length is 32 bits wide, and the kernel reads no more than this at once.
constexpr std::size_t kMaxRequestBytes = std::size_t{1} << 30;
// Past this an offset is negative to the kernel; -1 would mean the position of the descriptor.
constexpr std::uint64_t kMaxOffset = std::numeric_limits<std::int64_t>::max();

}  // namespace

Result<std::unique_ptr<IoRing>> IoRing::create(unsigned depth) {
  if (depth == 0 || depth > kMaxDepth) {
    return Error(ErrorCode::kInvalidArgument, "io_uring: the depth must be 1 to 4096");
  }
  auto ring = std::make_unique<io_uring>();
  const int failure = -::io_uring_queue_init(depth, ring.get(), 0);
  if (failure == ENOSYS || failure == EPERM) {
    return Error(ErrorCode::kUnsupported, "io_uring is not available in this process");
  }
  if (failure != 0) return Error::from_errno(failure, "io_uring_queue_init");
  return std::unique_ptr<IoRing>(new IoRing(std::move(ring), depth));
}

IoRing::IoRing(std::unique_ptr<io_uring> ring, unsigned depth)
    : ring_(std::move(ring)), depth_(depth), owner_(::getpid()) {}

// In a forked child this unmaps and closes the child's share only.
IoRing::~IoRing() {
  ::io_uring_queue_exit(ring_.get());
}

void IoRing::read_all(std::span<Read> reads, const Context& context) {
  Status wanted = check_usable();
  if (wanted.ok()) wanted = context.check();
  std::size_t next = 0;
  unsigned under_way = 0;
  for (;;) {
    for (; wanted.ok() && next < reads.size() && under_way < depth_; ++next) {
      Read& read = reads[next];
      read.result = std::size_t{0};
      if (read.target.empty()) continue;
      if (read.offset > kMaxOffset) {
        read.result = Error::from_errno(EINVAL, "io_uring read");
        continue;
      }
      enqueue(reads, next);
      ++under_way;
    }
    if (under_way == 0) break;
    // With more to begin, each completion makes room; at the end one wait is enough.
    const bool more = wanted.ok() && next < reads.size();
    if (!submit_and_wait(under_way, more ? 1 : under_way)) {
      wanted = check_usable();
      // Some of these may have met the end of their file; the caller repeats them with the rest.
      for (Read& read : reads.first(next)) {
        if (read.result.ok() && *read.result < read.target.size()) read.result = wanted.error();
      }
      break;
    }
    under_way -= reap(reads);
    if (wanted.ok()) wanted = context.check();
  }
  for (Read& read : reads.subspan(next)) read.result = wanted.error();
}

Status IoRing::check_usable() const {
  if (::getpid() != owner_) {
    return Error(ErrorCode::kUnavailable, "io_uring: this ring belongs to the parent process");
  }
  if (broken_) return Error(ErrorCode::kUnavailable, "io_uring: this ring is broken");
  return ok_status();
}

void IoRing::enqueue(std::span<Read> reads, std::size_t index) {
  const Read& read = reads[index];
  const std::size_t done = *read.result;
  const auto rest = read.target.subspan(done);
  io_uring_sqe* request = ::io_uring_get_sqe(ring_.get());
  CHECK(request != nullptr);  // the queue has room for `depth`, and no more are under way
  ::io_uring_prep_read(request, read.descriptor, rest.data(),
                       static_cast<unsigned>(std::min(rest.size(), kMaxRequestBytes)),
                       read.offset + done);
  ::io_uring_sqe_set_data64(request, index);
}

bool IoRing::submit_and_wait(unsigned under_way, unsigned wanted) {
  for (;;) {
    const int result = ::io_uring_submit_and_wait(ring_.get(), wanted);
    if (result >= 0) return true;
    if (result == -EINTR) continue;
    // The kernel is short of something that completions give back.
    if (::io_uring_cq_ready(ring_.get()) > 0) return true;
    if (result == -EAGAIN || result == -EBUSY) continue;
    // As when someone closed our descriptor. If the kernel still holds requests, it writes into
    // the callers' memory for as long as it likes: then there is no safe way on.
    CHECK(::io_uring_sq_ready(ring_.get()) == under_way);
    broken_ = true;
    return false;
  }
}

unsigned IoRing::reap(std::span<Read> reads) {
  unsigned finished = 0;
  io_uring_cqe* completion = nullptr;
  while (::io_uring_peek_cqe(ring_.get(), &completion) == 0) {
    const std::size_t index = ::io_uring_cqe_get_data64(completion);
    const int result = completion->res;
    ::io_uring_cqe_seen(ring_.get(), completion);
    Read& read = reads[index];
    if (result == -EINTR) {
      enqueue(reads, index);
    } else if (result < 0) {
      read.result = Error::from_errno(-result, "io_uring read");
      ++finished;
    } else {
      *read.result += static_cast<std::size_t>(result);
      const bool ended = result == 0 || *read.result == read.target.size();
      if (ended) {
        ++finished;
      } else {
        enqueue(reads, index);
      }
    }
  }
  return finished;
}

}  // namespace leat
