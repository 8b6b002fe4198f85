#include "leat/drivers/memory/memory_store.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "leat/base/hash.h"
#include "leat/base/hex.h"
#include "leat/base/mutex.h"
#include "leat/store/listing.h"
#include "leat/store/url_query.h"
#include "leat/store/write_guard.h"

namespace leat {
namespace {

using Bytes = std::vector<std::byte>;

struct Object {
  ObjectInfo info;
  std::shared_ptr<const Bytes> bytes;
};
using ObjectPointer = std::shared_ptr<const Object>;
using ObjectMap = std::map<std::string, ObjectPointer, std::less<>>;

// The objects; shared by the store and its writers, which may outlive it.
class ObjectTable {
 public:
  explicit ObjectTable(const Clock& clock) : clock_(clock) {}

  Result<ObjectPointer> find(std::string_view name) const {
    const ReaderLock lock(mutex_);
    return find_locked(name);
  }

  // Gives the object its generation, its time and, if it has none, its etag.
  Result<ObjectInfo> put(const std::string& name, Object object, const Precondition& precondition) {
    ObjectPointer replaced;  // freed after the lock
    const WriterLock lock(mutex_);
    auto found = objects_.find(name);
    RETURN_IF_ERROR(precondition.check(found == objects_.end() ? nullptr : &found->second->info));
    object.info.size_bytes = object.bytes->size();
    object.info.mtime_ns = clock_.wall_ns();
    object.info.generation = ++last_generation_;
    if (object.info.etag.empty()) object.info.etag = to_hex(last_generation_);
    auto stored = std::make_shared<const Object>(std::move(object));
    if (found == objects_.end()) {
      objects_.emplace(name, stored);
    } else {
      replaced = std::exchange(found->second, stored);
    }
    return stored->info;
  }

  Status remove(std::string_view name, const Precondition& precondition) {
    ObjectMap::node_type removed;  // freed after the lock
    const WriterLock lock(mutex_);
    const auto found = objects_.find(name);
    const bool exists = found != objects_.end();
    RETURN_IF_ERROR(precondition.check(exists ? &found->second->info : nullptr));
    if (!exists) return ErrorCode::kNotFound;
    removed = objects_.extract(found);
    return ok_status();
  }

  Result<ListPage> list(const ListRequest& request, const Context& context) const;
  // One lookup of all names, so that a batch takes the lock once.
  std::vector<Result<ObjectPointer>> find_all(std::span<const BatchRead> reads) const;

 private:
  Result<ObjectPointer> find_locked(std::string_view name) const REQUIRES_SHARED(mutex_) {
    const auto found = objects_.find(name);
    if (found == objects_.end()) return ErrorCode::kNotFound;
    return found->second;
  }

  const Clock& clock_;
  mutable SharedMutex mutex_;
  ObjectMap objects_ GUARDED_BY(mutex_);
  std::uint64_t last_generation_ GUARDED_BY(mutex_) = 0;
};

class MapCursor final : public OrderedCursor {
 public:
  explicit MapCursor(const ObjectMap& objects) : objects_(objects), at_(objects.end()) {}

  Status seek(std::string_view at_or_after) override {
    at_ = objects_.lower_bound(at_or_after);
    return ok_status();
  }
  bool valid() const override { return at_ != objects_.end(); }
  std::string_view name() const override { return at_->first; }
  Status next() override {
    ++at_;
    return ok_status();
  }
  Result<ObjectInfo> info() const override { return at_->second->info; }

 private:
  const ObjectMap& objects_;
  ObjectMap::const_iterator at_;
};

Result<ListPage> ObjectTable::list(const ListRequest& request, const Context& context) const {
  const ReaderLock lock(mutex_);
  MapCursor cursor(objects_);
  return list_ordered(request, cursor, context);
}

std::vector<Result<ObjectPointer>> ObjectTable::find_all(std::span<const BatchRead> reads) const {
  std::vector<Result<ObjectPointer>> found;
  found.reserve(reads.size());
  const ReaderLock lock(mutex_);
  for (const BatchRead& read : reads) found.push_back(find_locked(read.name));
  return found;
}

class Reader final : public ObjectReader {
 public:
  explicit Reader(ObjectPointer object) : object_(std::move(object)) {}

  const ObjectInfo& info() const noexcept override { return object_->info; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override {
    RETURN_IF_ERROR(context.check());
    const ByteRange range = ByteRange{offset, target.size()}.within(object_->bytes->size());
    std::copy_n(object_->bytes->data() + range.offset, range.length, target.data());
    return range.length;
  }

 private:
  const ObjectPointer object_;
};

class Writer final : public ObjectWriter {
 public:
  Writer(std::shared_ptr<ObjectTable> table, std::string_view name, const CreateOptions& options)
      : table_(std::move(table)),
        name_(name),
        metadata_(options.metadata),
        precondition_(options.precondition),
        guard_(options.expected_size_bytes) {
    // What a caller announces is not yet a reason to take all that memory.
    constexpr std::uint64_t kMaxReservedBytes = 64 << 20;
    bytes_.reserve(std::min(options.expected_size_bytes.value_or(0), kMaxReservedBytes));
  }

  Status append(std::span<const std::byte> bytes, const Context& context) override {
    RETURN_IF_ERROR(guard_.begin_append(bytes.size(), context));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    crc32c_ = crc32c(crc32c_, bytes);
    return ok_status();
  }

  Result<ObjectInfo> commit(const CommitOptions& options, const Context& context) override {
    RETURN_IF_ERROR(guard_.begin_commit(context));
    for (const auto& [algorithm, value] : options.checksums) metadata_.checksums[algorithm] = value;
    if (bytes_.capacity() - bytes_.size() > bytes_.size() / 4) bytes_.shrink_to_fit();
    Object object;
    object.bytes = std::make_shared<const Bytes>(std::move(bytes_));
    object.info.crc32c = crc32c_;
    object.info.etag = options.etag;
    if (!metadata_.empty()) {
      object.info.metadata = std::make_shared<const Metadata>(std::move(metadata_));
    }
    return table_->put(name_, std::move(object), precondition_);
  }

 private:
  const std::shared_ptr<ObjectTable> table_;
  const std::string name_;
  Metadata metadata_;
  const Precondition precondition_;
  WriteGuard guard_;
  Bytes bytes_;
  std::uint32_t crc32c_ = 0;
};

// What a batch item asks of an object: the shared bytes, or a copy in the caller's buffer.
Slice slice_of(const ObjectPointer& object, const BatchRead& read) {
  const ByteRange range = read.range.within(object->bytes->size());
  const auto part = std::span<const std::byte>(*object->bytes).subspan(range.offset, range.length);
  if (read.target.empty()) return Slice{part, object->bytes};
  const std::size_t count = std::min(part.size(), read.target.size());
  std::copy_n(part.data(), count, read.target.data());
  return Slice{read.target.first(count), nullptr};
}

class MemoryStore final : public ObjectStore {
 public:
  explicit MemoryStore(const Clock& clock) : table_(std::make_shared<ObjectTable>(clock)) {}

  std::string_view url() const noexcept override { return "mem:"; }
  Capabilities capabilities() const noexcept override { return {}; }

  Result<ObjectInfo> stat(std::string_view name, const Context& context) override {
    RETURN_IF_ERROR(check_call(name, context));
    ASSIGN_OR_RETURN(const auto object, table_->find(name));
    return object->info;
  }

  Result<ListPage> list(const ListRequest& request, const Context& context) override {
    return table_->list(request, context);
  }

  Result<std::unique_ptr<ObjectReader>> open(std::string_view name, const OpenOptions& options,
                                             const Context& context) override {
    RETURN_IF_ERROR(check_call(name, context));
    ASSIGN_OR_RETURN(auto object, table_->find(name));
    if (options.generation && *options.generation != object->info.generation) {
      return ErrorCode::kNotFound;
    }
    std::unique_ptr<ObjectReader> reader = std::make_unique<Reader>(std::move(object));
    return reader;
  }

  Result<std::unique_ptr<ObjectWriter>> create(std::string_view name, const CreateOptions& options,
                                               const Context& context) override {
    RETURN_IF_ERROR(check_call(name, context));
    std::unique_ptr<ObjectWriter> writer = std::make_unique<Writer>(table_, name, options);
    return writer;
  }

  Status remove(std::string_view name, const RemoveOptions& options,
                const Context& context) override {
    RETURN_IF_ERROR(check_call(name, context));
    return table_->remove(name, options.precondition);
  }

  void read_batch(std::span<BatchRead> reads, const Context& context) override {
    const auto objects = table_->find_all(reads);
    for (std::size_t index = 0; index < reads.size(); ++index) {
      BatchRead& read = reads[index];
      if (auto status = check_call(read.name, context); !status.ok()) {
        read.result = std::move(status).error();
      } else if (!objects[index].ok()) {
        read.result = objects[index].error();
      } else {
        read.result = slice_of(*objects[index], read);
      }
    }
  }

  Result<ObjectInfo> copy(std::string_view source, std::string_view target,
                          const CreateOptions& options, const Context& context) override {
    RETURN_IF_ERROR(check_call(source, context));
    RETURN_IF_ERROR(check_name(target));
    ASSIGN_OR_RETURN(const auto original, table_->find(source));
    Object object;
    object.bytes = original->bytes;
    object.info.crc32c = original->info.crc32c;
    object.info.metadata = options.metadata.empty()
                               ? original->info.metadata
                               : std::make_shared<const Metadata>(options.metadata);
    return table_->put(std::string(target), std::move(object), options.precondition);
  }

 private:
  static Status check_call(std::string_view name, const Context& context) {
    RETURN_IF_ERROR(check_name(name));
    return context.check();
  }

  const std::shared_ptr<ObjectTable> table_;
};

}  // namespace

std::shared_ptr<ObjectStore> make_memory_store(const Clock& clock) {
  return std::make_shared<MemoryStore>(clock);
}

void register_memory(Registry& registry) {
  registry.add("mem", [](const Url& url, IfMissing) -> Result<StoreLocation> {
    RETURN_IF_ERROR(check_query_keys(url, {}));
    ASSIGN_OR_RETURN(std::string name, percent_decode(url.path));
    return StoreLocation{make_memory_store(), std::move(name)};
  });
}

}  // namespace leat
