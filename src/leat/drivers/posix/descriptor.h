// Descriptor: owns a file descriptor and closes it. For one thread at a time.
#pragma once

#include <unistd.h>

#include <utility>

namespace leat {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }

  int get() const noexcept { return number_; }
  bool valid() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

}  // namespace leat
