#include "leat/local/reserve.h"

#include <algorithm>
#include <vector>

#include "leat/base/random.h"
#include "leat/local/layout.h"

namespace leat::local {
namespace {

constexpr std::uint64_t kLargestShare = 64;  // of the disk: one in so many bytes
constexpr std::uint64_t kPieceBytes = 256 << 10;

}  // namespace

bool Reserve::keep() {
  if (most_bytes_ == 0) return true;
  MutexLock lock(mutex_);
  const auto space = files_.space();
  if (!space.ok()) return true;
  const std::uint64_t bytes = std::min(most_bytes_, space->total_bytes / kLargestShare);
  const auto present = files_.status(kReserveFile);
  bool has_room = present.ok() && present->allocated_bytes >= bytes;
  if (!has_room && space->available_bytes >= 2 * bytes) {
    has_room = !make(bytes).failed_with(ErrorCode::kNoSpace);
  }
  is_given_up_.store(!has_room, std::memory_order_release);
  return has_room;
}

// Not synced: what a power cut takes of it is made again, or taken for given up.
Status Reserve::make(std::uint64_t bytes) {
  (void)files_.remove_file(kReserveFile);  // a part of one, perhaps
  ASSIGN_OR_RETURN(const auto file, files_.open(kReserveFile, OpenMode::kCreate));
  // Nothing that a file system could store in less.
  Random random(bytes);
  std::vector<std::uint64_t> noise(std::min(bytes, kPieceBytes) / sizeof(std::uint64_t));
  std::generate(noise.begin(), noise.end(), [&] { return random.next(); });
  const auto piece = std::as_bytes(std::span(noise));
  Status status = ok_status();
  for (std::uint64_t at = 0; at < bytes && status.ok(); at += piece.size()) {
    status = file->write_at(at, piece.first(std::min<std::uint64_t>(piece.size(), bytes - at)));
  }
  if (!status.ok()) (void)files_.remove_file(kReserveFile);
  return status;
}

bool Reserve::give_up() {
  MutexLock lock(mutex_);
  if (!files_.remove_file(kReserveFile).ok()) return false;
  is_given_up_.store(true, std::memory_order_release);
  return true;
}

}  // namespace leat::local
