#include "leat/local/object_writer.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "leat/base/hash.h"
#include "leat/shard/shard_index.h"
#include "leat/shard/tar_scanner.h"
#include "leat/store/write_guard.h"

namespace leat::local {
namespace {

// Indexes a tar while it is written. What is not a tar is stored all the same.
class ShardIndexer {
 public:
  void feed(std::span<const std::byte> bytes) {
    if (reason_.empty()) note(scanner_.feed(bytes));
  }
  // The index, or nothing and why.
  std::optional<std::vector<std::byte>> finish(std::uint64_t size_bytes) {
    if (reason_.empty()) note(scanner_.finish());
    if (!reason_.empty()) return std::nullopt;
    return std::move(builder_).finish(size_bytes);
  }
  const std::string& reason() const { return reason_; }

 private:
  template <typename T>
  void note(const Result<T>& result) {
    if (!result.ok()) reason_ = result.error().message();
  }
  ShardIndexBuilder builder_;
  TarScanner scanner_{builder_};
  std::string reason_;
};

class LocalObjectWriter final : public ObjectWriter {
 public:
  LocalObjectWriter(std::shared_ptr<EngineSource> store, std::shared_ptr<BucketState> bucket,
                    Engine& engine, std::string key, const CreateOptions& options,
                    RecordWishes wishes, std::shared_ptr<Drive> drive)
      : store_(std::move(store)),
        bucket_(std::move(bucket)),
        engine_(engine),
        options_(options),
        durability_(effective(options.durability, *bucket_)),
        file_use_(wishes.file),
        drive_(std::move(drive)),
        guard_(options.expected_size_bytes) {
    record_.options = std::move(wishes.options);
    record_.key = std::move(key);
    record_.metadata = options.metadata;
    if (may_be_shard(record_.key)) indexer_.emplace();
    if (options.expected_size_bytes && *options.expected_size_bytes <= small_object_bytes())
      buffer_.reserve(*options.expected_size_bytes);
  }

  ~LocalObjectWriter() override {
    file_.reset();
    if (temporary_path_.empty() || !check_owner().ok()) return;
    (void)drive_->files().remove_file(temporary_path_);  // abandoned; the next start looks again
  }

  Status append(std::span<const std::byte> bytes, const Context& context) override {
    RETURN_IF_ERROR(check_owner());
    RETURN_IF_ERROR(guard_.begin_append(bytes.size(), context));
    if (indexer_) indexer_->feed(bytes);
    Status status = take(bytes);
    if (!status.ok()) guard_.mark_broken();
    return status;
  }

  Result<ObjectInfo> commit(const CommitOptions& options, const Context& context) override {
    RETURN_IF_ERROR(check_owner());
    RETURN_IF_ERROR(guard_.begin_commit(context));
    ASSIGN_OR_RETURN(const auto change_guard, BucketChange::begin(*bucket_));
    record_.size_bytes = guard_.size_bytes();
    record_.mtime_ns = engine_.options().clock->wall_ns();
    record_.etag = options.etag;
    for (const auto& [algorithm, value] : options.checksums)
      record_.metadata.checksums[algorithm] = value;
    if (indexer_) RETURN_IF_ERROR(check_precondition(context));  // before the index is made
    ASSIGN_OR_RETURN(const OldIndex old_index, OldIndex::of(engine_, record_.key, context));
    RETURN_IF_ERROR(index_if_shard(context));
    const Status status = file_ ? commit_large(context) : commit_small(context);
    if (!status.ok()) return status.error();
    old_index.drop(engine_, context);
    store_->changed();
    return info_of(record_);
  }

 private:
  // A small object fits into one block.
  std::uint64_t small_object_bytes() const {
    return std::min(engine_.options().small_object_bytes, kChecksumBlockBytes);
  }

  // Fills blocks; a small object stays in the first one until commit.
  Status take(std::span<const std::byte> bytes) {
    const bool is_large = guard_.size_bytes() > small_object_bytes();
    if (is_large && !file_) RETURN_IF_ERROR(start_file());
    while (!bytes.empty()) {
      // A whole block that needs no gathering is written from where it is.
      if (file_ && buffer_.empty() && bytes.size() >= kChecksumBlockBytes) {
        RETURN_IF_ERROR(write_block(bytes.first(kChecksumBlockBytes)));
        bytes = bytes.subspan(kChecksumBlockBytes);
        continue;
      }
      const std::size_t room = kChecksumBlockBytes - buffer_.size();
      const auto part = bytes.first(std::min(room, bytes.size()));
      buffer_.insert(buffer_.end(), part.begin(), part.end());
      bytes = bytes.subspan(part.size());
      if (file_ && buffer_.size() == kChecksumBlockBytes) RETURN_IF_ERROR(flush());
    }
    return ok_status();
  }

  Status start_file() {
    ASSIGN_OR_RETURN(temporary_path_, drive_->temporary_path());
    ASSIGN_OR_RETURN(file_, drive_->files().open(temporary_path_, OpenMode::kCreate));
    return ok_status();
  }

  Status flush() {
    if (buffer_.empty()) return ok_status();
    RETURN_IF_ERROR(write_block(buffer_));
    buffer_.clear();
    return ok_status();
  }

  Status write_block(std::span<const std::byte> bytes) {
    const std::uint32_t crc = crc32c(0, bytes);
    record_.block_crcs.push_back(crc);
    record_.crc32c = crc32c_combine(record_.crc32c, crc, bytes.size());
    RETURN_IF_ERROR(file_->write_at(written_bytes_, bytes));
    written_bytes_ += bytes.size();
    return ok_status();
  }

  Status commit_small(const Context& context) {
    record_.kind = RecordKind::kObject;
    record_.crc32c = crc32c(0, buffer_);
    return commit_record(buffer_, context);
  }

  Status commit_large(const Context& context) {
    RETURN_IF_ERROR(flush());
    record_.kind = RecordKind::kReference;
    ASSIGN_OR_RETURN(std::string path,
                     drive_->adopt_file(temporary_path_, *file_, record_.key, durability_));
    temporary_path_.clear();
    record_.extents = {Extent{path, 0, record_.size_bytes}};
    if (file_use_ == RecordWishes::File::kToBeShared)
      record_.options[std::string(kSharedOption)] = "yes";
    for (;;) {
      Status status = commit_record({}, context);
      if (status.ok()) {
        drive_->end_adoption(path);
        return status;
      }
      const Status moved = status.failed_with(ErrorCode::kUnavailable) ? follow_home(context)
                                                                       : Status(status.error());
      if (!moved.ok()) {
        drive_->discard_adopted(path, status.error().code());
        drive_->end_adoption(path);
        return moved.failed_with(ErrorCode::kUnavailable) ? status : moved;
      }
      path = record_.extents.front().path;
    }
  }

  // The drives of the store changed while the object was written: its file follows it to the drive
  // where it belongs now.
  Status follow_home(const Context& context) {
    ASSIGN_OR_RETURN(auto home, engine_.home(record_.key));
    if (home == drive_) return ErrorCode::kUnavailable;
    ASSIGN_OR_RETURN(Record moved, engine_.copy_files(record_, *drive_, *home, context));
    const std::string old_path = record_.extents.front().path;
    drive_->discard_adopted(old_path, ErrorCode::kUnavailable);
    drive_->end_adoption(old_path);
    record_ = std::move(moved);
    drive_ = std::move(home);
    return ok_status();
  }

  Status commit_record(std::span<const std::byte> data, const Context& context) {
    Change change(record_, data);
    change.precondition = options_.precondition;
    change.wait_for_disk = durability_ != Durability::kMemory;
    RETURN_IF_ERROR(engine_.commit(drive_, change, context));
    record_.generation = change.record.generation;
    return ok_status();
  }

  // Before the shard itself, so that a shard never refers to an index that is not there.
  Status index_if_shard(const Context& context) {
    if (!indexer_) return ok_status();
    const auto blob = indexer_->finish(record_.size_bytes);
    if (!blob) {
      record_.options[std::string(kNotAShardOption)] = indexer_->reason();
      return ok_status();
    }
    ASSIGN_OR_RETURN(const auto number,
                     write_index(engine_, record_.key, *blob, durability_, context));
    record_.options[std::string(kShardOption)] = std::to_string(number);
    return ok_status();
  }

  Status check_precondition(const Context& context) {
    if (options_.precondition.kind == Precondition::Kind::kNone) return ok_status();
    ASSIGN_OR_RETURN(const auto located, engine_.find(record_.key, ReadAlong::kNothing, context));
    if (!located) return options_.precondition.check(nullptr);
    const ObjectInfo current = info_of(located->found.record);
    return options_.precondition.check(&current);
  }

  // A forked child has the writer, too, but not the engine that it writes to.
  Status check_owner() {
    ASSIGN_OR_RETURN(const Engine* const current, store_->engine());
    if (current == &engine_) return ok_status();
    return Error(ErrorCode::kPermissionDenied, "a forked child can only read");
  }

  const std::shared_ptr<EngineSource> store_;
  const std::shared_ptr<BucketState> bucket_;
  Engine& engine_;
  const CreateOptions options_;
  const Durability durability_;
  const RecordWishes::File file_use_;
  std::shared_ptr<Drive> drive_;  // where the file is
  WriteGuard guard_;
  Record record_;
  std::vector<std::byte> buffer_;
  std::optional<ShardIndexer> indexer_;
  std::string temporary_path_;
  std::unique_ptr<File> file_;
  std::uint64_t written_bytes_ = 0;
};

}  // namespace

bool may_be_shard(std::string_view name) noexcept {
  return name.ends_with(".tar");
}

Result<std::unique_ptr<ObjectWriter>> make_object_writer(std::shared_ptr<EngineSource> store,
                                                         std::shared_ptr<BucketState> bucket,
                                                         Engine& engine, std::string key,
                                                         const CreateOptions& options,
                                                         RecordWishes wishes) {
  RETURN_IF_ERROR(engine.begin_writing());
  ASSIGN_OR_RETURN(auto drive, engine.home(key));
  return std::unique_ptr<ObjectWriter>(std::make_unique<LocalObjectWriter>(
      std::move(store), std::move(bucket), engine, std::move(key), options, std::move(wishes),
      std::move(drive)));
}

}  // namespace leat::local
