#include "leat/store/testing/plain_store.h"

#include <algorithm>
#include <utility>

#include "leat/base/check.h"
#include "leat/store/listing.h"
#include "leat/store/write_guard.h"

namespace leat::testing {

class PlainStore::Cursor final : public OrderedCursor {
 public:
  explicit Cursor(const std::map<std::string, std::shared_ptr<const Object>, std::less<>>& objects)
      : objects_(objects), at_(objects.end()) {}

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
  const std::map<std::string, std::shared_ptr<const Object>, std::less<>>& objects_;
  std::map<std::string, std::shared_ptr<const Object>, std::less<>>::const_iterator at_;
};

class PlainStore::Reader final : public ObjectReader {
 public:
  explicit Reader(std::shared_ptr<const Object> object) : object_(std::move(object)) {}

  const ObjectInfo& info() const noexcept override { return object_->info; }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override {
    RETURN_IF_ERROR(context.check());
    const ByteRange range = ByteRange{offset, target.size()}.within(object_->bytes.size());
    std::copy_n(object_->bytes.data() + range.offset, range.length, target.data());
    return range.length;
  }

 private:
  const std::shared_ptr<const Object> object_;
};

class PlainStore::Writer final : public ObjectWriter {
 public:
  Writer(std::shared_ptr<State> state, std::string_view name, const CreateOptions& options)
      : state_(std::move(state)), name_(name), guard_(options.expected_size_bytes) {}

  Status append(std::span<const std::byte> bytes, const Context& context) override {
    RETURN_IF_ERROR(guard_.begin_append(bytes.size(), context));
    object_->bytes.insert(object_->bytes.end(), bytes.begin(), bytes.end());
    return ok_status();
  }

  Result<ObjectInfo> commit(const CommitOptions& options, const Context& context) override {
    RETURN_IF_ERROR(guard_.begin_commit(context));
    if (!options.etag.empty() || !options.checksums.empty()) return ErrorCode::kUnsupported;
    const MutexLock lock(state_->mutex);
    object_->info.size_bytes = object_->bytes.size();
    object_->info.mtime_ns = context.clock().wall_ns();
    object_->info.etag = std::to_string(++state_->versions);
    state_->objects.insert_or_assign(name_, object_);
    return object_->info;
  }

 private:
  const std::shared_ptr<State> state_;
  const std::string name_;
  const std::shared_ptr<Object> object_ = std::make_shared<Object>();
  WriteGuard guard_;
};

PlainStore::PlainStore() : state_(std::make_shared<State>()) {}

Capabilities PlainStore::capabilities() const noexcept {
  Capabilities capabilities;
  capabilities.preconditions = false;
  capabilities.generations = false;
  capabilities.metadata = false;
  return capabilities;
}

Result<std::shared_ptr<const PlainStore::Object>> PlainStore::find(std::string_view name,
                                                                   const Context& context) {
  RETURN_IF_ERROR(check_name(name));
  RETURN_IF_ERROR(context.check());
  const MutexLock lock(state_->mutex);
  const auto found = state_->objects.find(name);
  if (found == state_->objects.end()) return ErrorCode::kNotFound;
  return found->second;
}

Result<ObjectInfo> PlainStore::stat(std::string_view name, const Context& context) {
  ASSIGN_OR_RETURN(const auto object, find(name, context));
  return object->info;
}

Result<ListPage> PlainStore::list(const ListRequest& request, const Context& context) {
  const MutexLock lock(state_->mutex);
  Cursor cursor(state_->objects);
  return list_ordered(request, cursor, context);
}

Result<std::unique_ptr<ObjectReader>> PlainStore::open(std::string_view name,
                                                       const OpenOptions& options,
                                                       const Context& context) {
  ASSIGN_OR_RETURN(auto object, find(name, context));
  if (options.generation) return ErrorCode::kUnsupported;
  std::unique_ptr<ObjectReader> reader = std::make_unique<Reader>(std::move(object));
  return reader;
}

Result<std::unique_ptr<ObjectWriter>> PlainStore::create(std::string_view name,
                                                         const CreateOptions& options,
                                                         const Context& context) {
  RETURN_IF_ERROR(check_name(name));
  RETURN_IF_ERROR(context.check());
  const bool conditional = options.precondition.kind != Precondition::Kind::kNone;
  if (conditional || !options.metadata.empty()) return ErrorCode::kUnsupported;
  std::unique_ptr<ObjectWriter> writer = std::make_unique<Writer>(state_, name, options);
  return writer;
}

Status PlainStore::remove(std::string_view name, const RemoveOptions& options,
                          const Context& context) {
  RETURN_IF_ERROR(check_name(name));
  RETURN_IF_ERROR(context.check());
  if (options.precondition.kind != Precondition::Kind::kNone) return ErrorCode::kUnsupported;
  const MutexLock lock(state_->mutex);
  const auto found = state_->objects.find(name);
  if (found == state_->objects.end()) return ErrorCode::kNotFound;
  state_->objects.erase(found);
  return ok_status();
}

void PlainStore::change(std::string_view name, const std::function<void(Object&)>& edit) {
  const MutexLock lock(state_->mutex);
  const auto found = state_->objects.find(name);
  CHECK(found != state_->objects.end());
  auto changed = std::make_shared<Object>(*found->second);
  edit(*changed);
  found->second = std::move(changed);
}

void PlainStore::damage(std::string_view name, std::size_t offset) {
  change(name, [offset](Object& object) { object.bytes.at(offset) ^= std::byte{1}; });
}

void PlainStore::report_crc32c(std::string_view name, std::uint32_t crc32c) {
  change(name, [crc32c](Object& object) { object.info.crc32c = crc32c; });
}

}  // namespace leat::testing
