// Random: a small, fast generator whose sequence is the same on every machine, for ever.
//
// xoshiro256** seeded by splitmix64. Shuffles and samples of data sets are functions of a seed and
// must not change with the compiler, so everything drawn from it is computed here, in integers,
// and pinned by golden tests; the distributions of the standard library differ between libraries.
// Not for secrets. For one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace leat {

class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept;

  // 64 random bits.
  std::uint64_t next() noexcept;
  // One of 0 .. bound-1, each equally likely. `bound` must not be 0.
  std::uint64_t uniform(std::uint64_t bound) noexcept;
  // One of the 2^53 evenly spaced numbers in [0, 1).
  double unit() noexcept;

  // Every order of `items` is equally likely.
  template <typename T>
  void shuffle(std::span<T> items) noexcept {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[uniform(left)]);
    }
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace leat
