#include "leat/local/drive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "leat/base/check.h"
#include "leat/base/hash.h"
#include "leat/base/hex.h"
#include "leat/local/layout.h"
#include "leat/local/path_escape.h"

namespace leat::local {
namespace {

// Records up to this length are read with one call; of longer ones the head comes first.
constexpr std::uint64_t kReadAlongBytes = 64 << 10;

std::uint64_t salt_of(std::string_view drive_id) {
  return xxh3_64(drive_id, 1) << 1;  // room for the sum with pack and block
}

PackLogOptions log_options(const DriveOptions& options, const Superblock& superblock) {
  PackLogOptions log = options.log;
  log.salt = salt_of(superblock.drive_id);
  return log;
}

// What a precondition looks at.
Error damaged_object(std::string_view key, Location location, std::string_view what) {
  return Error(ErrorCode::kCorrupted,
               fmt::format("{} is damaged ({} block {}: {}) and is not served; "
                           "'leat verify' lists what else is",
                           key, pack_path(location.pack), location.block, what));
}

}  // namespace

Drive::Drive(std::unique_ptr<FileSystem> files, Superblock superblock, PackLog::Access access,
             const DriveOptions& options, GenerationSource& generations)
    : files_(std::move(files)),
      drive_id_(superblock.drive_id),
      access_(access),
      options_(options),
      generations_(generations),
      log_(*files_, log_options(options, superblock), *this),
      record_cache_(options.record_cache_bytes),
      superblock_(std::move(superblock)) {}

Drive::~Drive() = default;

Status Drive::format(FileSystem& files, const Superblock& superblock) {
  for (const std::string_view directory :
       {kPackDirectory, kObjectDirectory, kCatalogueDirectory, kTemporaryDirectory}) {
    RETURN_IF_ERROR(files.make_directories(directory));
  }
  return write_superblock(files, superblock);
}

Result<std::unique_ptr<Drive>> Drive::open(std::unique_ptr<FileSystem> files, Superblock superblock,
                                           PackLog::Access access, const DriveOptions& options,
                                           GenerationSource& generations) {
  std::unique_ptr<Drive> drive(
      new Drive(std::move(files), superblock, access, options, generations));
  Status status = drive->load();
  if (status.failed_with(ErrorCode::kCorrupted) && access == PackLog::Access::kReadWrite) {
    // A block of the catalogue was needed and is damaged: the packs know everything.
    RETURN_IF_ERROR(drive->discard_catalogue());
    auto same_files = std::move(drive->files_);
    drive.reset(
        new Drive(std::move(same_files), std::move(superblock), access, options, generations));
    status = drive->load();
  }
  if (!status.ok()) {
    return std::move(status).error().within(fmt::format("open drive {}", drive->files_->root()));
  }
  return drive;
}

Status Drive::load() {
  Location checkpoint;
  {
    NameTable table;
    auto opened = Catalogue::open(*files_, options_.catalogue, table);
    if (opened.ok()) {
      catalogue_ = *std::move(opened);
      checkpoint = catalogue_->checkpoint();
      WriterLock lock(table_mutex_);
      table_ = std::move(table);
    } else if (opened.failed_with(ErrorCode::kNotFound) ||
               opened.failed_with(ErrorCode::kCorrupted)) {
      // Lost or damaged: the packs know everything.
      ASSIGN_OR_RETURN(catalogue_, access_ == PackLog::Access::kReadWrite
                                       ? Catalogue::create(*files_, options_.catalogue)
                                       : Catalogue::in_memory(*files_, options_.catalogue));
    } else {
      return std::move(opened).error();
    }
  }
  bool has_room = access_ == PackLog::Access::kReadWrite && log_.reserve().keep();
  const auto visit = [&](const Record& record, Place place) -> Status {
    RETURN_IF_ERROR(replay(record, place));
    if (!has_room || !has_full_overlay()) return ok_status();
    // A long replay must not need long memory. Not a checkpoint: the log is not read to its end.
    Status flushed = catalogue_->flush(catalogue_->checkpoint());
    // A full disk must not keep anyone from reading and removing.
    has_room = !flushed.failed_with(ErrorCode::kNoSpace);
    return has_room ? flushed : ok_status();
  };
  ASSIGN_OR_RETURN(auto recovered, log_.recover(checkpoint, access_, visit));
  for (PackLog::Damage& damage : recovered.damages) report_damage(std::move(damage));
  RETURN_IF_ERROR(forget_missing_packs());
  RETURN_IF_ERROR(load_shared_files());
  if (access_ == PackLog::Access::kReadOnly) return ok_status();
  sweep_is_due_.store(!superblock().is_clean);
  return clean_temporary();
}

// One record of the log, at start. The newest generation wins; of equal ones, which compaction
// makes, the later.
Status Drive::replay(const Record& record, Place place) {
  const std::uint64_t hash = hash_key(record.key);
  ASSIGN_OR_RETURN(auto current, find_entry(record.key, hash));
  if (current &&
      (current->place.location() == place.location() || record.generation < current->generation)) {
    return ok_status();
  }
  CatalogueEntry entry = catalogue_entry(record, place);
  if (current) entry.previous = current->place;
  apply(record.key, hash, entry);
  return ok_status();
}

// The table says what is live in each pack. It may also speak of packs that are gone: compaction
// dropped superfluous tombstones with them, and the checkpoint is older than that.
Status Drive::forget_missing_packs() {
  std::unordered_map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> live;
  {
    ReaderLock lock(table_mutex_);
    table_.for_each([&](Place place) {
      auto& [all, tombstones] = live[place.location().pack];
      all += place.counted_bytes();
      if (place.is_tombstone()) tombstones += place.counted_bytes();
    });
  }
  for (const auto& pack : log_.packs()) {
    const auto it = live.find(pack->id());
    if (it == live.end()) {
      pack->set_live_bytes(0, 0);
      continue;
    }
    pack->set_live_bytes(it->second.first, it->second.second);
    live.erase(it);
  }
  if (live.empty()) return ok_status();
  const auto walk = catalogue_->cursor();
  RETURN_IF_ERROR(walk->seek(""));
  while (walk->valid()) {
    const CatalogueEntry entry = walk->entry();
    const std::string key(walk->key());
    const Location location = entry.place.location();
    if (!entry.is_forgotten() && live.contains(location.pack)) {
      if (entry.is_tombstone()) {
        forget(key, hash_key(key), entry.place);
      } else {
        report_damage({location, entry.place.length_bytes(), key + ": its pack is missing"});
      }
    }
    RETURN_IF_ERROR(walk->next());
  }
  return ok_status();
}

Status Drive::update_superblock(const std::function<void(Superblock&)>& change) {
  Superblock copy;
  {
    MutexLock lock(superblock_mutex_);
    change(superblock_);
    copy = superblock_;
  }
  return write_superblock(*files_, copy);
}

Superblock Drive::superblock() const {
  MutexLock lock(superblock_mutex_);
  return superblock_;
}

Result<std::optional<Found>> Drive::find(std::string_view key, ReadAlong read_along,
                                         const Context& context) {
  RETURN_IF_ERROR(context.check());
  const std::uint64_t hash = hash_key(key);
  const bool is_plain = is_plain_path(key);
  const std::string escaped = is_plain ? std::string() : escape_path(key);
  const std::string_view path = is_plain ? key : std::string_view(escaped);
  // A record may move to another pack while it is looked up; it is at its new place then.
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const NameTable::Matches matches = places(hash);
    bool is_pack_gone = false;
    for (const Place place : matches) {
      auto pack = log_.pack(place.location().pack);
      if (!pack) {
        is_pack_gone = true;
        continue;
      }
      ASSIGN_OR_RETURN(auto found, read_found(key, path, place, std::move(pack), read_along));
      if (found) return found;
    }
    if (!is_pack_gone) return std::optional<Found>();
  }
  ASSIGN_OR_RETURN(const auto entry, find_in_catalogue(key));
  if (!entry) return std::optional<Found>();
  return damaged_object(key, entry->place.location(), "its pack is missing");
}

std::optional<std::span<const std::byte>> Drive::read_now(std::string_view key,
                                                          std::span<std::byte> space,
                                                          ObjectInfo& info) {
  const NameTable::Matches matches = places(hash_key(key));
  if (matches.size() != 1) return std::nullopt;
  const Place place = *matches.begin();
  const std::uint64_t length = place.length_bytes();
  if (!place.is_verified() || place.is_tombstone() || length == 0 || length > space.size()) {
    return std::nullopt;
  }
  const auto pack = log_.pack(place.location().pack);
  const std::uint64_t offset = place.location().offset_bytes();
  space = space.first(length);
  if (!pack || pack->file().read_now(offset, space) != length) return std::nullopt;
  const ConstTarBlock block(space.data(), kBlockBytes);
  if (!place.is_plain()) {
    std::uint64_t record_bytes = 0;
    const auto record = parse_record(space, pack->position(offset), &record_bytes);
    if (!record.ok() || record->kind != RecordKind::kObject || record->key != key ||
        record_bytes > length) {
      return std::nullopt;
    }
    info = info_of(*record);
    return space.subspan(record_bytes - padded_size(record->size_bytes), record->size_bytes);
  }
  const auto stamp = parse_stamp(block, pack->position(offset));
  const auto header = parse_header(block);
  if (!stamp.ok() || !header.ok() || !header_has_path(block, key)) return std::nullopt;
  if (kBlockBytes + header->size_bytes > length) return std::nullopt;
  info.size_bytes = header->size_bytes;
  info.mtime_ns = stamp->mtime_ns;
  info.generation = stamp->generation;
  info.crc32c = stamp->payload_crc32c;
  info.metadata.reset();
  info.etag = stamp->etag;
  if (info.etag.empty()) append_derived_etag(info.etag, stamp->generation, stamp->payload_crc32c);
  return space.subspan(kBlockBytes, header->size_bytes);
}

// The record at `place` if it is of `key`; nothing if it is of another key with the same hash.
Result<std::optional<Found>> Drive::read_found(std::string_view key, std::string_view path,
                                               Place place, std::shared_ptr<Pack> pack,
                                               ReadAlong read_along) {
  const std::uint64_t offset = place.location().offset_bytes();
  const std::uint64_t length = place.length_bytes();
  const bool whole =
      read_along == ReadAlong::kSmallObjects && length != 0 && length <= kReadAlongBytes;
  const std::uint64_t wanted = whole ? length : kBlockBytes;
  auto bytes = std::make_shared_for_overwrite<std::byte[]>(wanted);
  ASSIGN_OR_RETURN(const auto count, pack->file().read_at(offset, std::span(bytes.get(), wanted)));
  return interpret(key, path, place, std::move(pack), std::move(bytes), count);
}

// Decides what the bytes of a record, or of its first block, mean for whoever looks for `key`.
Result<std::optional<Found>> Drive::interpret(std::string_view key, std::string_view path,
                                              Place place, std::shared_ptr<Pack> pack,
                                              std::shared_ptr<const std::byte[]> bytes,
                                              std::uint64_t count) {
  const std::uint64_t offset = place.location().offset_bytes();
  Found found;
  found.place = place;
  if (count >= kBlockBytes && header_has_path(ConstTarBlock(bytes.get(), kBlockBytes), path)) {
    const ConstTarBlock block(bytes.get(), kBlockBytes);
    const auto stamp = parse_stamp(block, pack->position(offset));
    const auto header = parse_header(block);
    if (stamp.ok() && header.ok()) {
      found.record.generation = stamp->generation;
      found.record.mtime_ns = stamp->mtime_ns;
      found.record.crc32c = stamp->payload_crc32c;
      found.record.etag = stamp->etag;
      found.record.size_bytes = header->size_bytes;
      found.data_offset = offset + kBlockBytes;
      found.pack = std::move(pack);
      if (count > kBlockBytes && kBlockBytes + header->size_bytes <= count) {
        found.data = std::shared_ptr<const std::byte[]>(bytes, bytes.get() + kBlockBytes);
        RETURN_IF_ERROR(check_data(key, found, std::span(found.data.get(), header->size_bytes)));
      }
      return std::optional(std::move(found));
    }
  }
  if (count > kBlockBytes) {
    std::uint64_t length = 0;
    auto record = parse_record(std::span(bytes.get(), count), pack->position(offset), &length);
    if (record.ok() && record->key == key && record->kind == RecordKind::kObject &&
        length <= count) {
      const std::uint64_t head = length - padded_size(record->size_bytes);
      found.record = *std::move(record);
      found.data_offset = offset + head;
      found.pack = std::move(pack);
      found.data = std::shared_ptr<const std::byte[]>(bytes, bytes.get() + head);
      RETURN_IF_ERROR(check_data(key, found, std::span(found.data.get(), found.record.size_bytes)));
      return std::optional(std::move(found));
    }
  }
  return read_found_slowly(key, place, std::move(pack));
}

// Records of which more must be read, references, tombstones, and whatever is damaged.
Result<std::optional<Found>> Drive::read_found_slowly(std::string_view key, Place place,
                                                      std::shared_ptr<Pack> pack) {
  auto head = pack->read_head(place.location().offset_bytes());
  if (head.failed_with(ErrorCode::kCorrupted)) {
    // Whose record is it? The catalogue still knows; if that is damaged, too, it is taken for the
    // one that is asked for: the hash says so.
    auto entry = find_in_catalogue(key);
    if (!entry.ok() && !entry.failed_with(ErrorCode::kCorrupted)) return std::move(entry).error();
    if (entry.ok() && (!*entry || (*entry)->place.location() != place.location())) {
      return std::optional<Found>();
    }
    pack->set_damaged();
    report_damage({place.location(), place.length_bytes(), std::string(head.error().message())});
    if (place.is_tombstone() && entry.ok()) {
      // Nothing is lost: what is deleted stays so.
      Found tombstone;
      tombstone.place = place;
      tombstone.record.kind = RecordKind::kDelete;
      tombstone.record.generation = (*entry)->generation;
      tombstone.record.mtime_ns = (*entry)->mtime_ns;
      tombstone.pack = std::move(pack);
      return std::optional(std::move(tombstone));
    }
    return damaged_object(key, place.location(), head.error().message());
  }
  if (!head.ok()) return std::move(head).error();
  if (head->record.key != key) return std::optional<Found>();
  Found found;
  found.place = place;
  found.record = std::move(head->record);
  found.data_offset = place.location().offset_bytes() + head->head_bytes;
  found.pack = std::move(pack);
  return std::optional(std::move(found));
}

Status Drive::check_data(std::string_view key, const Found& found,
                         std::span<const std::byte> data) {
  if (found.place.is_verified()) return ok_status();
  if (crc32c(0, data) == found.record.crc32c) {
    Place place = found.place.verified();
    if (is_whole_name(key)) {
      const std::uint64_t head = found.data_offset - place.location().offset_bytes();
      place = place.with_extension(head - kBlockBytes);
    }
    mark_learned(key, place);
    return ok_status();
  }
  {
    // They may have been good when they were first read.
    ReaderLock lock(table_mutex_);
    table_.unmark_verified(hash_key(key), found.place);
  }
  constexpr std::string_view kWhat = "the bytes do not match their checksum";
  found.pack->set_damaged();
  report_damage(
      {found.place.location(), found.place.length_bytes(), fmt::format("{}: {}", key, kWhat)});
  return damaged_object(key, found.place.location(), kWhat);
}

void Drive::mark_learned(std::string_view key, Place place) {
  ReaderLock lock(table_mutex_);
  table_.mark_learned(hash_key(key), place);
}

void Drive::find_places(std::span<const std::uint64_t> hashes,
                        std::span<NameTable::Matches> matches) const {
  ReaderLock lock(table_mutex_);
  for (const std::uint64_t hash : hashes) table_.prefetch(hash);
  for (std::size_t i = 0; i < hashes.size(); ++i) matches[i] = table_.find(hashes[i]);
}

Result<std::optional<CatalogueEntry>> Drive::find_in_catalogue(std::string_view key) {
  const auto walk = catalogue_->cursor();
  RETURN_IF_ERROR(walk->seek(key));
  if (!walk->valid() || walk->key() != key || walk->entry().is_forgotten()) {
    return std::optional<CatalogueEntry>();
  }
  return std::optional(walk->entry());
}

Result<std::optional<CatalogueEntry>> Drive::find_entry(std::string_view key, std::uint64_t hash) {
  if (auto entry = catalogue_->find_in_memory(key)) {
    if (entry->is_forgotten()) return std::optional<CatalogueEntry>();
    return entry;
  }
  NameTable::Matches matches;
  {
    ReaderLock lock(table_mutex_);
    matches = table_.find(hash);
  }
  for (const Place place : matches) {
    const auto pack = log_.pack(place.location().pack);
    auto head = pack ? pack->read_head(place.location().offset_bytes())
                     : Result<Pack::Head>(Error(ErrorCode::kCorrupted, "its pack is gone"));
    if (head.failed_with(ErrorCode::kCorrupted)) {
      ASSIGN_OR_RETURN(auto entry, find_in_catalogue(key));
      if (entry && entry->place.location() == place.location()) return entry;
      continue;
    }
    if (!head.ok()) return std::move(head).error();
    if (head->record.key == key) return std::optional(catalogue_entry(head->record, place));
  }
  return std::optional<CatalogueEntry>();
}

Status Drive::prepare(Change& change) {
  ASSIGN_OR_RETURN(auto current, find_entry(change.record.key, change.hash));
  if (change.keeps_generation && change.moved_from == Location{}) {
    // From another drive, where it is as old as its generation says.
    // A tombstone of the same age is the trace of its departure.
    const bool returns = current && current->generation == change.record.generation &&
                         current->is_tombstone() && change.record.kind != RecordKind::kDelete;
    if (current && current->generation >= change.record.generation && !returns) {
      return Error(ErrorCode::kPreconditionFailed, "the drive has a newer record");
    }
  }
  if (change.moved_from != Location{}) {
    if (!current || current->place.location() != change.moved_from) {
      return Error(ErrorCode::kPreconditionFailed, "the record to move was replaced");
    }
    change.entry.previous = current->place;
    if (change.record.kind == RecordKind::kDelete) find_freed_files(*current, change);
    return ok_status();
  }
  const auto& elsewhere = change.damaged_elsewhere;
  const bool is_elsewhere = elsewhere && (!current || current->generation < elsewhere->generation);
  const bool is_there = is_elsewhere || (current && current->is_visible());
  const ObjectInfo info = is_elsewhere ? *elsewhere : is_there ? info_of(*current) : ObjectInfo();
  RETURN_IF_ERROR(change.precondition.check(is_there ? &info : nullptr));
  if (change.record.kind == RecordKind::kDelete && !is_there && !change.keeps_generation) {
    return ErrorCode::kNotFound;
  }
  if (!current) {
    ReaderLock lock(table_mutex_);
    if (table_.is_full(change.hash)) {
      return Error(ErrorCode::kTooLarge, "too many names with the same hash: choose another name");
    }
    return ok_status();
  }
  change.entry.previous = current->place;
  find_freed_files(*current, change);
  return ok_status();
}

// The files of a large object that `change` replaces. If its record cannot be read they stay, for
// people to save what can be saved.
void Drive::find_freed_files(const CatalogueEntry& replaced, Change& change) const {
  if (!replaced.has(CatalogueEntry::kReference)) return;
  const auto pack = log_.pack(replaced.place.location().pack);
  if (!pack) return;
  auto head = pack->read_head(replaced.place.location().offset_bytes());
  if (!head.ok()) return;
  change.freed = std::move(head->record.extents);
  if (change.record.options.contains(std::string(kSharedOption))) return;  // counted
  // A file that was lost may have left its name to the new one.
  std::erase_if(change.freed, [&](const Extent& freed) {
    const auto& kept = change.record.extents;
    return std::any_of(kept.begin(), kept.end(),
                       [&](const Extent& extent) { return extent.path == freed.path; });
  });
}

void Drive::publish(std::span<Change* const> changes) {
  for (const Change* change : changes) {
    // A record that only moves keeps the references that it has.
    const bool counted = change->moved_from != Location{} && change->entry.previous.is_shared();
    if (change->entry.place.is_shared() && !counted) add_references(change->record.extents);
    if (!change->freed.empty()) claim_files(change->freed);  // until commit() has removed them
    apply(change->record.key, change->hash, change->entry);
  }
}

void Drive::apply(std::string_view key, std::uint64_t hash, CatalogueEntry entry) {
  MutexLock order(changes_mutex_);
  // Since the change was prepared, the tombstone that it replaces may have become superfluous.
  if (entry.previous.is_tombstone() && !has_place(hash, entry.previous)) entry.previous = Place();
  const auto new_pack = log_.pack(entry.place.location().pack);
  const auto old_pack = log_.pack(entry.previous.location().pack);
  catalogue_->put(key, entry);
  if (new_pack) new_pack->add_live(entry.place);
  WriterLock lock(table_mutex_);
  if (entry.previous.bits() != 0) {
    table_.replace(hash, entry.previous, entry.place);
    if (old_pack) old_pack->remove_live(entry.previous);
  } else {
    CHECK(table_.insert(hash, entry.place));
  }
}

bool Drive::has_place(std::uint64_t hash, Place place) const {
  ReaderLock lock(table_mutex_);
  for (const Place match : table_.find(hash)) {
    if (match.location() == place.location()) return true;
  }
  return false;
}

// Nothing happens when the key has a newer record by now.
void Drive::forget(std::string_view key, std::uint64_t hash, Place place) {
  MutexLock order(changes_mutex_);
  if (!has_place(hash, place)) return;
  CatalogueEntry entry;
  entry.previous = place;
  catalogue_->put(key, entry);
  WriterLock lock(table_mutex_);
  table_.erase(hash, place);
}

Status Drive::commit(Change& change, const Context& context) {
  return commit(std::span(&change, 1), context);
}

Status Drive::commit(std::span<Change> changes, const Context& context) {
  Status status = log_.commit(changes, context);
  for (const Change& change : changes) {
    if (change.result.ok()) release_files(change.freed);
  }
  return status;
}

// Whether enough entries are in memory to be written to the catalogue.
bool Drive::has_full_overlay() const {
  return !catalogue_discarded_.load() &&
         catalogue_->entries_in_memory() >= options_.catalogue.flush_entries;
}

bool Drive::needs_maintenance() const {
  return sweep_is_due_.load() || has_full_overlay() || pick_pack().has_value();
}

Result<bool> Drive::maintain(const Context& context) {
  if (sweep_is_due_.load()) {
    RETURN_IF_ERROR(remove_orphans(context));
    sweep_is_due_.store(false);
    return true;
  }
  // The catalogue does not take the room of removing either.
  const bool is_full = log_.reserve().is_given_up() && !log_.reserve().keep();
  if (has_full_overlay() && !is_full) {
    const Status written = checkpoint();
    const bool needs_room = written.failed_with(ErrorCode::kNoSpace) && pick_pack();
    if (!needs_room) RETURN_IF_ERROR(written);
    while (!needs_room) {
      RETURN_IF_ERROR(context.check());
      ASSIGN_OR_RETURN(const bool merged, catalogue_->merge());
      if (!merged) return true;
    }
  }
  if (const auto id = pick_pack()) {
    if (const auto pack = log_.pack(*id)) RETURN_IF_ERROR(compact(*pack, context));
    return true;
  }
  return false;
}

// What the catalogue says must never be ahead of what the packs durably hold.
Status Drive::checkpoint() {
  // In this order: the log holds everything that was frozen, and then durably so.
  catalogue_->freeze(log_.end());
  RETURN_IF_ERROR(log_.sync());
  if (catalogue_discarded_.load()) return ok_status();  // the next start begins it anew
  return catalogue_->write_frozen();
}

Status Drive::close(const Context& context) {
  RETURN_IF_ERROR(context.check());
  if (access_ == PackLog::Access::kReadOnly || superblock().is_clean) return ok_status();
  RETURN_IF_ERROR(checkpoint());
  if (may_have_orphans_.load()) return ok_status();
  return update_superblock([](Superblock& block) { block.is_clean = true; });
}

void Drive::report_damage(PackLog::Damage damage) {
  MutexLock lock(damage_mutex_);
  for (const PackLog::Damage& known : damages_) {
    if (known.location == damage.location && known.what == damage.what) return;
  }
  constexpr std::size_t kMost = 1000;  // the rest is found when these are mended
  if (damages_.size() < kMost) damages_.push_back(std::move(damage));
}

std::vector<PackLog::Damage> Drive::damages() const {
  MutexLock lock(damage_mutex_);
  return damages_;
}

Result<Drive::Usage> Drive::usage() const {
  Usage usage;
  {
    ReaderLock lock(table_mutex_);
    usage.objects = table_.size();
    usage.table_bytes = table_.memory_bytes();
  }
  for (const auto& pack : log_.packs()) {
    usage.pack_bytes += pack->end_bytes();
    usage.dead_bytes += pack->end_bytes() - std::min(pack->end_bytes(), pack->live_bytes());
  }
  usage.catalogue_bytes = catalogue_->disk_bytes();
  ASSIGN_OR_RETURN(auto entries, files_->read_directory(kTemporaryDirectory));
  for (const DirectoryEntry& entry : entries) {
    const auto status = files_->status(fmt::format("{}/{}", kTemporaryDirectory, entry.name));
    if (status.ok()) usage.temporary_bytes += status->allocated_bytes;
  }
  return usage;
}

}  // namespace leat::local
