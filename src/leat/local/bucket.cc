#include "leat/local/bucket.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "leat/local/listing_cursor.h"
#include "leat/local/object_bytes.h"
#include "leat/local/object_writer.h"
#include "leat/local/upload_keys.h"
#include "leat/store/listing.h"

namespace leat::local {
namespace {

class LocalObjectReader final : public ObjectReader {
 public:
  LocalObjectReader(ObjectInfo info, std::shared_ptr<ObjectBytes> bytes)
      : info_(std::move(info)), bytes_(std::move(bytes)) {}

  const ObjectInfo& info() const noexcept override { return info_; }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override {
    RETURN_IF_ERROR(context.check());
    return bytes_->read_at(offset, target);
  }
  Result<std::vector<LocalExtent>> local_extents(ByteRange range, const Context& context) override {
    RETURN_IF_ERROR(context.check());
    return bytes_->extents(range, ObjectBytes::Check::kYes);
  }
  bool local_extents_now(ByteRange range, std::vector<LocalExtent>& extents) override {
    return bytes_->extents_now(range, extents);
  }

 private:
  const ObjectInfo info_;
  const std::shared_ptr<ObjectBytes> bytes_;
};

// Smaller objects are read, by read_now(), as fast as they are opened.
constexpr std::uint64_t kKeptOpenBytes = 64 << 10;

constexpr std::string_view kShardInside = ".tar/";

// Whether a read of a batch has no answer yet.
bool is_open_question(const BatchRead& read) {
  return read.result.failed_with(ErrorCode::kCancelled);
}

bool is_other_generation(const OpenOptions& options, std::uint64_t generation) {
  return options.generation && *options.generation != generation;
}

}  // namespace

Result<BucketChange> BucketChange::begin(BucketState& state) {
  state.changes.fetch_add(1);
  BucketChange change(&state);
  if (state.is_closed.load()) {
    return Error(ErrorCode::kNotFound, fmt::format("bucket {} was removed", state.name));
  }
  return change;
}

Bucket::Bucket(std::shared_ptr<EngineSource> store, std::shared_ptr<BucketState> state,
               std::string url)
    : store_(std::move(store)), state_(std::move(state)), url_(std::move(url)) {}

Result<Engine*> Bucket::begin(std::string_view name, const Context& context) {
  RETURN_IF_ERROR(context.check());
  RETURN_IF_ERROR(check_name(name));
  if (state_->is_closed.load(std::memory_order_relaxed)) {
    return Error(ErrorCode::kNotFound, fmt::format("bucket {} was removed", state_->name));
  }
  return store_->engine();
}

Result<ObjectInfo> Bucket::stat(std::string_view name, const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, begin(name, context));
  const std::string key = key_of(name);
  ASSIGN_OR_RETURN(const auto located, engine->find(key, ReadAlong::kNothing, context));
  if (located) return info_of(located->found.record);
  ASSIGN_OR_RETURN(auto member, store_->shard_members().stat(*engine, key, context));
  if (member) return *std::move(member);
  return ErrorCode::kNotFound;
}

std::vector<std::string> Bucket::directories(std::string_view /*prefix*/) const {
  const auto engine = store_->engine();
  std::vector<std::string> all;
  if (!engine.ok()) return all;
  for (const auto& drive : (*engine)->drives()) all.emplace_back(drive->files().root());
  return all;
}

Result<ListPage> Bucket::list(const ListRequest& request, const Context& context) {
  RETURN_IF_ERROR(context.check());
  if (state_->is_closed.load()) return Error(ErrorCode::kNotFound, "the bucket was removed");
  ASSIGN_OR_RETURN(Engine* const engine, store_->engine());
  if (request.unreachable == ListRequest::Unreachable::kRefuse) {
    RETURN_IF_ERROR(engine->check_whole());
  }
  if (request.members == ListRequest::Members::kShow) {
    MemberListingCursor cursor(*engine, store_->shard_members(), state_->name, context);
    return list_ordered(request, cursor, context);
  }
  ListingCursor cursor(*engine, state_->name);
  return list_ordered(request, cursor, context);
}

std::optional<std::span<const std::byte>> Bucket::read_now(std::string_view name,
                                                           std::span<std::byte> space,
                                                           ObjectInfo& info) {
  const auto engine = begin(name, Context());
  if (!engine.ok()) return std::nullopt;
  std::array<char, kMaxBucketNameBytes + 1 + kMaxNameBytes> key;
  const auto end = fmt::format_to_n(key.data(), key.size(), "{}/{}", state_->name, name);
  return (*engine)->read_now({key.data(), end.size}, space, info);
}

std::shared_ptr<ObjectReader> Bucket::open_now(std::string_view name) {
  const auto engine = begin(name, Context());
  if (!engine.ok()) return nullptr;
  std::array<char, kMaxBucketNameBytes + 1 + kMaxNameBytes> key;
  const auto end = fmt::format_to_n(key.data(), key.size(), "{}/{}", state_->name, name);
  return (*engine)->open_now({key.data(), end.size});
}

Result<std::unique_ptr<ObjectReader>> Bucket::open(std::string_view name,
                                                   const OpenOptions& options,
                                                   const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, begin(name, context));
  const std::string key = key_of(name);
  for (;;) {
    ASSIGN_OR_RETURN(auto located, engine->find(key, ReadAlong::kSmallObjects, context));
    if (!located) break;
    ObjectInfo info = info_of(located->found.record);
    if (is_other_generation(options, info.generation)) return ErrorCode::kNotFound;
    const bool is_large = located->found.record.kind == RecordKind::kReference;
    // The blocks of a large object are marked one by one.
    const Place place = is_large ? located->found.place : located->found.place.verified();
    auto bytes = ObjectBytes::open(located->drive, key, std::move(located->found));
    if (is_large) {
      // The files are pinned now. If the object is still the same, they are the right ones.
      ASSIGN_OR_RETURN(const auto again, engine->find(key, ReadAlong::kNothing, context));
      if (!again || again->found.record.generation != info.generation) continue;
    }
    if (!bytes.ok()) return std::move(bytes).error();
    const std::shared_ptr<ObjectBytes> shared = *std::move(bytes);
    if (info.size_bytes > kKeptOpenBytes) {
      engine->keep_open(key, place, std::make_shared<LocalObjectReader>(info, shared));
    }
    return std::unique_ptr<ObjectReader>(
        std::make_unique<LocalObjectReader>(std::move(info), shared));
  }
  MemberFinder finder(*engine, store_->shard_members());
  ASSIGN_OR_RETURN(auto member, finder.find(key, context));
  if (!member || is_other_generation(options, member->shard->generation))
    return ErrorCode::kNotFound;
  return make_member_reader(*std::move(member));
}

Result<std::unique_ptr<ObjectWriter>> Bucket::create(std::string_view name,
                                                     const CreateOptions& options,
                                                     const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, begin(name, context));
  return make_object_writer(store_, state_, *engine, key_of(name), options);
}

Status Bucket::remove(std::string_view name, const RemoveOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, begin(name, context));
  ASSIGN_OR_RETURN(const auto guard, BucketChange::begin(*state_));
  RETURN_IF_ERROR(engine->begin_writing());
  const std::string key = key_of(name);
  RETURN_IF_ERROR(remove_object(*engine, key, options, context));
  store_->changed();
  return ok_status();
}

Status Bucket::remove_object(Engine& engine, const std::string& key, const RemoveOptions& options,
                             const Context& context) {
  ASSIGN_OR_RETURN(const OldIndex old_index, OldIndex::of(engine, key, context));
  RETURN_IF_ERROR(
      engine.remove(key, options.precondition, effective(options.durability, *state_), context));
  old_index.drop(engine, context);
  return ok_status();
}

// Marks the record of a large object as one that shares its files, unless it is already. Nothing
// that a user sees changes.
Result<Record> Bucket::share_files(Engine& engine, const std::string& key, const Context& context) {
  for (;;) {
    ASSIGN_OR_RETURN(auto located, engine.find(key, ReadAlong::kNothing, context));
    if (!located) return ErrorCode::kNotFound;
    Record record = std::move(located->found.record);
    record.key = key;
    if (record.kind != RecordKind::kReference || located->found.place.is_shared()) return record;
    record.options[std::string(kSharedOption)] = "yes";
    Change mark(record, {});
    mark.keeps_generation = true;
    mark.moved_from = located->found.place.location();
    const Status status = located->drive->commit(mark, context);
    if (status.ok()) return record;
    if (!status.failed_with(ErrorCode::kPreconditionFailed)) return status.error();
  }
}

Result<ObjectInfo> Bucket::copy_bytes(std::string_view source, std::string_view target,
                                      const CreateOptions& options, const std::string& etag,
                                      std::uint64_t generation, const Context& context) {
  ASSIGN_OR_RETURN(const auto reader, open(source, {}, context));
  const ObjectInfo& info = reader->info();
  CreateOptions create_options = options;
  create_options.expected_size_bytes = info.size_bytes;
  if (options.metadata.empty() && info.metadata) create_options.metadata = *info.metadata;
  ASSIGN_OR_RETURN(const auto writer, create(target, create_options, context));
  RETURN_IF_ERROR(read_pieces(
      *reader, {}, [&](std::span<const std::byte> piece) { return writer->append(piece, context); },
      context));
  CommitOptions commit_options;
  if (info.generation == generation) commit_options.etag = etag;
  return writer->commit(commit_options, context);
}

Result<ObjectInfo> Bucket::copy(std::string_view source, std::string_view target,
                                const CreateOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, begin(source, context));
  RETURN_IF_ERROR(check_name(target));
  const std::string source_key = key_of(source);
  const std::string target_key = key_of(target);
  ASSIGN_OR_RETURN(const auto located, engine->find(source_key, ReadAlong::kNothing, context));
  ASSIGN_OR_RETURN(const auto home, engine->home(target_key));
  // The same bytes have the same etag, if a door gave it one.
  const std::string etag = located ? located->found.record.etag : std::string();
  const std::uint64_t generation = located ? located->found.record.generation : 0;
  const bool shares = located && located->found.record.kind == RecordKind::kReference &&
                      located->drive == home && !may_be_shard(target_key);
  if (!shares) return copy_bytes(source, target, options, etag, generation, context);
  ASSIGN_OR_RETURN(const auto guard, BucketChange::begin(*state_));
  RETURN_IF_ERROR(engine->begin_writing());
  const FilePin pin = home->pin_files(located->found.record.extents);
  ASSIGN_OR_RETURN(Record record, share_files(*engine, source_key, context));
  if (record.generation != generation) return copy(source, target, options, context);
  record.key = target_key;
  record.mtime_ns = engine->options().clock->wall_ns();
  // By this name it is no shard.
  record.options.erase(std::string(kShardOption));
  record.options.erase(std::string(kNotAShardOption));
  // And no upload made it.
  record.options.erase(std::string(kUploadOption));
  record.options.erase(std::string(kPartsOption));
  if (!options.metadata.empty()) record.metadata = options.metadata;
  Change change(record, {});
  change.precondition = options.precondition;
  change.wait_for_disk = effective(options.durability, *state_) != Durability::kMemory;
  const Status committed = engine->commit(home, change, context);
  if (committed.failed_with(ErrorCode::kUnavailable)) {
    // The drives of the store changed meanwhile: the files may have to be on another one now.
    ASSIGN_OR_RETURN(const auto home_now, engine->home(target_key));
    if (home_now != home) return copy_bytes(source, target, options, etag, generation, context);
  }
  RETURN_IF_ERROR(committed);
  store_->changed();
  return info_of(change.record);
}

Bucket::BatchPlan Bucket::plan_batch(Engine& engine, std::span<BatchRead> reads) {
  BatchPlan plan;
  std::size_t bytes = 0;
  for (const BatchRead& read : reads) bytes += state_->name.size() + 1 + read.name.size();
  // Views into it stay good: on the heap also when it is short, so that a plan can move.
  plan.keys.reserve(std::max<std::size_t>(bytes, 64));
  plan.drives = engine.drives();
  plan.by_drive.resize(plan.drives.size());
  plan.by_drive.front().reserve(reads.size());
  for (BatchRead& read : reads) {
    read.result = ErrorCode::kCancelled;
    if (!check_name(read.name).ok()) continue;
    const std::size_t start = plan.keys.size();
    plan.keys += state_->name;
    plan.keys += '/';
    plan.keys += read.name;
    const std::string_view key = std::string_view(plan.keys).substr(start);
    std::size_t home = 0;
    if (plan.drives.size() > 1) {
      const auto drive = engine.home(key);
      if (!drive.ok()) continue;
      home = static_cast<std::size_t>(std::find(plan.drives.begin(), plan.drives.end(), *drive) -
                                      plan.drives.begin());
      if (home == plan.drives.size()) continue;
    }
    plan.by_drive[home].push_back({key, &read, hash_key(key), {}});
  }
  return plan;
}

void Bucket::read_batch(std::span<BatchRead> reads, const Context& context) {
  const auto engine = store_->engine();
  const bool is_open = engine.ok() && !state_->is_closed.load() && context.check().ok();
  if (!is_open || !(*engine)->is_settled()) return ObjectStore::read_batch(reads, context);
  BatchPlan plan = plan_batch(**engine, reads);
  BatchReader& reader = (*engine)->batch_reader();
  for (std::size_t i = 0; i < plan.drives.size(); ++i) {
    reader.read(*plan.drives[i], plan.by_drive[i], context);
  }
  for (const auto& items : plan.by_drive) read_members(**engine, items, context);
  // The rest one by one: large objects, misses, whatever is damaged.
  for (BatchRead& read : reads) {
    if (is_open_question(read)) ObjectStore::read_batch(std::span(&read, 1), context);
  }
}

bool Bucket::read_batch_now(std::span<BatchRead> reads) {
  const auto engine = store_->engine();
  const bool is_open = engine.ok() && !state_->is_closed.load();
  if (!is_open || !(*engine)->is_settled()) return ObjectStore::read_batch_now(reads);
  BatchPlan plan = plan_batch(**engine, reads);
  for (std::size_t i = 0; i < plan.drives.size(); ++i) {
    BatchReader::read_now(*plan.drives[i], plan.by_drive[i]);
  }
  return std::none_of(reads.begin(), reads.end(), is_open_question);
}

// Those of the items that are small members of shards.
void Bucket::read_members(Engine& engine, std::span<const BatchReader::Item> items,
                          const Context& context) {
  MemberFinder finder(engine, store_->shard_members());
  std::vector<MemberRead> members;
  for (const BatchReader::Item& item : items) {
    if (!is_open_question(*item.read) || item.key.find(kShardInside) == item.key.npos) continue;
    // A real object of that name wins. Whatever goes wrong here is told by open().
    const auto object = engine.find(item.key, ReadAlong::kNothing, context);
    if (!object.ok() || *object) continue;
    auto member = finder.find(item.key, context);
    if (member.ok() && *member && (*member)->is_small())
      members.push_back({item.read, **std::move(member)});
  }
  local::read_members(members, engine.piece_reader(), context);
}

}  // namespace leat::local
