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

// "bucket/a.tar/b.tar/c" may be a member of either tar. Calls visit(shard key, member name), which
// says whether that was it, for each.
template <typename Visit>
Status visit_candidates(std::string_view key, const Visit& visit) {
  for (std::size_t slash = key.find('/', key.find('/') + 1); slash != key.npos;
       slash = key.find('/', slash + 1)) {
    const std::string_view shard_key = key.substr(0, slash);
    if (!may_be_shard(shard_key) || slash + 1 == key.size()) continue;
    ASSIGN_OR_RETURN(const bool is_found, visit(shard_key, key.substr(slash + 1)));
    if (is_found) break;
  }
  return ok_status();
}

class MemberReader final : public ObjectReader {
 public:
  explicit MemberReader(OpenMember member)
      : member_(std::move(member)), info_(member_info(member_.shard->generation, member_.member)) {}

  const ObjectInfo& info() const noexcept override { return info_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override {
    RETURN_IF_ERROR(context.check());
    const ByteRange range = ByteRange{offset, target.size()}.within(info_.size_bytes);
    if (range.length == 0) return std::size_t{0};
    if (!member_.is_small()) {
      return member_.shard->bytes->read_at(member_.member.data_offset + range.offset,
                                           target.first(range.length));
    }
    ASSIGN_OR_RETURN(const auto data, whole());
    std::memcpy(target.data(), data->data() + range.offset, range.length);
    return static_cast<std::size_t>(range.length);
  }

  Result<std::vector<LocalExtent>> local_extents(ByteRange range, const Context& context) override {
    RETURN_IF_ERROR(context.check());
    range = range.within(info_.size_bytes);
    if (member_.is_small()) RETURN_IF_ERROR(whole());
    return member_.shard->bytes->extents(
        {member_.member.data_offset + range.offset, range.length},
        member_.is_small() ? ObjectBytes::Check::kNo : ObjectBytes::Check::kYes);
  }

 private:
  using Data = std::shared_ptr<const std::vector<std::byte>>;

  Result<Data> whole() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (data_) return data_;
    auto bytes = std::make_shared<std::vector<std::byte>>(info_.size_bytes);
    ASSIGN_OR_RETURN(const auto count,
                     member_.shard->bytes->read_unchecked(member_.member.data_offset, *bytes));
    RETURN_IF_ERROR(member_.check(std::span(*bytes).first(count)));
    data_ = std::move(bytes);
    return data_;
  }

  const OpenMember member_;
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

}  // namespace

std::string shard_index_key(std::string_view shard_key, std::uint64_t number) {
  return fmt::format("{}{}{:016x}", shard_key, '\0', number);
}

std::optional<std::uint64_t> index_number(const Record& shard) {
  const auto option = shard.options.find(std::string(kShardOption));
  if (option == shard.options.end()) return std::nullopt;
  std::uint64_t number = 0;
  std::from_chars(option->second.data(), option->second.data() + option->second.size(), number);
  return number;
}

Result<std::uint64_t> write_index(Engine& engine, std::string_view shard_key,
                                  std::span<const std::byte> blob, Durability durability,
                                  const Context& context) {
  RETURN_IF_ERROR(engine.begin_writing());
  const std::uint64_t number = engine.unique_number();
  const std::string key = shard_index_key(shard_key, number);
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
    ASSIGN_OR_RETURN(auto path, drive->adopt_file(temporary, *file, key, durability));
    record.kind = RecordKind::kReference;
    record.extents = {Extent{std::move(path), 0, blob.size()}};
  }
  const std::vector<Extent> extents = record.extents;
  Change change(std::move(record), is_large ? std::span<const std::byte>() : blob);
  change.wait_for_disk = durability != Durability::kMemory;
  const Status status = engine.commit(drive, change, context);
  if (is_large && !status.ok()) drive->discard_adopted(extents.front().path, status.error().code());
  if (is_large) drive->end_adoption(extents.front().path);
  if (status.failed_with(ErrorCode::kUnavailable)) {
    ASSIGN_OR_RETURN(const auto home_now, engine.home(key));
    // The drives of the store changed meanwhile.
    if (home_now != drive) return write_index(engine, shard_key, blob, durability, context);
  }
  if (!status.ok()) return status.error();
  return number;
}

Result<OldIndex> OldIndex::of(Engine& engine, std::string_view key, const Context& context) {
  OldIndex old;
  if (!may_be_shard(key)) return old;
  const auto located = engine.find(key, ReadAlong::kNothing, context);
  // What is damaged can be replaced and removed, too.
  if (!located.ok() && !located.failed_with(ErrorCode::kCorrupted)) return located.error();
  if (!located.ok() || !*located) return old;
  if (const auto number = index_number((*located)->found.record))
    old.key_ = shard_index_key(key, *number);
  return old;
}

void OldIndex::drop(Engine& engine, const Context& context) const {
  if (!key_.empty()) (void)engine.remove(key_, {}, Durability::kMemory, context);
}

Result<std::optional<ObjectInfo>> ShardMembers::stat(Engine& engine, std::string_view key,
                                                     const Context& context) {
  std::optional<ObjectInfo> info;
  const auto visit = [&](std::string_view shard_key, std::string_view name) -> Result<bool> {
    ASSIGN_OR_RETURN(const auto shard, engine.find(shard_key, ReadAlong::kNothing, context));
    if (!shard) return false;
    ASSIGN_OR_RETURN(const auto index, index_of(engine, shard_key, shard->found.record, context));
    if (!index) return false;
    const auto member = index->find(name);
    if (member) info = member_info(shard->found.record.generation, *member);
    return member.has_value();
  };
  RETURN_IF_ERROR(visit_candidates(key, visit));
  return info;
}

Result<std::shared_ptr<const OpenShard>> ShardMembers::open_shard(Engine& engine,
                                                                  std::string_view shard_key,
                                                                  const Context& context) {
  for (;;) {
    ASSIGN_OR_RETURN(auto located, engine.find(shard_key, ReadAlong::kNothing, context));
    if (!located) return std::shared_ptr<const OpenShard>();
    auto shard = std::make_shared<OpenShard>();
    shard->key = shard_key;
    shard->generation = located->found.record.generation;
    ASSIGN_OR_RETURN(shard->index, index_of(engine, shard_key, located->found.record, context));
    if (!shard->index) return std::shared_ptr<const OpenShard>();
    auto bytes = ObjectBytes::open(located->drive, shard_key, std::move(located->found));
    // Its files are pinned now. If the shard is still the same, they are the right ones.
    ASSIGN_OR_RETURN(const auto again, engine.find(shard_key, ReadAlong::kNothing, context));
    if (!again || again->found.record.generation != shard->generation) continue;
    if (!bytes.ok()) return std::move(bytes).error();
    shard->bytes = *std::move(bytes);
    return std::shared_ptr<const OpenShard>(std::move(shard));
  }
}

Result<std::shared_ptr<const ShardIndex>> ShardMembers::index_of(Engine& engine,
                                                                 std::string_view shard_key,
                                                                 const Record& shard,
                                                                 const Context& context) {
  const auto number = index_number(shard);
  if (!number) return std::shared_ptr<const ShardIndex>();
  {
    MutexLock lock(mutex_);
    if (const auto it = by_number_.find(*number); it != by_number_.end()) {
      recent_.splice(recent_.begin(), recent_, it->second);
      return it->second->index;
    }
  }
  auto index = stored_index(engine, shard_key, shard, context);
  if (index.failed_with(ErrorCode::kCorrupted)) {
    ASSIGN_OR_RETURN(auto located, engine.find(shard_key, ReadAlong::kNothing, context));
    // Replaced just now: the members of the old one are gone.
    if (!located || index_number(located->found.record) != number) {
      return std::shared_ptr<const ShardIndex>();
    }
    index = read_index(*std::move(located), shard_key, context);
  }
  if (index.ok() && *index) keep(*number, *index);
  return index;
}

Result<std::shared_ptr<const ShardIndex>> ShardMembers::stored_index(Engine& engine,
                                                                     std::string_view shard_key,
                                                                     const Record& shard,
                                                                     const Context& context) {
  const auto number = index_number(shard);
  if (!number) return std::shared_ptr<const ShardIndex>();
  const std::string key = shard_index_key(shard_key, *number);
  ASSIGN_OR_RETURN(auto located, engine.find(key, ReadAlong::kSmallObjects, context));
  const auto unusable = [&](std::string_view why) {
    return Error(
        ErrorCode::kCorrupted,
        fmt::format("the index of {} {}; 'leat verify --repair' makes it anew", shard_key, why));
  };
  if (!located) return unusable("is lost");
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
  if (!located || !index_number(located->found.record)) return ok_status();
  ASSIGN_OR_RETURN(const auto index, read_index(*located, shard_key, context));
  ASSIGN_OR_RETURN(const OldIndex old_index, OldIndex::of(engine, shard_key, context));
  ASSIGN_OR_RETURN(const auto number,
                   write_index(engine, shard_key, index->blob(), Durability::kDisk, context));
  // The shard stays as it is, but for the index that it names.
  Found& found = located->found;
  std::vector<std::byte> data;
  if (found.record.kind == RecordKind::kObject) {
    ASSIGN_OR_RETURN(data, read_packed_object(*located->drive, shard_key, found));
  }
  Record record = found.record;
  record.key = shard_key;
  record.options[std::string(kShardOption)] = std::to_string(number);
  Change change(std::move(record), data);
  change.keeps_generation = true;
  change.moved_from = found.place.location();
  RETURN_IF_ERROR(located->drive->commit(change, context));
  old_index.drop(engine, context);
  return ok_status();
}

void ShardMembers::keep(std::uint64_t number, std::shared_ptr<const ShardIndex> index) {
  MutexLock lock(mutex_);
  if (by_number_.contains(number)) return;
  used_bytes_ += index->blob().size();
  recent_.push_front({number, std::move(index)});
  by_number_[number] = recent_.begin();
  while (used_bytes_ > cache_bytes_ && recent_.size() > 1) {
    used_bytes_ -= recent_.back().index->blob().size();
    by_number_.erase(recent_.back().number);
    recent_.pop_back();
  }
}

Status index_new_shard(Engine& engine, std::shared_ptr<Drive> drive, Record& record,
                       const Context& context) {
  Found found;
  found.record = record;
  ObjectInfo info;
  info.size_bytes = record.size_bytes;
  auto marks = std::make_shared<BlockMarks>(record.block_crcs.size());
  ASSIGN_OR_RETURN(auto bytes, ObjectBytes::open(std::move(drive), record.key, std::move(found),
                                                 std::move(marks)));
  ShardReader reader(std::move(info), std::move(bytes));
  const auto indexed = index_shard(reader, context);
  if (indexed.failed_with(ErrorCode::kCorrupted) || indexed.failed_with(ErrorCode::kTooLarge)) {
    record.options[std::string(kNotAShardOption)] = indexed.error().message();
    return ok_status();
  }
  if (!indexed.ok()) return indexed.error();
  ASSIGN_OR_RETURN(const auto number,
                   write_index(engine, record.key, indexed->blob, Durability::kDisk, context));
  record.options[std::string(kShardOption)] = std::to_string(number);
  return ok_status();
}

Status OpenMember::check(std::span<const std::byte> bytes) const {
  if (bytes.size() == member.size_bytes && crc32c(0, bytes) == member.crc32c) return ok_status();
  return Error(ErrorCode::kCorrupted,
               fmt::format("{}/{} is damaged and is not served", shard->key, member.name));
}

Result<std::optional<OpenMember>> MemberFinder::find(std::string_view key, const Context& context) {
  std::optional<OpenMember> found;
  const auto visit = [&](std::string_view shard_key, std::string_view name) -> Result<bool> {
    auto it = shards_.find(shard_key);
    if (it == shards_.end()) {
      ASSIGN_OR_RETURN(auto opened, members_.open_shard(engine_, shard_key, context));
      it = shards_.emplace(shard_key, std::move(opened)).first;
    }
    if (!it->second) return false;
    if (const auto member = it->second->index->find(name)) found = {it->second, *member};
    return found.has_value();
  };
  RETURN_IF_ERROR(visit_candidates(key, visit));
  return found;
}

ObjectInfo member_info(std::uint64_t shard_generation, const ShardMember& member) {
  ObjectInfo info;
  info.size_bytes = member.size_bytes;
  info.mtime_ns = member.mtime_ns;
  info.generation = shard_generation;
  info.etag = derived_etag(info.generation, member.crc32c);
  info.crc32c = member.crc32c;
  return info;
}

std::unique_ptr<ObjectReader> make_member_reader(OpenMember member) {
  return std::make_unique<MemberReader>(std::move(member));
}

void read_members(std::span<MemberRead> reads, PieceReader& reader, const Context& context) {
  std::vector<PieceReader::Piece> pieces;
  std::vector<MemberRead*> wanted;  // one a piece
  for (MemberRead& read : reads) {
    const ShardMember& member = read.member.member;
    const auto extents = read.member.shard->bytes->extents({member.data_offset, member.size_bytes},
                                                           ObjectBytes::Check::kNo);
    // Of a shard that was composed of others, a member may lie in two files.
    if (!extents.ok() || extents->size() != 1) continue;
    pieces.push_back(
        {extents->front().descriptor, extents->front().offset, extents->front().length, nullptr});
    wanted.push_back(&read);
  }
  reader.read(pieces, context);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].bytes) continue;
    const std::span<const std::byte> whole(pieces[i].bytes.get(), pieces[i].length);
    if (!wanted[i]->member.check(whole).ok()) continue;
    const ByteRange range = wanted[i]->read->wanted_of(whole.size());
    wanted[i]->read->deliver(whole.subspan(range.offset, range.length), pieces[i].bytes);
  }
}

}  // namespace leat::local
