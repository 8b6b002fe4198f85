#include "leat/local/local_uploads.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "leat/local/object_bytes.h"
#include "leat/local/object_writer.h"
#include "leat/local/upload_keys.h"
#include "leat/store/listing.h"

namespace leat::local {
namespace {

// Sorts after every id, so that name + NUL + this is after all uploads of the name.
constexpr char kAfterIds = '\x7f';

Error no_such_upload() {
  return Error(ErrorCode::kNotFound, "there is no such upload, or it was completed or aborted");
}

// The open uploads of a bucket, as name + NUL + id.
class UploadCursor final : public OrderedCursor {
 public:
  UploadCursor(const Engine& engine, std::string_view bucket)
      : prefix_(upload_prefix(bucket)), cursor_(engine.cursor()) {}

  Status seek(std::string_view at_or_after) override {
    RETURN_IF_ERROR(cursor_->seek(prefix_ + std::string(at_or_after)));
    return settle();
  }
  bool valid() const override { return valid_; }
  std::string_view name() const override { return cursor_->key().substr(prefix_.size()); }
  Status next() override {
    RETURN_IF_ERROR(cursor_->next());
    return settle();
  }
  Result<ObjectInfo> info() const override { return info_of(cursor_->entry()); }

 private:
  Status settle() {
    while (cursor_->valid() && cursor_->key().starts_with(prefix_)) {
      valid_ = true;
      if (cursor_->entry().etag != kEndedUpload) return ok_status();
      RETURN_IF_ERROR(cursor_->next());
    }
    valid_ = false;
    return ok_status();
  }

  const std::string prefix_;
  const std::unique_ptr<Engine::Cursor> cursor_;
  bool valid_ = false;
};

class LocalUploads final : public Uploads, public std::enable_shared_from_this<LocalUploads> {
 public:
  LocalUploads(std::shared_ptr<EngineSource> store, std::shared_ptr<BucketState> state,
               const std::string& url)
      : store_(std::move(store)), state_(std::move(state)), bucket_(store_, state_, url) {}

  Result<UploadInfo> begin(std::string_view name, const Metadata& metadata,
                           const std::map<std::string, std::string>& options,
                           const Context& context) override;
  Result<UploadInfo> find(std::string_view name, std::string_view id,
                          const Context& context) override;
  Result<std::unique_ptr<ObjectWriter>> create_part(std::string_view name, std::string_view id,
                                                    std::uint32_t number,
                                                    const CreateOptions& options,
                                                    const Context& context) override;
  Result<std::vector<PartInfo>> parts(std::string_view name, std::string_view id,
                                      std::uint32_t after, std::uint32_t limit,
                                      const Context& context) override;
  Result<ObjectInfo> complete(std::string_view name, std::string_view id,
                              std::span<const PartInfo> parts, const CreateOptions& options,
                              const CommitOptions& commit_options, const Context& context) override;
  Result<ObjectInfo> completed(std::string_view name, std::string_view id,
                               const Context& context) override;
  Status abort(std::string_view name, std::string_view id, const Context& context) override;
  Result<UploadsPage> list(const UploadsRequest& request, const Context& context) override;
  Result<std::uint64_t> sweep(std::int64_t idle_since_ns, const Context& context) override;
  Result<std::vector<std::uint64_t>> part_sizes(std::string_view name, std::uint64_t generation,
                                                const Context& context) override;

  // After a part was committed: it is none if its upload ended meanwhile. Whoever ends an upload
  // marks it first and then looks for parts, so one of the two sees the other.
  Status keep_part(std::string_view name, std::string_view id, const std::string& key,
                   std::uint64_t generation, const Context& context);

 private:
  // Holds an upload while it is ended; by one at a time.
  class [[nodiscard]] Ending {
   public:
    Ending(BucketState& state, std::string_view id) : state_(state), id_(id) {
      MutexLock lock(state_.uploads_mutex);
      is_held_ = state_.ending_uploads.insert(id_).second;
    }
    ~Ending() {
      if (!is_held_) return;
      MutexLock lock(state_.uploads_mutex);
      state_.ending_uploads.erase(id_);
    }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    Status check() const {
      if (is_held_) return ok_status();
      return Error(ErrorCode::kBusy, "the upload is being completed or aborted");
    }

   private:
    BucketState& state_;
    const std::string id_;
    bool is_held_ = false;
  };

  Result<Engine*> engine_for(std::string_view name, const Context& context);
  // The record of an open upload.
  Result<Record> open_record(Engine& engine, std::string_view name, std::string_view id,
                             const Context& context);
  Result<std::vector<std::pair<std::string, std::int64_t>>> part_keys(Engine& engine,
                                                                      std::string_view name,
                                                                      std::string_view id);
  // The object, if its bytes together are a small object.
  Result<std::optional<ObjectInfo>> join_small(Engine& engine, std::string_view name,
                                               std::span<const Bucket::JoinSource> sources,
                                               const CreateOptions& options,
                                               const CommitOptions& commit_options,
                                               const RecordWishes& wishes, const Context& context);
  // Removes an upload and its parts, however far somebody came with that before.
  Status end(Engine& engine, std::string_view name, std::string_view id, Durability durability,
             const Context& context);
  Status mark_as_ended(Engine& engine, const std::string& key, const Context& context);
  Result<bool> is_idle(Engine& engine, std::string_view name, std::string_view id,
                       std::int64_t since_ns, const Context& context);

  const std::shared_ptr<EngineSource> store_;
  const std::shared_ptr<BucketState> state_;
  Bucket bucket_;
};

class PartWriter final : public ObjectWriter {
 public:
  PartWriter(std::shared_ptr<LocalUploads> uploads, std::string name, std::string id,
             std::string key, std::unique_ptr<ObjectWriter> writer)
      : uploads_(std::move(uploads)),
        name_(std::move(name)),
        id_(std::move(id)),
        key_(std::move(key)),
        writer_(std::move(writer)) {}

  Status append(std::span<const std::byte> bytes, const Context& context) override {
    return writer_->append(bytes, context);
  }
  Result<ObjectInfo> commit(const CommitOptions& options, const Context& context) override {
    ASSIGN_OR_RETURN(ObjectInfo info, writer_->commit(options, context));
    RETURN_IF_ERROR(uploads_->keep_part(name_, id_, key_, info.generation, context));
    return info;
  }

 private:
  const std::shared_ptr<LocalUploads> uploads_;
  const std::string name_;
  const std::string id_;
  const std::string key_;
  const std::unique_ptr<ObjectWriter> writer_;
};

UploadInfo upload_info(std::string_view name, std::string_view id, const Record& record) {
  UploadInfo info{std::string(name), std::string(id), record.mtime_ns, record.metadata, {}};
  for (const auto& [key, value] : record.options) {
    if (key.starts_with(kDoorOptionPrefix)) {
      info.options[key.substr(kDoorOptionPrefix.size())] = value;
    }
  }
  return info;
}

Result<Engine*> LocalUploads::engine_for(std::string_view name, const Context& context) {
  RETURN_IF_ERROR(context.check());
  RETURN_IF_ERROR(check_name(name));
  if (state_->is_closed.load()) return Error(ErrorCode::kNotFound, "the bucket was removed");
  return store_->engine();
}

Result<UploadInfo> LocalUploads::begin(std::string_view name, const Metadata& metadata,
                                       const std::map<std::string, std::string>& options,
                                       const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, engine_for(name, context));
  ASSIGN_OR_RETURN(const auto guard, BucketChange::begin(*state_));
  RETURN_IF_ERROR(engine->begin_writing());
  Record record;
  record.mtime_ns = engine->options().clock->wall_ns();
  const std::string id = make_upload_id(record.mtime_ns, engine->unique_number());
  record.key = upload_key(state_->name, name, id);
  record.etag = kOpenUpload;
  record.metadata = metadata;
  for (const auto& [key, value] : options)
    record.options[std::string(kDoorOptionPrefix) + key] = value;
  ASSIGN_OR_RETURN(const auto drive, engine->home(record.key));
  Change change(record, {});
  change.precondition = Precondition::absent();
  change.wait_for_disk = effective(Durability::kDefault, *state_) != Durability::kMemory;
  RETURN_IF_ERROR(engine->commit(drive, change, context));
  store_->changed();
  return upload_info(name, id, record);
}

Result<Record> LocalUploads::open_record(Engine& engine, std::string_view name, std::string_view id,
                                         const Context& context) {
  if (!is_upload_id(id)) return no_such_upload();
  const std::string key = upload_key(state_->name, name, id);
  ASSIGN_OR_RETURN(auto located, engine.find(key, ReadAlong::kNothing, context));
  if (!located || located->found.record.etag == kEndedUpload) return no_such_upload();
  located->found.record.key = key;
  return std::move(located->found.record);
}

Result<UploadInfo> LocalUploads::find(std::string_view name, std::string_view id,
                                      const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, engine_for(name, context));
  ASSIGN_OR_RETURN(const Record record, open_record(*engine, name, id, context));
  return upload_info(name, id, record);
}

Result<std::unique_ptr<ObjectWriter>> LocalUploads::create_part(std::string_view name,
                                                                std::string_view id,
                                                                std::uint32_t number,
                                                                const CreateOptions& options,
                                                                const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, engine_for(name, context));
  if (number == 0 || number > kMaxPartNumber)
    return Error(ErrorCode::kInvalidArgument, "a part has a number from 1 to 10000");
  RETURN_IF_ERROR(open_record(*engine, name, id, context));
  std::string key = part_key(state_->name, name, id, number);
  ASSIGN_OR_RETURN(auto writer, make_object_writer(store_, state_, *engine, key, options,
                                                   {{}, RecordWishes::File::kToBeShared}));
  return std::unique_ptr<ObjectWriter>(std::make_unique<PartWriter>(
      shared_from_this(), std::string(name), std::string(id), std::move(key), std::move(writer)));
}

Status LocalUploads::keep_part(std::string_view name, std::string_view id, const std::string& key,
                               std::uint64_t generation, const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, engine_for(name, Context()));
  const auto record = open_record(*engine, name, id, context);
  if (!record.failed_with(ErrorCode::kNotFound)) return ok_status();
  (void)engine->remove(key, Precondition::has_generation(generation), Durability::kMemory, context);
  return record.error();
}

Result<std::vector<PartInfo>> LocalUploads::parts(std::string_view name, std::string_view id,
                                                  std::uint32_t after, std::uint32_t limit,
                                                  const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, engine_for(name, context));
  RETURN_IF_ERROR(open_record(*engine, name, id, context));
  const std::string prefix = part_prefix(state_->name, name, id);
  const auto walk = engine->cursor();
  RETURN_IF_ERROR(
      walk->seek(part_key(state_->name, name, id, std::min(after, kMaxPartNumber) + 1)));
  std::vector<PartInfo> found;
  while (found.size() < limit && walk->valid() && walk->key().starts_with(prefix)) {
    RETURN_IF_ERROR(context.check());
    const std::string_view digits = walk->key().substr(prefix.size());
    PartInfo part;
    (void)std::from_chars(digits.data(), digits.data() + digits.size(), part.number);
    ASSIGN_OR_RETURN(const auto located, engine->find(walk->key(), ReadAlong::kNothing, context));
    if (located) {
      part.info = info_of(located->found.record);
      found.push_back(std::move(part));
    }
    RETURN_IF_ERROR(walk->next());
  }
  return found;
}

Result<std::optional<ObjectInfo>> LocalUploads::join_small(
    Engine& engine, std::string_view name, std::span<const Bucket::JoinSource> sources,
    const CreateOptions& options, const CommitOptions& commit_options, const RecordWishes& wishes,
    const Context& context) {
  ASSIGN_OR_RETURN(const auto writer,
                   make_object_writer(store_, state_, engine,
                                      state_->name + "/" + std::string(name), options, wishes));
  for (const Bucket::JoinSource& source : sources) {
    ASSIGN_OR_RETURN(auto located, engine.find(source.key, ReadAlong::kSmallObjects, context));
    if (!located || located->found.record.generation != *source.generation)
      return Error(ErrorCode::kNotFound, "a part of the object does not exist");
    if (located->found.record.kind != RecordKind::kObject) return std::optional<ObjectInfo>();
    ASSIGN_OR_RETURN(const auto bytes,
                     read_packed_object(*located->drive, source.key, located->found));
    RETURN_IF_ERROR(writer->append(bytes, context));
  }
  ASSIGN_OR_RETURN(ObjectInfo info, writer->commit(commit_options, context));
  return std::optional<ObjectInfo>(std::move(info));
}

Result<ObjectInfo> LocalUploads::complete(std::string_view name, std::string_view id,
                                          std::span<const PartInfo> parts,
                                          const CreateOptions& options,
                                          const CommitOptions& commit_options,
                                          const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, engine_for(name, context));
  ASSIGN_OR_RETURN(const auto guard, BucketChange::begin(*state_));
  RETURN_IF_ERROR(engine->begin_writing());
  const Ending ending(*state_, id);
  RETURN_IF_ERROR(ending.check());
  RETURN_IF_ERROR(open_record(*engine, name, id, context));
  std::vector<Bucket::JoinSource> sources;
  std::vector<std::uint64_t> sizes;
  std::uint64_t total_bytes = 0;
  for (const PartInfo& part : parts) {
    sources.push_back({part_key(state_->name, name, id, part.number), part.info.generation});
    sizes.push_back(part.info.size_bytes);
    total_bytes += part.info.size_bytes;
  }
  RecordWishes wishes;
  wishes.options[std::string(kUploadOption)] = id;
  wishes.options[std::string(kPartsOption)] = encode_part_sizes(sizes);
  std::optional<ObjectInfo> info;
  if (total_bytes <= std::min(engine->options().small_object_bytes, kChecksumBlockBytes)) {
    ASSIGN_OR_RETURN(info,
                     join_small(*engine, name, sources, options, commit_options, wishes, context));
  }
  if (!info) {
    ASSIGN_OR_RETURN(info,
                     bucket_.join(sources, name, options, commit_options, wishes.options, context));
  }
  // The object stands. What is left of the upload now, a sweep removes.
  (void)end(*engine, name, id, Durability::kMemory, context);
  return *std::move(info);
}

Result<ObjectInfo> LocalUploads::completed(std::string_view name, std::string_view id,
                                           const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, engine_for(name, context));
  const std::string key = state_->name + "/" + std::string(name);
  ASSIGN_OR_RETURN(const auto located, engine->find(key, ReadAlong::kNothing, context));
  if (!located) return no_such_upload();
  const auto& options = located->found.record.options;
  const auto made_by = options.find(std::string(kUploadOption));
  if (made_by == options.end() || made_by->second != id) return no_such_upload();
  return info_of(located->found.record);
}

Status LocalUploads::abort(std::string_view name, std::string_view id, const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, engine_for(name, context));
  ASSIGN_OR_RETURN(const auto guard, BucketChange::begin(*state_));
  RETURN_IF_ERROR(engine->begin_writing());
  const Ending ending(*state_, id);
  RETURN_IF_ERROR(ending.check());
  RETURN_IF_ERROR(open_record(*engine, name, id, context));
  return end(*engine, name, id, effective(Durability::kDefault, *state_), context);
}

Status LocalUploads::mark_as_ended(Engine& engine, const std::string& key, const Context& context) {
  ASSIGN_OR_RETURN(auto located, engine.find(key, ReadAlong::kNothing, context));
  if (!located || located->found.record.etag == kEndedUpload) return ok_status();
  Record record = std::move(located->found.record);
  record.key = key;
  record.etag = kEndedUpload;
  ASSIGN_OR_RETURN(const auto drive, engine.home(key));
  Change change(std::move(record), {});
  change.wait_for_disk = false;
  return engine.commit(drive, change, context);
}

Result<std::vector<std::pair<std::string, std::int64_t>>> LocalUploads::part_keys(
    Engine& engine, std::string_view name, std::string_view id) {
  const std::string prefix = part_prefix(state_->name, name, id);
  std::vector<std::pair<std::string, std::int64_t>> keys;
  const auto walk = engine.cursor();
  RETURN_IF_ERROR(walk->seek(prefix));
  while (walk->valid() && walk->key().starts_with(prefix)) {
    keys.emplace_back(walk->key(), walk->entry().mtime_ns);
    RETURN_IF_ERROR(walk->next());
  }
  return keys;
}

Status LocalUploads::end(Engine& engine, std::string_view name, std::string_view id,
                         Durability durability, const Context& context) {
  const std::string key = upload_key(state_->name, name, id);
  RETURN_IF_ERROR(mark_as_ended(engine, key, context));
  ASSIGN_OR_RETURN(const auto parts, part_keys(engine, name, id));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // The upload's record, on another drive perhaps, must outlast its parts in a power cut; the
    // last sync is that of all.
    const bool is_last = i + 1 == parts.size();
    Status removed = engine.remove(parts[i].first, {},
                                   is_last ? Durability::kDisk : Durability::kMemory, context);
    if (!removed.ok() && !removed.failed_with(ErrorCode::kNotFound)) return removed;
  }
  const Status removed = engine.remove(key, {}, durability, context);
  store_->changed();
  return removed.failed_with(ErrorCode::kNotFound) ? ok_status() : removed;
}

Result<UploadsPage> LocalUploads::list(const UploadsRequest& request, const Context& context) {
  RETURN_IF_ERROR(context.check());
  if (state_->is_closed.load()) return Error(ErrorCode::kNotFound, "the bucket was removed");
  ASSIGN_OR_RETURN(Engine* const engine, store_->engine());
  RETURN_IF_ERROR(engine->check_whole());
  ListRequest names;
  names.prefix = request.prefix;
  names.delimiter = request.delimiter;
  names.limit = request.limit;
  if (!request.after_name.empty()) {
    names.start_after = request.after_name + '\0';
    names.start_after += request.after_id.empty() ? std::string(1, kAfterIds) : request.after_id;
  }
  UploadCursor cursor(*engine, state_->name);
  ASSIGN_OR_RETURN(ListPage listed, list_ordered(names, cursor, context));
  UploadsPage page;
  for (const ListPage::Entry& entry : listed.entries) {
    const std::size_t nul = entry.name.rfind('\0');
    const std::string_view name = std::string_view(entry.name).substr(0, nul);
    const std::string_view id = std::string_view(entry.name).substr(nul + 1);
    auto record = open_record(*engine, name, id, context);
    if (record.failed_with(ErrorCode::kNotFound)) continue;  // ended meanwhile
    if (!record.ok()) return std::move(record).error();
    page.uploads.push_back(upload_info(name, id, *record));
  }
  page.common_prefixes = std::move(listed.common_prefixes);
  page.is_last = listed.next_start_after.empty();
  const std::size_t nul = listed.next_start_after.rfind('\0');
  page.next_after_name = listed.next_start_after.substr(0, nul);
  if (nul != std::string::npos) page.next_after_id = listed.next_start_after.substr(nul + 1);
  return page;
}

// Whether nothing came since then, neither the upload itself nor a part of it.
Result<bool> LocalUploads::is_idle(Engine& engine, std::string_view name, std::string_view id,
                                   std::int64_t since_ns, const Context& context) {
  const auto record = open_record(engine, name, id, context);
  if (record.failed_with(ErrorCode::kNotFound)) return true;  // half ended
  if (!record.ok()) return record.error();
  if (completed(name, id, context).ok()) return true;
  if (record->mtime_ns >= since_ns) return false;
  ASSIGN_OR_RETURN(const auto parts, part_keys(engine, name, id));
  return std::all_of(parts.begin(), parts.end(),
                     [&](const auto& part) { return part.second < since_ns; });
}

Result<std::uint64_t> LocalUploads::sweep(std::int64_t idle_since_ns, const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, store_->engine());
  const std::string prefix = upload_prefix(state_->name);
  std::vector<std::string> keys;
  const auto walk = engine->cursor();
  RETURN_IF_ERROR(walk->seek(prefix));
  while (walk->valid() && walk->key().starts_with(prefix)) {
    keys.emplace_back(walk->key());
    RETURN_IF_ERROR(walk->next());
  }
  std::uint64_t ended = 0;
  for (const std::string& key : keys) {
    RETURN_IF_ERROR(context.check());
    const std::string_view rest = std::string_view(key).substr(prefix.size());
    const std::size_t nul = rest.rfind('\0');
    const std::string_view name = rest.substr(0, nul);
    const std::string_view id = rest.substr(nul + 1);
    ASSIGN_OR_RETURN(const auto guard, BucketChange::begin(*state_));
    RETURN_IF_ERROR(engine->begin_writing());
    const Ending ending(*state_, id);
    if (!ending.check().ok()) continue;
    ASSIGN_OR_RETURN(const bool idle, is_idle(*engine, name, id, idle_since_ns, context));
    if (!idle) continue;
    RETURN_IF_ERROR(end(*engine, name, id, Durability::kMemory, context));
    ++ended;
  }
  return ended;
}

Result<std::vector<std::uint64_t>> LocalUploads::part_sizes(std::string_view name,
                                                            std::uint64_t generation,
                                                            const Context& context) {
  ASSIGN_OR_RETURN(Engine* const engine, engine_for(name, context));
  const std::string key = state_->name + "/" + std::string(name);
  ASSIGN_OR_RETURN(const auto located, engine->find(key, ReadAlong::kNothing, context));
  // A member of a shard came with its shard.
  if (!located) return std::vector<std::uint64_t>();
  const Record& record = located->found.record;
  if (record.generation != generation) return ErrorCode::kNotFound;
  const auto option = record.options.find(std::string(kPartsOption));
  if (option == record.options.end()) return std::vector<std::uint64_t>();
  return decode_part_sizes(option->second);
}

}  // namespace

std::shared_ptr<Uploads> make_uploads(std::shared_ptr<EngineSource> store,
                                      std::shared_ptr<BucketState> state, std::string url) {
  return std::make_shared<LocalUploads>(std::move(store), std::move(state), url);
}

}  // namespace leat::local
