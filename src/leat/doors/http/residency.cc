#include "leat/doors/http/residency.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace leat::doors::http {
namespace {

// cachestat(2), which Debian 12's headers do not know.
constexpr long kCachestat = 451;

struct CachestatRange {
  std::uint64_t offset;
  std::uint64_t length;
};

struct Cachestat {
  std::uint64_t cached_pages;
  std::uint64_t dirty_pages;
  std::uint64_t writeback_pages;
  std::uint64_t evicted_pages;
  std::uint64_t recently_evicted_pages;
};

bool is_byte_resident(int descriptor, std::uint64_t offset) noexcept {
  char byte = 0;
  const iovec target{&byte, 1};
  return preadv2(descriptor, &target, 1, static_cast<off_t>(offset), RWF_NOWAIT) == 1;
}

}  // namespace

bool is_resident(int descriptor, std::uint64_t offset, std::uint64_t length) noexcept {
  if (length == 0) return true;
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t pages = (offset + length - 1) / page_bytes - offset / page_bytes + 1;
  CachestatRange range{offset, length};
  Cachestat found{};
  if (syscall(kCachestat, descriptor, &range, &found, 0) == 0) return found.cached_pages >= pages;
  // An older kernel: a hole in the middle is rare, and costs a wait, no error.
  return errno == ENOSYS && is_byte_resident(descriptor, offset) &&
         is_byte_resident(descriptor, offset + length - 1);
}

}  // namespace leat::doors::http
