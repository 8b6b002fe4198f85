// Bucket::compose(): one object from many, without moving bytes. The end of a multipart upload.
#include <functional>

#include "leat/base/hash.h"
#include "leat/local/bucket.h"
#include "leat/local/object_bytes.h"
#include "leat/local/object_writer.h"

namespace leat::local {
namespace {

// A small source, as a file of its own on `drive`.
Result<Record> write_as_file(Drive& drive, const Found& found, std::string_view target_key,
                             Durability durability) {
  ASSIGN_OR_RETURN(const auto bytes, read_packed_object(drive, found.record.key, found));
  ASSIGN_OR_RETURN(const std::string temporary, drive.temporary_path());
  ASSIGN_OR_RETURN(auto file, drive.files().open(temporary, OpenMode::kCreate));
  RETURN_IF_ERROR(file->write_at(0, std::span<const std::byte>(bytes)));
  ASSIGN_OR_RETURN(auto path, drive.adopt_file(temporary, *file, target_key, durability));
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
  RETURN_IF_ERROR(engine->begin_writing());
  const Durability durability = effective(options.durability, *state_);
  Record whole;
  whole.kind = RecordKind::kReference;
  whole.key = key_of(target);
  whole.metadata = options.metadata;
  whole.etag = commit_options.etag;
  for (const auto& [algorithm, value] : commit_options.checksums)
    whole.metadata.checksums[algorithm] = value;
  whole.options[std::string(kSharedOption)] = "yes";
  ASSIGN_OR_RETURN(const auto drive, engine->home(whole.key));

  std::vector<FilePin> pins;
  std::vector<std::string> adopted;
  std::vector<std::pair<std::string, std::uint64_t>> added;  // keys and generations
  const std::function<Status(const std::string&)> add = [&](const std::string& key) -> Status {
    ASSIGN_OR_RETURN(auto located, engine->find(key, ReadAlong::kSmallObjects, context));
    if (!located) return Error(ErrorCode::kNotFound, "a part of the object does not exist");
    if (located->drive != drive)
      return Error(ErrorCode::kUnavailable, "a part is on another drive");
    const std::uint64_t generation = located->found.record.generation;
    Record part;
    if (located->found.record.kind == RecordKind::kReference) {
      pins.push_back(drive->pin_files(located->found.record.extents));
      ASSIGN_OR_RETURN(part, share_files(*engine, key, context));
      if (part.generation != generation) return add(key);  // replaced meanwhile: that one, then
    } else if (located->found.record.size_bytes > 0) {
      located->found.record.key = key;
      ASSIGN_OR_RETURN(part, write_as_file(*drive, located->found, whole.key, durability));
      adopted.push_back(part.extents.front().path);
    }
    added.emplace_back(key, generation);
    whole.crc32c = crc32c_combine(whole.crc32c, part.crc32c, part.size_bytes);
    whole.size_bytes += part.size_bytes;
    whole.extents.insert(whole.extents.end(), part.extents.begin(), part.extents.end());
    whole.block_crcs.insert(whole.block_crcs.end(), part.block_crcs.begin(), part.block_crcs.end());
    return ok_status();
  };
  Status status = ok_status();
  for (const std::string& source : sources) {
    status = add(key_of(source));
    if (!status.ok()) break;
  }
  whole.mtime_ns = engine->options().clock->wall_ns();
  ASSIGN_OR_RETURN(const OldIndex old_index, OldIndex::of(*engine, whole.key, context));
  if (status.ok() && may_be_shard(whole.key))
    status = index_new_shard(*engine, drive, whole, context);
  Change change(whole, {});
  change.precondition = options.precondition;
  change.wait_for_disk = durability != Durability::kMemory;
  if (status.ok()) status = engine->commit(drive, change, context);
  for (const std::string& path : adopted) {
    if (!status.ok()) drive->discard_adopted(path, status.error().code());
    drive->end_adoption(path);
  }
  if (!status.ok()) return status.error();
  old_index.drop(*engine, context);
  for (const auto& [key, generation] : added) remove_part(*engine, key, generation, context);
  store_->changed();
  return info_of(change.record);
}

}  // namespace leat::local
