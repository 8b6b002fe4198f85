// CapturedDescriptor: a descriptor to write to, and what was written. For tests of what prints.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "leat/base/check.h"

namespace leat {

class CapturedDescriptor {
 public:
  CapturedDescriptor() : descriptor_(memfd_create("captured", MFD_CLOEXEC)) {
    CHECK(descriptor_ >= 0);
  }
  CapturedDescriptor(const CapturedDescriptor&) = delete;
  CapturedDescriptor& operator=(const CapturedDescriptor&) = delete;
  ~CapturedDescriptor() { close(descriptor_); }

  int descriptor() const { return descriptor_; }

  // Everything written so far.
  std::string text() const {
    std::string all(static_cast<std::size_t>(lseek(descriptor_, 0, SEEK_END)), '\0');
    CHECK(pread(descriptor_, all.data(), all.size(), 0) == static_cast<ssize_t>(all.size()));
    return all;
  }

 private:
  const int descriptor_;
};

}  // namespace leat
