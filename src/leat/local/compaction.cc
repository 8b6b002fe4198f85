// The part of Drive that gives space back: records that are still needed move to the end of the
// log, then their pack goes. A crash at any point leaves at most a record in two places, with the
// same generation and the same bytes; recovery takes either.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "leat/base/hash.h"
#include "leat/base/hex.h"
#include "leat/local/drive.h"
#include "leat/local/layout.h"
#include "leat/local/pace.h"

namespace leat::local {
namespace {

constexpr std::uint64_t kMoveBytes = 1 << 20;  // in one group of the log
constexpr std::uint64_t kReserveShare = 16;    // of the reserve, what compaction may take

std::string names_path(std::uint32_t pack_id) {
  return fmt::format("{}/{:08x}.names", kPackDirectory, pack_id);
}

std::uint32_t short_hash(std::string_view key) {
  return static_cast<std::uint32_t>(hash_key(key) >> 32);
}

// A sidecar: the sorted short hashes of a pack's keys and their crc32c.
std::optional<std::vector<std::uint32_t>> decode_names(std::span<const std::byte> bytes) {
  if (bytes.size() % sizeof(std::uint32_t) != 0 || bytes.empty()) return std::nullopt;
  std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  const std::uint32_t expected = words.back();
  words.pop_back();
  if (crc32c(0, std::as_bytes(std::span(words))) != expected) return std::nullopt;
  return words;
}

}  // namespace

// The sealed pack whose removal gives back most for the least work, if any is worth it.
std::optional<std::uint32_t> Drive::pick_pack() const {
  std::optional<std::uint32_t> best;
  double best_ratio = options_.compact_below;
  const std::uint32_t active = log_.active_pack();
  for (const auto& pack : log_.packs()) {
    if (pack->id() >= active || pack->is_damaged() || pack->end_bytes() == 0) continue;
    std::uint64_t live = pack->live_bytes();
    // Tombstones may have become superfluous since an older pack went.
    if (tombstones_droppable_.load() && pack->id() <= newest_removed_pack_.load()) {
      live -= std::min(live, pack->tombstone_bytes());
    }
    const double ratio = static_cast<double>(live) / static_cast<double>(pack->end_bytes());
    if (ratio < best_ratio) {
      best_ratio = ratio;
      best = pack->id();
    }
  }
  return best;
}

Status Drive::compact_all(const Context& context) {
  RETURN_IF_ERROR(log_.seal_active(context));
  const std::uint32_t last = log_.active_pack();
  for (const auto& pack : log_.packs()) {
    RETURN_IF_ERROR(context.check());
    const bool is_all_live =
        pack->live_bytes() == pack->end_bytes() && pack->tombstone_bytes() == 0;
    if (pack->id() > last || log_.is_active(pack->id()) || pack->is_damaged() || is_all_live)
      continue;
    RETURN_IF_ERROR(compact(*pack, context));
  }
  return ok_status();
}

// With no more than this to move, a pack is gone before the disk is full, or the reserve's room.
std::uint64_t Drive::room_to_compact() const {
  const auto space = files_->space();
  return std::max(space.ok() ? space->available_bytes / 2 : 0,
                  options_.log.reserve_bytes / kReserveShare);
}

Status Drive::compact(Pack& pack, const Context& context) {
  std::vector<Change> moves;
  std::uint64_t move_bytes = 0;
  std::vector<std::pair<std::string, Place>> superfluous;
  bool has_objects = false;
  const MonotonicTime start = context.clock().now();
  const bool frees_space = pack.live_bytes() <= room_to_compact();
  const auto move_all = [&]() -> Status {
    (void)log_.commit(moves, context);  // each has its own result
    for (const Change& move : moves) {
      const bool replaced = move.result.failed_with(ErrorCode::kPreconditionFailed);
      if (!move.result.ok() && !replaced) return move.result.error();
    }
    moves.clear();
    move_bytes = 0;
    return ok_status();
  };
  PackWalk walk;
  walk.damage = [&](std::uint64_t, std::uint64_t, const std::string&) {
    pack.set_damaged();
    return ok_status();
  };
  walk.record = [&](std::uint64_t offset, Pack::Head& head) -> Status {
    RETURN_IF_ERROR(context.check());
    const Location location{pack.id(), static_cast<std::uint32_t>(offset / kBlockBytes)};
    has_objects |= head.record.kind != RecordKind::kDelete;
    const auto place = newest_place(head.record.key, location);
    if (!place) return ok_status();
    if (head.record.kind == RecordKind::kDelete) {
      ASSIGN_OR_RETURN(const bool needed, is_tombstone_needed(head.record.key, pack.id()));
      if (!needed) {
        superfluous.emplace_back(head.record.key, *place);
        return ok_status();
      }
    }
    auto bytes = pack.read_whole(offset, head);
    if (bytes.failed_with(ErrorCode::kCorrupted)) {
      pack.set_damaged();  // never deleted: the pack stays as it is
      report_damage({location, head.length_bytes,
                     head.record.key + ": " + std::string(bytes.error().message())});
      return ok_status();
    }
    if (!bytes.ok()) return std::move(bytes).error();
    move_bytes += head.length_bytes;
    moves.emplace_back(std::move(head), *std::move(bytes), location);
    moves.back().frees_space = frees_space;
    if (move_bytes < kMoveBytes) return ok_status();
    RETURN_IF_ERROR(move_all());
    return keep_pace(offset, start, options_.compact_bytes_per_second, context);
  };
  RETURN_IF_ERROR(walk_pack(pack, 0, pack.end_bytes(), walk));
  RETURN_IF_ERROR(move_all());
  if (pack.is_damaged()) return ok_status();
  std::uint64_t superfluous_bytes = 0;
  for (const auto& [key, place] : superfluous) superfluous_bytes += place.counted_bytes();
  if (pack.live_bytes() > superfluous_bytes) {
    // The walk did not come by everything that is live: the pack was cut short.
    pack.set_damaged();
    return ok_status();
  }
  RETURN_IF_ERROR(log_.sync());
  for (const auto& [key, place] : superfluous) forget(key, hash_key(key), place);
  // The checkpoint may still know the objects that these tombstones hid, and nothing in the log
  // would speak of them any more.
  if (!superfluous.empty()) RETURN_IF_ERROR(checkpoint());
  RETURN_IF_ERROR(log_.remove_pack(pack.id()));
  (void)files_->remove_file(names_path(pack.id()));  // perhaps there is none
  pack_names_.erase(pack.id());
  if (has_objects) newest_removed_pack_.store(log_.active_pack());
  return ok_status();
}

// The place at `location` if the newest record of `key` is there.
std::optional<Place> Drive::newest_place(std::string_view key, Location location) const {
  ReaderLock lock(table_mutex_);
  for (const Place place : table_.find(hash_key(key))) {
    if (place.location() == location) return place;
  }
  return std::nullopt;
}

// A tombstone must stay as long as an older record of its key may exist: on this drive all of those
// are in older packs, since only the newest record of a key ever moves.
Result<bool> Drive::is_tombstone_needed(std::string_view key, std::uint32_t pack_id) {
  if (!tombstones_droppable_.load()) return true;
  const std::uint32_t wanted = short_hash(key);
  for (const auto& older : log_.packs()) {
    if (older->id() >= pack_id) continue;
    ASSIGN_OR_RETURN(const auto* names, names_of(*older));
    if (std::binary_search(names->begin(), names->end(), wanted)) return true;
  }
  return false;
}

// Which keys a sealed pack has records of. Read from its sidecar, or found out once.
Result<const std::vector<std::uint32_t>*> Drive::names_of(const Pack& pack) {
  auto& names = pack_names_[pack.id()];
  if (!names.empty()) return &names;
  const std::string path = names_path(pack.id());
  if (const auto bytes = files_->read_file(path, pack.end_bytes()); bytes.ok()) {
    if (auto decoded = decode_names(*bytes)) {
      names = *std::move(decoded);
      return &names;
    }
  }
  PackWalk walk;
  walk.damage = [](std::uint64_t, std::uint64_t, const std::string&) { return ok_status(); };
  walk.record = [&](std::uint64_t, Pack::Head& head) {
    names.push_back(short_hash(head.record.key));
    return ok_status();
  };
  RETURN_IF_ERROR(walk_pack(pack, 0, pack.end_bytes(), walk));
  std::sort(names.begin(), names.end());
  std::vector<std::uint32_t> file = names;
  file.push_back(crc32c(0, std::as_bytes(std::span(names))));
  (void)files_->replace_file(path, std::as_bytes(std::span(file)));  // only saves work
  return &names;
}

}  // namespace leat::local
