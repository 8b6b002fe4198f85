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

bool has_pages(int descriptor, std::uint64_t offset, std::uint64_t length) noexcept {
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t pages = (offset + length - 1) / page_bytes - offset / page_bytes + 1;
  CachestatRange range{offset, length};
  Cachestat found{};
  if (syscall(kCachestat, descriptor, &range, &found, 0) == 0) return found.cached_pages >= pages;
  return errno == ENOSYS;  // an older kernel: the bytes that are tried must do
}

bool is_byte_there(int descriptor, std::uint64_t offset) noexcept {
  char byte = 0;
  const iovec target{&byte, 1};
  return preadv2(descriptor, &target, 1, static_cast<off_t>(offset), RWF_NOWAIT) == 1;
}

}  // namespace

// A page that is being read ahead counts as cached, and who sends it waits for the disk. So a few
// bytes are tried: the kernel reads ahead in requests of this size or more, and a request is done
// as a whole.
bool is_resident(int descriptor, std::uint64_t offset, std::uint64_t length) noexcept {
  constexpr std::uint64_t kStepBytes = 256 << 10;
  if (length == 0) return true;
  if (!has_pages(descriptor, offset, length)) return false;
  for (std::uint64_t at = 0; at < length; at += kStepBytes) {
    if (!is_byte_there(descriptor, offset + at)) return false;
  }
  return is_byte_there(descriptor, offset + length - 1);
}

}  // namespace leat::doors::http
