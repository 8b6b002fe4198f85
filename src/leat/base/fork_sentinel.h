// ForkSentinel: tells, at the price of one load, whether this is a forked child of the process that
// made it. (getpid() would be a system call each time.)
//
// It is a page that the kernel gives to a child full of zeros. Thread-safe.
#pragma once

#include <memory>

#include "leat/base/result.h"

namespace leat {

class ForkSentinel {
 public:
  static Result<std::unique_ptr<ForkSentinel>> create();
  ~ForkSentinel();
  ForkSentinel(const ForkSentinel&) = delete;
  ForkSentinel& operator=(const ForkSentinel&) = delete;

  bool is_forked() const noexcept { return *page_ == 0; }

 private:
  explicit ForkSentinel(volatile const int* page) : page_(page) {}
  volatile const int* page_;
};

}  // namespace leat
