// The part of PackLog that runs once, at start: opening the packs, visiting the records after the
// checkpoint, and cutting off what a power cut left half written.
#include <fmt/format.h>

#include <algorithm>

#include "leat/base/hash.h"
#include "leat/local/layout.h"
#include "leat/local/pack_log.h"

namespace leat::local {
namespace {

constexpr std::uint64_t kMaxTornBytes = 64 << 20;

}  // namespace

Status PackLog::open_packs(Access access) {
  ASSIGN_OR_RETURN(auto entries, files_.read_directory(kPackDirectory));
  WriterLock lock(packs_mutex_);
  for (const DirectoryEntry& entry : entries) {
    const auto id = pack_id_of(entry.name);
    if (!id) continue;
    const bool writable = access == Access::kReadWrite;
    ASSIGN_OR_RETURN(
        auto file, files_.open(pack_path(*id), writable ? OpenMode::kReadWrite : OpenMode::kRead));
    packs_[*id] = std::make_shared<Pack>(*id, options_.salt, std::move(file));
    last_pack_id_ = std::max(last_pack_id_, *id);
  }
  return ok_status();
}

Result<PackLog::Recovered> PackLog::recover(Location checkpoint, Access access,
                                            const Visit& visit) {
  RETURN_IF_ERROR(open_packs(access));
  const std::uint32_t newest = last_pack_id_;
  // A new pack comes after the checkpoint, even if compaction removed those before it: it must be
  // replayed, and the catalogue may still speak of the old ones.
  last_pack_id_ = std::max(last_pack_id_, checkpoint.pack);
  Recovered recovered;
  for (const auto& pack : packs()) {
    const bool is_last = pack->id() == newest;
    ASSIGN_OR_RETURN(auto status, pack->file().status());
    const std::uint64_t whole = status.size_bytes - std::min(status.size_bytes, kTarEndBytes);
    if (pack->id() < checkpoint.pack) {
      pack->set_end_bytes(whole);
      continue;
    }
    const std::uint64_t from = pack->id() == checkpoint.pack ? checkpoint.offset_bytes() : 0;
    // A pack that has a successor was sealed, so all of it was durable.
    ASSIGN_OR_RETURN(auto end, scan_pack(*pack, from, is_last ? from : whole, visit, recovered));
    pack->set_end_bytes(end);
    if (!is_last) {
      if (end != whole) {
        pack->set_damaged();
        const Location location{pack->id(), static_cast<std::uint32_t>(end / kBlockBytes)};
        recovered.damages.push_back(
            {location, std::max(end, whole) - std::min(end, whole), "the pack is cut short"});
      }
      continue;
    }
    if (access == Access::kReadWrite) RETURN_IF_ERROR(cut_tail(*pack, end, recovered));
    active_ = pack;
    end_bytes_ = durable_bytes_ = end;
    WriterLock lock(packs_mutex_);
    active_id_ = pack->id();
  }
  MutexLock lock(mutex_);
  end_ = checkpoint;
  if (active_) end_ = {active_->id(), static_cast<std::uint32_t>(end_bytes_ / kBlockBytes)};
  return recovered;
}

Result<std::uint64_t> PackLog::scan_pack(Pack& pack, std::uint64_t from_bytes,
                                         std::uint64_t durable_bytes, const Visit& visit,
                                         Recovered& recovered) {
  // An object whose bytes do not match may be the torn end of the log, or damaged: known only when
  // the walk has seen what follows it.
  struct Unmatched {
    std::uint64_t offset;
    std::uint64_t length;
    std::string key;
  };
  std::vector<Unmatched> unmatched;
  std::vector<std::pair<Record, Place>> held;  // after the first unmatched one
  std::uint64_t last_durable = durable_bytes;
  const auto damage = [&](std::uint64_t offset, std::uint64_t length, const std::string& what) {
    const Location location{pack.id(), static_cast<std::uint32_t>(offset / kBlockBytes)};
    recovered.damages.push_back({location, length, what});
    pack.set_damaged();
    // Damage is where a later record vouches for what stood there, and so for all before it.
    last_durable = std::max(last_durable, offset);
    return ok_status();
  };
  PackWalk walk;
  walk.damage = damage;
  walk.record = [&](std::uint64_t offset, Pack::Head& head) -> Status {
    const Location location{pack.id(), static_cast<std::uint32_t>(offset / kBlockBytes)};
    const Place place = place_of(head.record, location, head.length_bytes);
    last_durable = std::max(last_durable, head.durable_block * kBlockBytes);
    if (offset >= durable_bytes) {
      const auto whole = pack.read_whole(offset, head);
      if (whole.failed_with(ErrorCode::kCorrupted)) {
        unmatched.push_back({offset, head.length_bytes, head.record.key});
      } else if (!whole.ok()) {
        return whole.error();
      }
    }
    if (unmatched.empty()) return visit(head.record, place);
    held.emplace_back(std::move(head.record), place);
    return ok_status();
  };
  ASSIGN_OR_RETURN(auto end, walk_pack(pack, from_bytes, durable_bytes, walk));
  for (const Unmatched& object : unmatched) {
    // Torn: nothing after it was written later than its own group.
    if (object.offset >= last_durable) {
      end = std::min(end, object.offset);
    } else {
      (void)damage(object.offset, object.length,
                   "the bytes of " + object.key + " do not match their checksum");
    }
  }
  // A damaged object stays in the catalogue: it is refused when it is read, never forgotten.
  for (const auto& [record, place] : held) {
    if (place.location().offset_bytes() < end) RETURN_IF_ERROR(visit(record, place));
  }
  return end;
}

// Leaves nothing but zeros after `end_bytes`: the rest of a torn group must never follow a record.
// What stands before it is durable from here on: until now perhaps only the process had died, and
// the disk knew nothing of the last records, or even of the pack.
Status PackLog::cut_tail(Pack& pack, std::uint64_t end_bytes, Recovered& recovered) {
  ASSIGN_OR_RETURN(auto status, pack.file().status());
  const std::uint64_t rest = status.size_bytes - std::min(status.size_bytes, end_bytes);
  std::vector<std::byte> tail(std::min(rest, kMaxTornBytes));
  ASSIGN_OR_RETURN(auto count, pack.file().read_at(end_bytes, tail));
  tail.resize(count);
  const auto last =
      std::find_if(tail.rbegin(), tail.rend(), [](std::byte b) { return b != std::byte{0}; });
  tail.resize(static_cast<std::size_t>(tail.rend() - last));
  if (!tail.empty()) {
    recovered.torn_bytes = tail.size();
    // Nobody was promised these bytes, but someone may want to look at them, if there is room.
    Status kept = keep_torn(pack.id(), end_bytes, tail);
    if (!kept.ok() && !kept.failed_with(ErrorCode::kNoSpace)) return kept;
  }
  allocated_bytes_ = end_bytes + kTarEndBytes;
  RETURN_IF_ERROR(pack.file().resize(end_bytes));
  RETURN_IF_ERROR(pack.file().resize(allocated_bytes_));
  RETURN_IF_ERROR(pack.file().sync());
  return files_.sync_directory(kPackDirectory);
}

Status PackLog::keep_torn(std::uint32_t pack_id, std::uint64_t offset,
                          std::span<const std::byte> bytes) {
  RETURN_IF_ERROR(files_.make_directories(kTornDirectory));
  return files_.replace_file(
      fmt::format("{}/{:08x}-{:08x}", kTornDirectory, pack_id, offset / kBlockBytes), bytes);
}

}  // namespace leat::local
