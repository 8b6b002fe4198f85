#include "leat/local/shard_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "leat/base/hash.h"
#include "leat/local/object_bytes.h"
#include "leat/local/object_writer.h"

namespace leat::local {
namespace {

// Members up to this size are read whole and compared with their own checksum; larger ones block by
// block with those of the shard.
constexpr std::uint64_t kWholeMemberBytes = kChecksumBlockBytes;

class MemberReader final : public ObjectReader {
 public:
  MemberReader(LocatedMember located, std::unique_ptr<ObjectBytes> shard)
      : located_(std::move(located)), shard_(std::move(shard)), info_(member_info(located_)) {}

  const ObjectInfo& info() const noexcept override { return info_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override {
    RETURN_IF_ERROR(context.check());
    const ByteRange range = ByteRange{offset, target.size()}.within(info_.size_bytes);
    if (range.length == 0) return std::size_t{0};
    if (info_.size_bytes > kWholeMemberBytes) {
      return shard_->read_at(located_.member.data_offset + range.offset,
                             target.first(range.length));
    }
    ASSIGN_OR_RETURN(const auto data, whole());
    std::memcpy(target.data(), data->data() + range.offset, range.length);
    return static_cast<std::size_t>(range.length);
  }

  Result<std::vector<LocalExtent>> local_extents(ByteRange range, const Context& context) override {
    RETURN_IF_ERROR(context.check());
    range = range.within(info_.size_bytes);
    const bool small = info_.size_bytes <= kWholeMemberBytes;
    if (small) RETURN_IF_ERROR(whole());
    return shard_->extents({located_.member.data_offset + range.offset, range.length},
                           small ? ObjectBytes::Check::kNo : ObjectBytes::Check::kYes);
  }

 private:
  using Data = std::shared_ptr<const std::vector<std::byte>>;

  Result<Data> whole() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (data_) return data_;
    auto bytes = std::make_shared<std::vector<std::byte>>(info_.size_bytes);
    ASSIGN_OR_RETURN(const auto count, shard_->read_unchecked(located_.member.data_offset, *bytes));
    if (count != bytes->size() || crc32c(0, *bytes) != located_.member.crc32c) {
      return Error(ErrorCode::kCorrupted, fmt::format("{}/{} is damaged and is not served",
                                                      located_.shard_key, located_.member.name));
    }
    data_ = std::move(bytes);
    return data_;
  }

  const LocatedMember located_;
  const std::unique_ptr<ObjectBytes> shard_;
  const ObjectInfo info_;
  Mutex mutex_;  // held over the one read: others want the same bytes
  Data data_ GUARDED_BY(mutex_);
};

// A shard as index_shard() reads it.
class ShardReader final : public ObjectReader {
 public:
  ShardReader(ObjectInfo info, std::unique_ptr<ObjectBytes> bytes)
      : info_(std::move(info)), bytes_(std::move(bytes)) {}
  const ObjectInfo& info() const noexcept override { return info_; }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override {
    RETURN_IF_ERROR(context.check());
    return bytes_->read_at(offset, target);
  }

 private:
  const ObjectInfo info_;
  const std::unique_ptr<ObjectBytes> bytes_;
};

// Which generation of its index a shard names; nothing when the object is not a shard.
std::optional<std::uint64_t> index_generation(const Record& shard) {
  const auto option = shard.options.find(std::string(kShardOption));
  if (option == shard.options.end()) return std::nullopt;
  std::uint64_t generation = 0;
  std::from_chars(option->second.data(), option->second.data() + option->second.size(), generation);
  return generation;
}

// The index, made by reading the shard.
Result<std::shared_ptr<const ShardIndex>> read_index(Located located, std::string_view shard_key,
                                                     const Context& context) {
  ObjectInfo info;
  info.size_bytes = located.found.record.size_bytes;
  ASSIGN_OR_RETURN(auto bytes,
                   ObjectBytes::open(located.drive, shard_key, std::move(located.found)));
  ShardReader reader(std::move(info), std::move(bytes));
  ASSIGN_OR_RETURN(auto indexed, index_shard(reader, context));
  ASSIGN_OR_RETURN(auto index, ShardIndex::decode(std::move(indexed.blob)));
  return std::shared_ptr<const ShardIndex>(std::make_shared<ShardIndex>(std::move(index)));
}

// Commits an index under its key; returns its generation.
Result<std::uint64_t> write_index(Engine& engine, const std::string& key,
                                  std::span<const std::byte> blob, const Context& context) {
  ASSIGN_OR_RETURN(const auto drive, engine.home(key));
  Record record;
  record.key = key;
  record.mtime_ns = engine.options().clock->wall_ns();
  record.size_bytes = blob.size();
  record.crc32c = crc32c(0, blob);
  const bool is_large = blob.size() > engine.options().small_object_bytes;
  if (is_large) {
    ASSIGN_OR_RETURN(const std::string temporary, drive->temporary_path());
    ASSIGN_OR_RETURN(auto file, drive->files().open(temporary, OpenMode::kCreate));
    RETURN_IF_ERROR(file->write_at(0, blob));
    for (std::size_t at = 0; at < blob.size(); at += kChecksumBlockBytes) {
      const std::size_t length = std::min<std::size_t>(kChecksumBlockBytes, blob.size() - at);
      record.block_crcs.push_back(crc32c(0, blob.subspan(at, length)));
    }
    ASSIGN_OR_RETURN(auto path, drive->adopt_file(temporary, *file, key, Durability::kDisk));
    record.kind = RecordKind::kReference;
    record.extents = {Extent{std::move(path), 0, blob.size()}};
  }
  const std::vector<Extent> extents = record.extents;
  Change change(std::move(record), is_large ? std::span<const std::byte>() : blob);
  const Status status = engine.commit(drive, change, context);
  if (is_large) drive->end_adoption(extents.front().path);
  if (!status.ok()) {
    if (is_large) drive->discard_adopted(extents.front().path, status.error().code());
    return status.error();
  }
  return change.record.generation;
}

}  // namespace

std::string shard_index_key(std::string_view key) {
  return std::string(key) + '\0' + "index";
}

Result<std::optional<LocatedMember>> ShardMembers::find(Engine& engine, std::string_view key,
                                                        const Context& context) {
  for (std::size_t slash = key.find('/', key.find('/') + 1); slash != key.npos;
       slash = key.find('/', slash + 1)) {
    const std::string_view shard_key = key.substr(0, slash);
    if (!may_be_shard(shard_key) || slash + 1 == key.size()) continue;
    ASSIGN_OR_RETURN(auto shard, engine.find(shard_key, ReadAlong::kNothing, context));
    if (!shard) continue;
    ASSIGN_OR_RETURN(auto index, index_of(engine, shard_key, shard->found.record, context));
    if (!index) continue;
    if (const auto member = index->find(key.substr(slash + 1))) {
      return std::optional(
          LocatedMember{*std::move(shard), std::string(shard_key), std::move(index), *member});
    }
  }
  return std::optional<LocatedMember>();
}

Result<std::shared_ptr<const ShardIndex>> ShardMembers::index_of(Engine& engine,
                                                                 std::string_view shard_key,
                                                                 const Record& shard,
                                                                 const Context& context) {
  const auto generation = index_generation(shard);
  if (!generation) return std::shared_ptr<const ShardIndex>();
  {
    MutexLock lock(mutex_);
    if (const auto it = by_generation_.find(*generation); it != by_generation_.end()) {
      recent_.splice(recent_.begin(), recent_, it->second);
      return it->second->index;
    }
  }
  auto index = stored_index(engine, shard_key, shard, context);
  if (index.failed_with(ErrorCode::kCorrupted)) {
    ASSIGN_OR_RETURN(auto located, engine.find(shard_key, ReadAlong::kNothing, context));
    // Replaced just now: the members of the old one are gone.
    if (!located || index_generation(located->found.record) != generation) {
      return std::shared_ptr<const ShardIndex>();
    }
    index = read_index(*std::move(located), shard_key, context);
  }
  if (index.ok() && *index) keep(*generation, *index);
  return index;
}

Result<std::shared_ptr<const ShardIndex>> ShardMembers::stored_index(Engine& engine,
                                                                     std::string_view shard_key,
                                                                     const Record& shard,
                                                                     const Context& context) {
  const auto generation = index_generation(shard);
  if (!generation) return std::shared_ptr<const ShardIndex>();
  const std::string key = shard_index_key(shard_key);
  ASSIGN_OR_RETURN(auto located, engine.find(key, ReadAlong::kSmallObjects, context));
  const auto unusable = [&](std::string_view why) {
    return Error(
        ErrorCode::kCorrupted,
        fmt::format("the index of {} {}; 'leat verify --repair' makes it anew", shard_key, why));
  };
  if (!located) return unusable("is lost");
  if (located->found.record.generation != *generation)
    return unusable("is that of another version");
  const std::uint64_t size_bytes = located->found.record.size_bytes;
  ASSIGN_OR_RETURN(auto bytes, ObjectBytes::open(located->drive, key, std::move(located->found)));
  std::vector<std::byte> blob(size_bytes);
  ASSIGN_OR_RETURN(const auto count, bytes->read_at(0, blob));
  blob.resize(count);
  ASSIGN_OR_RETURN(auto index, ShardIndex::decode(std::move(blob)));
  if (index.shard_bytes() != shard.size_bytes) return unusable("is that of another shard");
  return std::shared_ptr<const ShardIndex>(std::make_shared<ShardIndex>(std::move(index)));
}

Status ShardMembers::rebuild_index(Engine& engine, std::string_view shard_key,
                                   const Context& context) {
  ASSIGN_OR_RETURN(auto located, engine.find(shard_key, ReadAlong::kNothing, context));
  if (!located || !index_generation(located->found.record)) return ok_status();
  RETURN_IF_ERROR(engine.begin_writing());
  ASSIGN_OR_RETURN(const auto index, read_index(*located, shard_key, context));
  ASSIGN_OR_RETURN(const auto generation,
                   write_index(engine, shard_index_key(shard_key), index->blob(), context));
  // The shard stays as it is, but for the index that it names.
  Found& found = located->found;
  std::vector<std::byte> data;
  if (found.record.kind == RecordKind::kObject) {
    ASSIGN_OR_RETURN(data, read_packed_object(*located->drive, found));
  }
  Record record = found.record;
  record.key = shard_key;
  record.options[std::string(kShardOption)] = std::to_string(generation);
  Change change(std::move(record), data);
  change.keeps_generation = true;
  change.moved_from = found.place.location();
  return located->drive->commit(change, context);
}

void ShardMembers::keep(std::uint64_t generation, std::shared_ptr<const ShardIndex> index) {
  MutexLock lock(mutex_);
  if (by_generation_.contains(generation)) return;
  used_bytes_ += index->blob().size();
  recent_.push_front({generation, std::move(index)});
  by_generation_[generation] = recent_.begin();
  while (used_bytes_ > cache_bytes_ && recent_.size() > 1) {
    used_bytes_ -= recent_.back().index->blob().size();
    by_generation_.erase(recent_.back().generation);
    recent_.pop_back();
  }
}

ObjectInfo member_info(const LocatedMember& located) {
  ObjectInfo info;
  info.size_bytes = located.member.size_bytes;
  info.mtime_ns = located.member.mtime_ns;
  info.generation = located.shard.found.record.generation;
  info.etag = derived_etag(info.generation, located.member.crc32c);
  info.crc32c = located.member.crc32c;
  return info;
}

Result<std::unique_ptr<ObjectReader>> open_member(LocatedMember located) {
  ASSIGN_OR_RETURN(auto shard,
                   ObjectBytes::open(located.shard.drive, located.shard_key, located.shard.found));
  return std::unique_ptr<ObjectReader>(
      std::make_unique<MemberReader>(std::move(located), std::move(shard)));
}

}  // namespace leat::local
