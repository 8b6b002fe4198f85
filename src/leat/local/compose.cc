// Bucket::compose() and join(): one object from many, without moving bytes. The end of a multipart
// upload.
#include <functional>

#include "leat/base/hash.h"
#include "leat/local/bucket.h"
#include "leat/local/object_bytes.h"
#include "leat/local/object_writer.h"

namespace leat::local {
namespace {

// A small source, found on `from`, as a file of its own on `to`.
Result<Record> write_as_file(Drive& from, Drive& to, const Found& found,
                             std::string_view target_key, Durability durability) {
  ASSIGN_OR_RETURN(const auto bytes, read_packed_object(from, found.record.key, found));
  ASSIGN_OR_RETURN(const std::string temporary, to.temporary_path());
  ASSIGN_OR_RETURN(auto file, to.files().open(temporary, OpenMode::kCreate));
  const Status written = file->write_at(0, std::span<const std::byte>(bytes));
  if (!written.ok()) {
    (void)to.files().remove_file(temporary);
    return written.error();
  }
  ASSIGN_OR_RETURN(auto path, to.adopt_file(temporary, *file, target_key, durability));
  Record record = found.record;
  record.extents = {Extent{std::move(path), 0, bytes.size()}};
  record.block_crcs = {record.crc32c};
  return record;
}

}  // namespace

// The object stands; a part that cannot be removed now is an abandoned one, and one that was
// replaced meanwhile, by the object itself perhaps, is none any more.
void Bucket::remove_part(Engine& engine, const std::string& key, std::uint64_t generation,
                         const Context& context) {
  RemoveOptions unchanged;
  unchanged.precondition = Precondition::has_generation(generation);
  (void)remove_object(engine, key, unchanged, context);
}

Result<ObjectInfo> Bucket::compose(std::span<const std::string> sources, std::string_view target,
                                   const CreateOptions& options,
                                   const CommitOptions& commit_options, const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, begin(target, context));
  ASSIGN_OR_RETURN(const auto guard, BucketChange::begin(*state_));
  std::vector<JoinSource> added;
  for (const std::string& source : sources) added.push_back({key_of(source), std::nullopt});
  ASSIGN_OR_RETURN(auto info, join(added, target, options, commit_options, {}, context));
  for (const JoinSource& source : added)
    remove_part(*engine, source.key, *source.generation, context);
  return info;
}

Result<Record> Bucket::share_or_move(Engine& engine, const std::shared_ptr<Drive>& drive,
                                     JoinSource& source, Joining& joining, const Context& context) {
  for (;;) {
    ASSIGN_OR_RETURN(auto located, engine.find(source.key, ReadAlong::kSmallObjects, context));
    if (!located) return Error(ErrorCode::kNotFound, "a part of the object does not exist");
    Record& found = located->found.record;
    const std::uint64_t generation = found.generation;
    if (source.generation && *source.generation != generation)
      return Error(ErrorCode::kNotFound, "a part of the object was replaced");
    Record part;
    found.key = source.key;
    if (found.kind == RecordKind::kReference && located->drive == drive) {
      joining.pins.push_back(drive->pin_files(found.extents));
      ASSIGN_OR_RETURN(part, share_files(engine, source.key, context));
      if (part.generation != generation) continue;  // replaced meanwhile: that one, then
    } else if (found.kind == RecordKind::kReference) {
      // The drives of the store are changing: the part waits to be moved, and is copied here.
      const FilePin pin = located->drive->pin_files(found.extents);
      ASSIGN_OR_RETURN(part, engine.copy_files(found, *located->drive, *drive, context));
      joining.adopted.push_back(part.extents.front().path);
    } else if (found.size_bytes > 0) {
      ASSIGN_OR_RETURN(part, write_as_file(*located->drive, *drive, located->found,
                                           joining.target_key, joining.durability));
      joining.adopted.push_back(part.extents.front().path);
    }
    source.generation = generation;
    return part;
  }
}

Result<ObjectInfo> Bucket::join(std::span<JoinSource> sources, std::string_view target,
                                const CreateOptions& options, const CommitOptions& commit_options,
                                const std::map<std::string, std::string>& record_options,
                                const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, begin(target, context));
  ASSIGN_OR_RETURN(const auto guard, BucketChange::begin(*state_));
  RETURN_IF_ERROR(engine->begin_writing());
  const Durability durability = effective(options.durability, *state_);
  Record whole;
  whole.kind = RecordKind::kReference;
  whole.key = key_of(target);
  whole.metadata = options.metadata;
  whole.etag = commit_options.etag;
  for (const auto& [algorithm, value] : commit_options.checksums)
    whole.metadata.checksums[algorithm] = value;
  whole.options = record_options;
  whole.options[std::string(kSharedOption)] = "yes";
  ASSIGN_OR_RETURN(const auto drive, engine->home(whole.key));
  ASSIGN_OR_RETURN(const OldIndex old_index, OldIndex::of(*engine, whole.key, context));
  if (options.precondition.kind != Precondition::Kind::kNone) {  // before anything is made for it
    ASSIGN_OR_RETURN(const auto current, engine->find(whole.key, ReadAlong::kNothing, context));
    const auto info = current ? std::optional(info_of(current->found.record)) : std::nullopt;
    RETURN_IF_ERROR(options.precondition.check(info ? &*info : nullptr));
  }

  Joining joining{whole.key, durability, {}, {}};
  Status status = ok_status();
  for (JoinSource& source : sources) {
    auto part = share_or_move(*engine, drive, source, joining, context);
    if (!part.ok()) {
      status = std::move(part).error();
      break;
    }
    whole.crc32c = crc32c_combine(whole.crc32c, part->crc32c, part->size_bytes);
    whole.size_bytes += part->size_bytes;
    whole.extents.insert(whole.extents.end(), part->extents.begin(), part->extents.end());
    whole.block_crcs.insert(whole.block_crcs.end(), part->block_crcs.begin(),
                            part->block_crcs.end());
  }
  whole.mtime_ns = engine->options().clock->wall_ns();
  if (status.ok() && may_be_shard(whole.key))
    status = index_new_shard(*engine, drive, whole, context);
  Change change(whole, {});
  change.precondition = options.precondition;
  change.wait_for_disk = durability != Durability::kMemory;
  if (status.ok()) status = engine->commit(drive, change, context);
  for (const std::string& path : joining.adopted) {
    if (!status.ok()) drive->discard_adopted(path, status.error().code());
    drive->end_adoption(path);
  }
  if (!status.ok()) return status.error();
  old_index.drop(*engine, context);
  store_->changed();
  return info_of(change.record);
}

}  // namespace leat::local
