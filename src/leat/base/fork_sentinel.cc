#include "leat/base/fork_sentinel.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace leat {
namespace {

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Result<std::unique_ptr<ForkSentinel>> ForkSentinel::create() {
  void* page =
      mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return Error::from_errno(errno, "mmap");
  if (madvise(page, page_bytes(), MADV_WIPEONFORK) != 0) {
    const int error = errno;
    munmap(page, page_bytes());
    return Error::from_errno(error, "madvise");
  }
  *static_cast<int*>(page) = 1;
  return std::unique_ptr<ForkSentinel>(new ForkSentinel(static_cast<const int*>(page)));
}

ForkSentinel::~ForkSentinel() {
  munmap(const_cast<int*>(page_), page_bytes());
}

}  // namespace leat
