// PowerCut: decides, one question at a time, what of the unsynced work a power cut leaves behind.
//
// The simulated disk asks it about every change that was not synced. It may keep nothing, keep
// everything, or draw from a seed. Drawn cuts differ in temper: each has its own chance to keep a
// change, so that over many seeds almost-all and almost-nothing are as common as half-and-half.
// For one thread at a time.
#pragma once

#include <cstdint>

#include "leat/base/random.h"

namespace leat {

class PowerCut {
 public:
  enum class Unsynced : std::uint8_t { kLost, kKept, kRandom };

  // What becomes of one write: torn means that each sector has its own luck.
  enum class Fate : std::uint8_t { kLost, kTorn, kWhole };

  explicit PowerCut(Unsynced unsynced, std::uint64_t seed = 0)
      : unsynced_(unsynced), random_(seed), kept_of_eight_(1 + random_.uniform(7)) {}

  bool keeps() {
    if (unsynced_ != Unsynced::kRandom) return unsynced_ == Unsynced::kKept;
    return random_.uniform(8) < kept_of_eight_;
  }

  Fate fate() {
    if (keeps()) return Fate::kWhole;
    return unsynced_ == Unsynced::kRandom && random_.uniform(2) == 0 ? Fate::kTorn : Fate::kLost;
  }

  // For each part of a change whose fate was drawn.
  bool keeps_part(Fate fate) {
    return fate == Fate::kWhole || (fate == Fate::kTorn && random_.uniform(2) == 0);
  }

 private:
  const Unsynced unsynced_;
  Random random_;
  const std::uint64_t kept_of_eight_;
};

}  // namespace leat
