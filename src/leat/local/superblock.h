// Superblock: the first thing that is read of a drive. Who it is, which store and which set of
// drives it belongs to, which format it has, and how it was left.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "leat/base/file.h"
#include "leat/base/result.h"

namespace leat::local {

inline constexpr std::uint32_t kFormatVersion = 1;

struct Superblock {
  std::uint32_t format_version = kFormatVersion;
  // Bits that a program must know to read the drive. None are defined yet.
  std::uint64_t features = 0;
  std::string store_id;  // 32 hexadecimal digits
  std::string drive_id;
  // Counts the openings for writing: the high half of every generation made since. The largest of
  // all drives counts, so a drive that was away never brings back generations from the future.
  std::uint64_t epoch = 0;
  // The drives of the store, by id, as of `set_epoch`; the largest set_epoch of all drives counts.
  std::uint64_t set_epoch = 0;
  std::vector<std::string> drive_ids;
  // Every object is on its first drive by rank: a lookup need not ask the others.
  bool is_settled = true;
  // Nothing new is written here; what is here moves away.
  bool is_draining = false;
  // Closed properly: nothing has to be looked for.
  bool is_clean = true;
};

// kNotFound when there is none; kUnsupported for a newer format, saying which.
Result<Superblock> read_superblock(FileSystem& files);
Status write_superblock(FileSystem& files, const Superblock& superblock);

// 128 random bits from the system, as 32 hexadecimal digits.
Result<std::string> random_id();

}  // namespace leat::local
