// SimulatedContent: the bytes of one file, as readers see them and as the disk holds them.
//
// The model. A file is a size, a mode and 512-byte sectors. The *cache* is what readers see, the
// *disk* what is certain to outlive a power cut. A write changes the cache and leaves a Change
// behind: the sectors that it touched as they were right after it, and the size if that moved.
//
//   sync()         carries every change to the disk.
//   sync_failed()  The kernel reports a failed write-back once and then takes the pages for clean.
//                  So the changes until then are *given up*: readers still see them, but no later
//                  sync() carries them over, unless their sector is written again. (A later
//                  sync() does settle the size, which the journal of a file system keeps.)
//   settle()       The power cut. Each change is lost, whole or torn; of a torn one each sector
//                  has its own luck, and so has the size: a file may have grown and hold zeros.
//                  Sectors are atomic, and hold what the cache held at some moment: the later of
//                  two writes to one sector brings the earlier one along.
//
// Invariant: the disk with all changes applied in order is the cache.
// For one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "leat/base/testing/power_cut.h"

namespace leat {

// Bytes in which what was never written is zero and takes no memory.
class SparseBytes {
 public:
  static constexpr std::size_t kSectorBytes = 512;
  using Sector = std::array<std::byte, kSectorBytes>;
  using Sectors = std::map<std::uint64_t, Sector>;  // by offset / kSectorBytes

  std::uint64_t size_bytes() const { return size_bytes_; }
  const Sectors& sectors() const { return sectors_; }

  std::size_t read(std::uint64_t offset, std::span<std::byte> target) const;
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  // Drops what lies past the new end, so that it is zero if the file grows again.
  void resize(std::uint64_t size_bytes);
  // Sets a sector even past the end; resize() decides what of it stays.
  void set_sector(std::uint64_t index, const Sector& sector) { sectors_[index] = sector; }

 private:
  std::uint64_t size_bytes_ = 0;
  Sectors sectors_;
};

class SimulatedContent {
 public:
  explicit SimulatedContent(std::uint32_t mode) : cache_mode_(mode), disk_mode_(mode) {}

  const SparseBytes& cache() const { return cache_; }
  const SparseBytes& disk() const { return disk_; }
  std::uint32_t mode() const { return cache_mode_; }

  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  void resize(std::uint64_t size_bytes);
  void set_mode(std::uint32_t mode);

  void sync();
  void sync_failed();
  void settle(PowerCut& cut);

  // Damage behind everyone's back: changes disk and cache alike.
  void overwrite(std::uint64_t offset, std::span<const std::byte> bytes);
  void truncate(std::uint64_t size_bytes);

 private:
  struct Change {
    SparseBytes::Sectors sectors;
    std::optional<std::uint64_t> size_bytes;
    std::optional<std::uint32_t> mode;
    bool given_up = false;
  };

  void copy_sectors(std::uint64_t first, std::uint64_t end, Change& change) const;

  SparseBytes cache_;
  SparseBytes disk_;
  std::uint32_t cache_mode_;
  std::uint32_t disk_mode_;
  std::vector<Change> changes_;  // not on the disk yet, oldest first
};

}  // namespace leat
