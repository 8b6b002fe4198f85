// The part of Engine that changes the set of drives and moves records to where they belong.
#include <fmt/format.h>

#include <algorithm>

#include "leat/base/hash.h"
#include "leat/local/engine.h"
#include "leat/local/layout.h"
#include "leat/local/object_bytes.h"

namespace leat::local {
namespace {

constexpr std::size_t kMovesAtOnce = 256;

// Whether there is nothing in a directory but what an interrupted add_drive() to this store, whose
// drives are `ids`, may have left.
Result<bool> can_become_drive(FileSystem& files, const std::string& store_id,
                              std::span<const std::string> ids) {
  ASSIGN_OR_RETURN(const auto entries, files.read_directory("."));
  for (const auto& entry : entries) {
    if (entry.name == kSuperblockFile) {
      const auto found = read_superblock(files);
      if (!found.ok() || found->store_id != store_id) return false;
      if (std::find(ids.begin(), ids.end(), found->drive_id) != ids.end()) return false;
    } else if (entry.name == kPackDirectory || entry.name == kObjectDirectory ||
               entry.name == kTemporaryDirectory) {
      ASSIGN_OR_RETURN(const auto inside, files.read_directory(entry.name));
      if (!inside.empty()) return false;
    } else if (entry.name != kCatalogueDirectory && entry.name != kLockFile &&
               entry.name != kReserveFile && entry.name != "lost+found") {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<std::vector<DriveInfo>> Engine::drive_infos() const {
  std::vector<DriveInfo> infos;
  for (const auto& member : members()) {
    DriveInfo info;
    info.id = member->id;
    info.directory = member->directory;
    info.is_missing = member->drive == nullptr;
    info.is_draining = member->is_draining;
    if (member->drive) {
      ASSIGN_OR_RETURN(info.usage, member->drive->usage());
      ASSIGN_OR_RETURN(info.space, member->drive->files().space());
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

Result<std::string> Engine::drive_id(const std::string& drive) const {
  for (const auto& member : members()) {
    if (member->id == drive || (!member->directory.empty() && member->directory == drive))
      return member->id;
  }
  return Error(ErrorCode::kNotFound,
               fmt::format("{} is not a drive of this store; 'leat drive ls' lists them", drive));
}

Status Engine::write_set(const std::vector<std::string>& ids, Settled settled) {
  ++settle_set_epoch_;
  for (const auto& drive : drives()) {
    RETURN_IF_ERROR(drive->update_superblock([&](Superblock& block) {
      block.set_epoch = settle_set_epoch_;
      block.drive_ids = ids;
      block.is_settled = settled == Settled::kYes;
    }));
  }
  update_settled(settled);
  return ok_status();
}

Status Engine::add_drive(const std::string& directory, const Context& context) {
  RETURN_IF_ERROR(context.check());
  RETURN_IF_ERROR(begin_writing());
  ASSIGN_OR_RETURN(auto files, options_.open_directory(directory));
  const auto present = drives();
  Superblock superblock = present.front()->superblock();
  std::vector<std::string> ids;
  for (const auto& member : members()) ids.push_back(member->id);
  ASSIGN_OR_RETURN(const bool is_free, can_become_drive(*files, superblock.store_id, ids));
  if (!is_free)
    return Error(ErrorCode::kInvalidArgument, fmt::format("{} is not empty", directory));
  ASSIGN_OR_RETURN(superblock.drive_id, options_.make_id());
  superblock.is_draining = false;
  superblock.is_clean = false;
  ids.push_back(superblock.drive_id);
  superblock.drive_ids = ids;
  superblock.set_epoch = settle_set_epoch_ + 1;
  superblock.is_settled = false;
  RETURN_IF_ERROR(Drive::format(*files, superblock));
  ASSIGN_OR_RETURN(auto member, open_member(directory));
  {
    WriterLock set_lock(set_mutex_);
    // Lookups ask every drive before one of them has a key that belongs to the new one.
    update_settled(Settled::kNo);
    WriterLock lock(drives_mutex_);
    members_.push_back(std::move(member));
  }
  settle_drive_ = 0;
  settle_key_.clear();
  RETURN_IF_ERROR(write_set(ids, Settled::kNo));
  return copy_bucket_records(context);
}

Status Engine::start_draining(const std::string& id, const Context& context) {
  RETURN_IF_ERROR(context.check());
  RETURN_IF_ERROR(begin_writing());
  Members changed = members();
  const auto stays = std::count_if(changed.begin(), changed.end(), [&](const auto& m) {
    return m->drive && !m->is_draining && m->id != id;
  });
  if (stays == 0)
    return Error(ErrorCode::kInvalidArgument, "the last drive of a store cannot be removed");
  std::vector<std::string> ids;
  for (const auto& member : changed) ids.push_back(member->id);
  // In this order: nobody may look for a key in its new home alone before it is there.
  RETURN_IF_ERROR(write_set(ids, Settled::kNo));
  return set_draining(id, true);
}

Status Engine::stop_draining(const std::string& id) {
  return set_draining(id, false);
}

// The move starts anew: what was passed may belong elsewhere now.
Status Engine::set_draining(const std::string& id, bool is_draining) {
  settle_drive_ = 0;
  settle_key_.clear();
  WriterLock set_lock(set_mutex_);
  for (const auto& member : members()) {
    if (member->id != id || !member->drive) continue;
    RETURN_IF_ERROR(member->drive->update_superblock(
        [&](Superblock& block) { block.is_draining = is_draining; }));
    std::const_pointer_cast<Member>(member)->is_draining = is_draining;
  }
  return ok_status();
}

Status Engine::drop_drive(const std::string& id, const Context& context) {
  RETURN_IF_ERROR(context.check());
  RETURN_IF_ERROR(begin_writing());
  std::vector<std::string> ids;
  Members rest;
  std::shared_ptr<const Member> dropped;
  for (const auto& member : members()) {
    if (member->id == id) {
      dropped = member;
    } else {
      ids.push_back(member->id);
      rest.push_back(member);
    }
  }
  if (rest.empty())
    return Error(ErrorCode::kInvalidArgument, "the last drive of a store cannot be removed");
  {
    WriterLock set_lock(set_mutex_);
    WriterLock lock(drives_mutex_);
    members_ = rest;
  }
  const bool was_missing = dropped && !dropped->drive;
  settle_drive_ = 0;
  settle_key_.clear();
  return write_set(ids, !was_missing && is_settled() ? Settled::kYes : Settled::kNo);
}

// Before a change of `key` on its home drive: what another drive has of it must be there, so that
// preconditions see it and the new generation replaces it.
Status Engine::bring_home(Change& change, const std::shared_ptr<Drive>& home,
                          const Context& context) {
  for (const auto& drive : drives()) {
    if (drive == home) continue;
    Status moved = move(change.record.key, *drive, home, context);
    if (moved.ok()) continue;
    if (!moved.failed_with(ErrorCode::kCorrupted)) return moved;
    // What is damaged stays where it is. The change is newer and may replace it.
    const auto found = drive->find(change.record.key, ReadAlong::kNothing, context);
    if (found.ok() && *found) {
      change.damaged_elsewhere = info_of((*found)->record);
    } else if (change.precondition.kind == Precondition::Kind::kNone) {
      change.damaged_elsewhere = ObjectInfo();
      change.damaged_elsewhere->generation = UINT64_MAX;  // nobody can read how old it is
    } else {
      return moved;
    }
  }
  return ok_status();
}

namespace {

// Whether a drive that has `there` (if anything) lacks `record`. A tombstone as old as an object is
// the trace of its departure, not of a delete.
bool lacks(const std::optional<Found>& there, const Found& record) {
  if (!there || there->record.generation < record.record.generation) return true;
  return there->record.generation == record.record.generation && there->is_tombstone() &&
         !record.is_tombstone();
}

}  // namespace

// Moves the newest record that `from` has of a key, unless `to` has a newer one; `from` forgets it.
Status Engine::move(std::string_view key, Drive& from, const std::shared_ptr<Drive>& to,
                    const Context& context) {
  ASSIGN_OR_RETURN(auto found, from.find(key, ReadAlong::kNothing, context));
  if (!found) return ok_status();
  ASSIGN_OR_RETURN(auto there, to->find(key, ReadAlong::kNothing, context));
  if (found->is_tombstone() && !there) return ok_status();
  if (lacks(there, *found)) {
    RETURN_IF_ERROR(import(key, *found, from, to, context));
    ASSIGN_OR_RETURN(there, to->find(key, ReadAlong::kNothing, context));
    if (lacks(there, *found)) {
      return Error(ErrorCode::kIoError,
                   fmt::format("{} did not arrive on {}", key, to->files().root()));
    }
  }
  if (found->is_tombstone()) return ok_status();
  // A tombstone as old as the object: it hides the copy here and nothing anywhere else.
  Record departure;
  departure.kind = RecordKind::kDelete;
  departure.key = key;
  departure.generation = found->record.generation;
  departure.mtime_ns = found->record.mtime_ns;
  Change leave(std::move(departure), {});
  leave.keeps_generation = true;
  leave.moved_from = found->place.location();
  const Status left = from.commit(leave, context);
  return left.failed_with(ErrorCode::kPreconditionFailed) ? ok_status() : left;
}

// Writes a record of `from` to `to`, as old as it is.
Status Engine::import(std::string_view key, const Found& found, Drive& from,
                      const std::shared_ptr<Drive>& to, const Context& context) {
  Record record = found.record;
  record.key = key;
  std::vector<std::byte> bytes;
  if (record.kind == RecordKind::kObject) {
    ASSIGN_OR_RETURN(bytes, read_packed_object(from, key, found));
  } else if (record.kind == RecordKind::kReference) {
    ASSIGN_OR_RETURN(record, copy_files(record, from, *to, context));
  }
  const std::vector<Extent> adopted = record.extents;
  Change arrival(std::move(record), bytes);
  arrival.keeps_generation = true;
  const Status arrived = to->commit(arrival, context);
  for (const Extent& extent : adopted) {
    if (!arrived.ok()) to->discard_adopted(extent.path, arrived.error().code());
    to->end_adoption(extent.path);
  }
  return arrived.failed_with(ErrorCode::kPreconditionFailed) ? ok_status() : arrived;
}

namespace {

// Returns the checksums of the copy, which is one extent, however many the original has.
Result<std::vector<std::uint32_t>> copy_file(const Record& record, ObjectBytes& bytes, File& file,
                                             const Context& context) {
  std::vector<std::byte> buffer(kChecksumBlockBytes);
  std::vector<std::uint32_t> crcs;
  for (std::uint64_t offset = 0; offset < record.size_bytes;) {
    RETURN_IF_ERROR(context.check());
    ASSIGN_OR_RETURN(const auto count, bytes.read_at(offset, buffer));
    RETURN_IF_ERROR(file.write_at(offset, std::span<const std::byte>(buffer).first(count)));
    crcs.push_back(crc32c(0, std::span(buffer).first(count)));
    offset += count;
  }
  return crcs;
}

}  // namespace

Result<Record> Engine::copy_files(const Record& record, Drive& from, Drive& to,
                                  const Context& context) {
  ASSIGN_OR_RETURN(auto bytes, ObjectBytes::open_reference(from, record));
  ASSIGN_OR_RETURN(const std::string temporary, to.temporary_path());
  ASSIGN_OR_RETURN(auto file, to.files().open(temporary, OpenMode::kCreate));
  auto copied = copy_file(record, *bytes, *file, context);
  if (!copied.ok()) {
    (void)to.files().remove_file(temporary);
    return std::move(copied).error();
  }
  ASSIGN_OR_RETURN(auto path, to.adopt_file(temporary, *file, record.key, Durability::kDisk));
  Record copy = record;
  copy.options.erase(std::string(kSharedOption));
  copy.block_crcs = *std::move(copied);
  copy.extents = {Extent{std::move(path), 0, record.size_bytes}};
  return copy;
}

// Bucket records are few and are on every drive, so that no lost drive takes a bucket with it.
Status Engine::copy_bucket_records(const Context& context) {
  const auto walk = cursor();
  RETURN_IF_ERROR(walk->seek(""));
  while (walk->valid()) {
    const std::string key(walk->key());
    if (walk->entry().has(CatalogueEntry::kBucket)) {
      ASSIGN_OR_RETURN(auto located, find_newest(key, ReadAlong::kNothing, context));
      for (const auto& drive : drives()) {
        if (!located) break;
        Record record = located->found.record;
        record.key = key;
        Change copy(std::move(record), {});
        copy.keeps_generation = true;
        Status status = drive->commit(copy, context);
        if (!status.ok() && !status.failed_with(ErrorCode::kPreconditionFailed)) return status;
      }
    }
    // On to the next bucket, past all of this one's objects.
    RETURN_IF_ERROR(walk->seek(key.substr(0, key.find('/')) + '0'));
  }
  return ok_status();
}

// A damaged object is passed by; the others need not wait for it.
Status Engine::settle_one(std::string_view key, Drive& from, const std::shared_ptr<Drive>& to,
                          const Context& context) {
  Status moved = move(key, from, to, context);
  if (!moved.failed_with(ErrorCode::kCorrupted)) return moved;
  ++stuck_;
  return ok_status();
}

Result<bool> Engine::settle_some(const Context& context) {
  RETURN_IF_ERROR(begin_writing());
  const auto present = drives();
  while (settle_drive_ < present.size()) {
    Drive& drive = *present[settle_drive_];
    const auto walk = drive.cursor();
    RETURN_IF_ERROR(walk->seek(settle_key_));
    for (std::size_t seen = 0; walk->valid(); ++seen) {
      RETURN_IF_ERROR(context.check());
      settle_key_ = std::string(walk->key());
      const CatalogueEntry entry = walk->entry();
      if (seen == kMovesAtOnce) return true;
      if (!entry.is_forgotten() && !entry.has(CatalogueEntry::kBucket)) {
        ASSIGN_OR_RETURN(auto to, home(settle_key_));
        if (to.get() != &drive) RETURN_IF_ERROR(settle_one(settle_key_, drive, to, context));
      }
      RETURN_IF_ERROR(walk->next());
    }
    ++settle_drive_;
    settle_key_.clear();
  }
  settle_drive_ = 0;
  const Members all = members();
  const std::uint64_t stuck = std::exchange(stuck_, 0);
  if (stuck > 0) {
    return Error(ErrorCode::kCorrupted,
                 fmt::format("{} damaged objects cannot be moved; 'leat verify' lists them, and "
                             "they can be written again or removed",
                             stuck));
  }
  for (const auto& member : all) {
    if (!member->drive) return false;  // what it holds cannot be looked at
  }
  std::vector<std::string> ids;
  for (const auto& member : all) ids.push_back(member->id);
  // A crash may have come between the making of a drive and this.
  RETURN_IF_ERROR(copy_bucket_records(context));
  RETURN_IF_ERROR(write_set(ids, Settled::kYes));
  return true;
}

}  // namespace leat::local
