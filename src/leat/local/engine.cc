#include "leat/local/engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "leat/local/layout.h"
#include "leat/local/placement.h"

namespace leat::local {
namespace {

// The low bits of a generation count within an epoch.
constexpr unsigned kEpochShift = 40;
constexpr std::string_view kOwnerFile = "leat.owner";
constexpr std::uint64_t kMaxOwnerBytes = 4096;

std::string owner_of(FileSystem& files) {
  const auto bytes = files.read_file(kOwnerFile, kMaxOwnerBytes);
  if (!bytes.ok()) return "another process";
  std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

Engine::~Engine() = default;

Status Engine::format(const std::vector<std::string>& directories, const StoreOptions& options) {
  if (directories.empty()) return Error(ErrorCode::kInvalidArgument, "a store needs a directory");
  Superblock superblock;
  ASSIGN_OR_RETURN(superblock.store_id, options.make_id());
  std::vector<std::unique_ptr<FileSystem>> all;
  for (const std::string& directory : directories) {
    ASSIGN_OR_RETURN(auto files, options.open_directory(directory));
    auto existing = read_superblock(*files);
    if (existing.ok()) {
      return Error(ErrorCode::kAlreadyExists, fmt::format("{} holds a store already", directory));
    }
    if (!existing.failed_with(ErrorCode::kNotFound)) return std::move(existing).error();
    ASSIGN_OR_RETURN(auto id, options.make_id());
    superblock.drive_ids.push_back(std::move(id));
    all.push_back(std::move(files));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    superblock.drive_id = superblock.drive_ids[i];
    RETURN_IF_ERROR(Drive::format(*all[i], superblock));
  }
  return ok_status();
}

Result<std::unique_ptr<FileLock>> Engine::lock_drive(FileSystem& files) {
  const MonotonicTime deadline = options_.clock->now() + options_.lock_patience;
  for (;;) {
    auto lock = files.try_lock(kLockFile);
    if (!lock.failed_with(ErrorCode::kBusy)) return lock;
    RETURN_IF_ERROR(options_.opening.check());
    const std::string owner = owner_of(files);
    const std::size_t url = owner.find("leat://");
    if (url == owner.npos && options_.clock->now() < deadline) {
      options_.clock->sleep_for(std::chrono::milliseconds(20));  // a command that will end soon
      continue;
    }
    std::string advice = url == owner.npos ? "wait for it to end" : "use " + owner.substr(url);
    return Error(ErrorCode::kBusy,
                 fmt::format("the store in {} belongs to {}; {}", files.root(), owner, advice));
  }
}

Result<std::shared_ptr<Engine::Member>> Engine::open_member(const std::string& directory) {
  ASSIGN_OR_RETURN(auto files, options_.open_directory(directory));
  auto member = std::make_shared<Member>();
  auto superblock = read_superblock(*files);
  if (superblock.failed_with(ErrorCode::kNotFound)) {
    return Error(ErrorCode::kNotFound, fmt::format("{} is not a drive of a store", directory));
  }
  if (is_writable()) {
    ASSIGN_OR_RETURN(auto lock, lock_drive(*files));
    {
      WriterLock guard(drives_mutex_);
      locks_.push_back(std::move(lock));
    }
    superblock = read_superblock(*files);  // as the last owner left it
  }
  if (!superblock.ok()) return std::move(superblock).error();
  member->directory = directory;
  member->id = superblock->drive_id;
  member->is_draining = superblock->is_draining;
  if (is_writable()) {
    // For messages only: a full disk must not keep anyone from reading and removing.
    const std::string owner = fmt::format("process {}\n", getpid());
    (void)files->replace_file(kOwnerFile, std::as_bytes(std::span(owner)));
  }
  ASSIGN_OR_RETURN(member->drive, Drive::open(std::move(files), *std::move(superblock), access_,
                                              options_.drive, generations_));
  return member;
}

Result<std::unique_ptr<Engine>> Engine::open(const std::vector<std::string>& directories,
                                             PackLog::Access access, const StoreOptions& options) {
  std::unique_ptr<Engine> engine(new Engine(access, options));
  std::vector<std::shared_ptr<Member>> opened;
  Status away = ok_status();
  for (const std::string& directory : directories) {
    ASSIGN_OR_RETURN(const bool is_there, LocalStore::is_drive(directory, options));
    if (!is_there) {
      away = Error(ErrorCode::kNotFound, fmt::format("{} is not a drive of a store", directory));
      continue;
    }
    ASSIGN_OR_RETURN(auto member, engine->open_member(directory));
    opened.push_back(std::move(member));
  }
  if (opened.empty() && !away.ok()) return away.error();
  RETURN_IF_ERROR(engine->adopt_members(std::move(opened)));
  // What is not there may be the drive that is missing. If none is, it never was a drive.
  if (!away.ok() && engine->check_whole().ok()) return away.error();
  return engine;
}

// Checks that the drives belong together, and learns which are missing.
Status Engine::adopt_members(std::vector<std::shared_ptr<Member>> opened) {
  if (opened.empty()) return Error(ErrorCode::kNotFound, "a store needs a directory");
  Superblock newest = opened.front()->drive->superblock();
  bool settled = true;
  for (const auto& member : opened) {
    const Superblock block = member->drive->superblock();
    if (block.store_id != newest.store_id) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{} and {} belong to different stores", opened.front()->directory,
                               member->directory));
    }
    if (block.set_epoch > newest.set_epoch) newest = block;
    settled &= block.is_settled && !block.is_draining;
  }
  Members all;
  for (const std::string& id : newest.drive_ids) {
    const auto it =
        std::find_if(opened.begin(), opened.end(), [&](const auto& m) { return m->id == id; });
    if (it != opened.end()) {
      all.push_back(*it);
    } else {
      auto missing = std::make_shared<Member>();
      missing->id = id;
      all.push_back(std::move(missing));
    }
  }
  for (const auto& member : opened) {
    if (std::find(newest.drive_ids.begin(), newest.drive_ids.end(), member->id) ==
        newest.drive_ids.end()) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} was taken out of the store; 'leat drive add' takes an empty directory",
                      member->directory));
    }
  }
  {
    WriterLock lock(drives_mutex_);
    members_ = std::move(all);
  }
  settle_set_epoch_ = newest.set_epoch;
  update_settled(settled ? Settled::kYes : Settled::kNo);
  return ok_status();
}

void Engine::update_settled(Settled settled) {
  const Members all = members();
  const bool whole =
      std::all_of(all.begin(), all.end(), [](const auto& m) { return m->drive != nullptr; });
  settled_.store(settled == Settled::kYes);
  open_objects_.clear();
  for (const auto& member : all) {
    if (member->drive) member->drive->set_tombstones_droppable(settled == Settled::kYes && whole);
  }
}

Engine::Members Engine::members() const {
  ReaderLock lock(drives_mutex_);
  return members_;
}

std::vector<std::shared_ptr<Drive>> Engine::drives() const {
  std::vector<std::shared_ptr<Drive>> present;
  for (const auto& member : members()) {
    if (member->drive) present.push_back(member->drive);
  }
  return present;
}

Status Engine::check_whole() const {
  ReaderLock lock(drives_mutex_);
  for (const auto& member : members_) {
    if (member->drive) continue;
    return Error(ErrorCode::kUnavailable,
                 fmt::format("drive {} of the store is missing, and with it some of the objects; "
                             "'leat drive ls' shows the drives",
                             member->id));
  }
  return ok_status();
}

Status Engine::begin_writing() {
  if (writing_.load(std::memory_order_acquire)) return ok_status();
  if (!is_writable()) {
    return Error(ErrorCode::kPermissionDenied,
                 "the store is open for reading only here; the process that opened it may write");
  }
  MutexLock lock(writing_mutex_);
  if (writing_.load()) return ok_status();
  std::uint64_t epoch = 0;
  bool whole = true;
  for (const auto& member : members()) {
    whole &= member->drive != nullptr;
    if (member->drive) epoch = std::max(epoch, member->drive->superblock().epoch);
  }
  ++epoch;
  for (const auto& drive : drives()) {
    const auto begin = [&](Superblock& block) {
      block.epoch = epoch;
      block.is_clean = false;
      // What is written while a drive is away may belong there.
      if (!whole) block.is_settled = false;
    };
    Reserve& reserve = drive->log().reserve();
    Status begun = drive->update_superblock(begin);
    // Perhaps something is to be removed; nothing else will be written in that room.
    if (begun.failed_with(ErrorCode::kNoSpace) && reserve.give_up()) {
      begun = drive->update_superblock(begin);
    }
    RETURN_IF_ERROR(begun);
  }
  if (!whole) update_settled(Settled::kNo);
  generations_.start(epoch << kEpochShift);
  writing_.store(true, std::memory_order_release);
  return ok_status();
}

Result<std::shared_ptr<Drive>> Engine::home(std::string_view key) const {
  ReaderLock lock(drives_mutex_);
  const Member* best = nullptr;
  std::uint64_t best_score = 0;
  for (const auto& member : members_) {
    if (!member->drive || member->is_draining) continue;
    if (members_.size() == 1) return member->drive;
    const std::uint64_t score = placement_score(key, member->id);
    if (best == nullptr || score > best_score) {
      best = member.get();
      best_score = score;
    }
  }
  if (best == nullptr) return Error(ErrorCode::kUnavailable, "no drive is there to write to");
  return best->drive;
}

Result<std::optional<Located>> Engine::find(std::string_view key, ReadAlong read_along,
                                            const Context& context) {
  if (!is_settled()) return find_newest(key, read_along, context);
  ASSIGN_OR_RETURN(auto drive, home(key));
  ASSIGN_OR_RETURN(auto found, drive->find(key, read_along, context));
  if (found && !found->is_tombstone())
    return std::optional(Located{*std::move(found), std::move(drive)});
  // The set may have changed between the two looks.
  if (!is_settled()) return find_newest(key, read_along, context);
  ASSIGN_OR_RETURN(const bool unknown, may_be_missing(key));
  if (unknown) return Error(ErrorCode::kUnavailable, "its drive is missing");
  return std::optional<Located>();
}

std::optional<std::span<const std::byte>> Engine::read_now(std::string_view key,
                                                           std::span<std::byte> space,
                                                           ObjectInfo& info) {
  if (!is_settled()) return std::nullopt;
  const auto drive = home(key);
  if (!drive.ok()) return std::nullopt;
  return (*drive)->read_now(key, space, info);
}

std::shared_ptr<ObjectReader> Engine::open_now(std::string_view key) {
  if (!is_settled()) return nullptr;
  const auto drive = home(key);
  if (!drive.ok()) return nullptr;
  const std::uint64_t hash = hash_key(key);
  for (const Place place : (*drive)->places(hash)) {
    if (auto reader = open_objects_.find(hash, key, place)) return reader;
  }
  return nullptr;
}

void Engine::keep_open(std::string_view key, Place place, std::shared_ptr<ObjectReader> reader) {
  const std::uint64_t hash = hash_key(key);
  open_objects_.put(hash, key, place, std::move(reader));
  // A change meanwhile did not find it to be dropped.
  const auto drive = home(key);
  const auto is_there = [&](Place other) { return other.location() == place.location(); };
  if (drive.ok() && is_settled()) {
    const NameTable::Matches places = (*drive)->places(hash);
    if (std::any_of(places.begin(), places.end(), is_there)) return;
  }
  open_objects_.drop(hash, key);
}

Result<std::optional<Located>> Engine::find_newest(std::string_view key, ReadAlong read_along,
                                                   const Context& context) {
  std::optional<Located> newest;
  for (auto& drive : drives()) {
    ASSIGN_OR_RETURN(auto found, drive->find(key, read_along, context));
    if (!found) continue;
    const bool wins = !newest || found->record.generation > newest->found.record.generation ||
                      (found->record.generation == newest->found.record.generation &&
                       newest->found.is_tombstone());
    if (wins) newest = Located{*std::move(found), drive};
  }
  if (newest && !newest->found.is_tombstone()) return newest;
  if (!newest) {
    ASSIGN_OR_RETURN(const bool unknown, may_be_missing(key));
    if (unknown) return Error(ErrorCode::kUnavailable, "a drive is missing that may have it");
  }
  return std::optional<Located>();
}

// Whether a drive that is not there may hold the key.
Result<bool> Engine::may_be_missing(std::string_view key) const {
  ReaderLock lock(drives_mutex_);
  const Member* best = nullptr;
  bool any_missing = false;
  for (const auto& member : members_) {
    any_missing |= member->drive == nullptr;
    if (best == nullptr || placement_score(key, member->id) > placement_score(key, best->id))
      best = member.get();
  }
  if (!any_missing) return false;
  return !settled_.load() || best->drive == nullptr;
}

Status Engine::commit(const std::shared_ptr<Drive>& drive, Change& change, const Context& context) {
  RETURN_IF_ERROR(begin_writing());
  ReaderLock lock(set_mutex_);
  ASSIGN_OR_RETURN(const auto to, home(change.record.key));
  if (to != drive && change.record.kind == RecordKind::kReference) {
    return Error(ErrorCode::kUnavailable,
                 "the drives of the store changed while the object was written; write it again");
  }
  if (!is_settled()) RETURN_IF_ERROR(bring_home(change, to, context));
  Status committed = to->commit(change, context);
  open_objects_.drop(hash_key(change.record.key), change.record.key);
  return committed;
}

Status Engine::remove(std::string_view key, const Precondition& precondition, Durability durability,
                      const Context& context) {
  Record record;
  record.kind = RecordKind::kDelete;
  record.key = key;
  record.mtime_ns = options_.clock->wall_ns();
  Change change(std::move(record), {});
  change.precondition = precondition;
  change.wait_for_disk = durability != Durability::kMemory;
  ASSIGN_OR_RETURN(const auto drive, home(key));
  return commit(drive, change, context);
}

bool Engine::needs_maintenance() const {
  if (!is_settled() && writing_.load()) return true;
  for (const auto& drive : drives()) {
    if (drive->needs_maintenance()) return true;
  }
  return false;
}

Result<bool> Engine::maintain(const Context& context) {
  bool worked = false;
  for (const auto& drive : drives()) {
    ASSIGN_OR_RETURN(const bool did, drive->maintain(context));
    worked |= did;
  }
  if (!worked && !is_settled()) return settle_some(context);
  return worked;
}

Status Engine::announce(std::string_view url) {
  const std::string owner = fmt::format("process {}, which serves it at {}\n", getpid(), url);
  for (const auto& drive : drives()) {
    RETURN_IF_ERROR(drive->files().replace_file(kOwnerFile, std::as_bytes(std::span(owner))));
  }
  return ok_status();
}

Status Engine::close(const Context& context) {
  Status status = ok_status();
  open_objects_.clear();
  for (const auto& drive : drives()) {
    if (auto closed = drive->close(context); !closed.ok()) status = std::move(closed);
  }
  WriterLock lock(drives_mutex_);
  locks_.clear();
  return status;
}

Engine::Cursor::Cursor(const std::vector<std::shared_ptr<Drive>>& drives) : drives_(drives) {
  for (const auto& drive : drives_) cursors_.push_back(drive->cursor());
}

Status Engine::Cursor::seek(std::string_view at_or_after) {
  for (const auto& cursor : cursors_) RETURN_IF_ERROR(cursor->seek(at_or_after));
  return pick();
}

Status Engine::Cursor::next() {
  RETURN_IF_ERROR(skip_current());
  return pick();
}

Status Engine::Cursor::skip_current() {
  for (const auto& cursor : cursors_) {
    if (cursor->valid() && cursor->key() == key_) RETURN_IF_ERROR(cursor->next());
  }
  return ok_status();
}

// The smallest key of all drives, by its newest entry, if that one is visible.
Status Engine::Cursor::pick() {
  for (;;) {
    const Catalogue::Cursor* best = nullptr;
    for (const auto& cursor : cursors_) {
      if (!cursor->valid()) continue;
      if (best == nullptr || cursor->key() < best->key()) {
        best = cursor.get();
      } else if (cursor->key() == best->key()) {
        const CatalogueEntry& a = cursor->entry();
        const CatalogueEntry& b = best->entry();
        if (a.generation > b.generation || (a.generation == b.generation && a.is_visible()))
          best = cursor.get();
      }
    }
    valid_ = best != nullptr;
    if (!valid_) return ok_status();
    key_ = best->key();
    entry_ = &best->entry();
    if (entry_->is_visible()) return ok_status();
    RETURN_IF_ERROR(skip_current());
  }
}

}  // namespace leat::local
