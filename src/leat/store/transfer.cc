#include "leat/store/transfer.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "leat/base/mutex.h"
#include "leat/store/copy_object.h"

namespace leat {
namespace {

// A folder's objects that pass the filter, one after another, with names relative to the folder.
class FolderWalk {
 public:
  FolderWalk(const Folder& folder, const NameFilter& filter, const Context& context)
      : folder_(folder), filter_(filter), context_(context) {
    request_.prefix = folder.prefix;
  }

  // Moves to the next object; the first call to the first.
  Status next() {
    for (;;) {
      ++position_;
      while (position_ >= page_.entries.size()) {
        if (last_page_) {
          at_end_ = true;
          return ok_status();
        }
        RETURN_IF_ERROR(read_page());
      }
      if (filter_.passes(name())) return ok_status();
    }
  }
  bool at_end() const noexcept { return at_end_; }
  // REQUIRES: !at_end().
  std::string_view name() const noexcept {
    return std::string_view(page_.entries[position_].name).substr(folder_.prefix.size());
  }
  const ObjectInfo& info() const noexcept { return page_.entries[position_].info; }

 private:
  Status read_page() {
    RETURN_IF_ERROR(context_.check());
    ASSIGN_OR_RETURN(page_, folder_.store->list(request_, context_));
    request_.start_after = page_.next_start_after;
    last_page_ = page_.next_start_after.empty();
    position_ = 0;
    // An object that is called like the folder itself is not in it.
    std::erase_if(page_.entries, [this](const ListPage::Entry& entry) {
      return entry.name.size() == folder_.prefix.size();
    });
    return ok_status();
  }

  const Folder& folder_;
  const NameFilter& filter_;
  const Context& context_;
  ListRequest request_;
  ListPage page_;
  std::size_t position_ = SIZE_MAX;  // the first next() makes it 0
  bool last_page_ = false;
  bool at_end_ = false;
};

// The report while many threads write it.
class SharedReport {
 public:
  void add_copied(std::uint64_t size_bytes, bool metadata_dropped) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ++report_.copied;
    report_.copied_bytes += size_bytes;
    if (metadata_dropped) ++report_.metadata_dropped;
  }
  void add_unchanged() EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ++report_.unchanged;
  }
  void add_removed() EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ++report_.removed;
  }
  void add_failure(std::string_view name, Error error) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ++report_.failed;
    if (report_.failures.size() == TransferReport::kMaxFailures) return;
    report_.failures.push_back({std::string(name), std::move(error)});
  }
  bool has_failures() const EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return report_.failed > 0;
  }
  TransferReport take() EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    std::sort(report_.failures.begin(), report_.failures.end(),
              [](const TransferFailure& a, const TransferFailure& b) { return a.name < b.name; });
    return std::move(report_);
  }

 private:
  mutable Mutex mutex_;
  TransferReport report_ GUARDED_BY(mutex_);
};

class Transfer {
 public:
  Transfer(const Folder& source, const Folder& target, const TransferOptions& options,
           Executor& executor, const Context& context)
      : source_(source),
        target_(target),
        options_(options),
        context_(context),
        observer_(options.observer != nullptr ? *options.observer : silent_),
        group_(executor) {}

  TransferReport copy_all() {
    Status status = check_overlap();
    if (status) status = walk_both();
    return finish(std::move(status));
  }
  TransferReport remove_all() { return finish(walk_target()); }

 private:
  Status check_overlap() const;
  Status walk_both();
  Status walk_target();
  Status remove_extraneous();
  void consider(std::string_view name, const ObjectInfo& source, const ObjectInfo* target);
  void consider_later(std::string_view name, const ObjectInfo& source,
                      std::optional<ObjectInfo> target);
  Result<bool> is_unchanged(const std::string& name, const ObjectInfo& source,
                            const std::optional<ObjectInfo>& target) const;
  Result<bool> has_same_bytes(const std::string& name, const ObjectInfo& source) const;
  Status copy(const std::string& name);
  void remove_later(std::string_view name);
  void note(const std::string& name, Status status);
  TransferReport finish(Status status);

  bool is_dry_run() const { return options_.mode == TransferOptions::Mode::kDryRun; }
  bool removes() const { return options_.extraneous == TransferOptions::Extraneous::kRemove; }

  const Folder& source_;
  const Folder& target_;
  const TransferOptions& options_;
  const Context& context_;
  TransferObserver silent_;
  TransferObserver& observer_;
  SharedReport report_;
  std::vector<std::string> extraneous_;
  WorkGroup group_;  // last: its destructor waits for tasks that use the rest
};

// The URL of a folder when two store objects with the same URL hold the same objects; every mem:
// store is one of its own.
std::optional<std::string> place_of(const Folder& folder) {
  std::string url(folder.store->url());
  if (url.find("://") == std::string::npos) return std::nullopt;
  if (!url.ends_with('/')) url += '/';
  return url + folder.prefix;
}

// "file" of "file:///data".
std::string_view scheme_of(const ObjectStore& store) {
  return store.url().substr(0, store.url().find(':'));
}

// Whether a directory that holds `inner` lies in one that holds `outer`: a local store within a
// tree of files is files of that tree, too.
bool shares_directories(const Folder& inner, const Folder& outer) {
  for (const std::string& outer_directory : outer.store->directories(outer.prefix)) {
    for (const std::string& inner_directory : inner.store->directories(inner.prefix)) {
      const auto relative = std::filesystem::path(inner_directory)
                                .lexically_relative(std::filesystem::path(outer_directory));
      if (!relative.empty() && *relative.begin() != "..") return true;
    }
  }
  return false;
}

bool lies_within(const Folder& inner, const Folder& outer) {
  if (is_same_store(*inner.store, *outer.store)) return inner.prefix.starts_with(outer.prefix);
  if (scheme_of(*inner.store) != scheme_of(*outer.store)) return shares_directories(inner, outer);
  const auto inner_place = place_of(inner);
  const auto outer_place = place_of(outer);
  return inner_place && outer_place && inner_place->starts_with(*outer_place);
}

Status Transfer::check_overlap() const {
  if (lies_within(target_, source_)) {
    return Error(ErrorCode::kInvalidArgument,
                 "the target lies within the source: it would be copied into itself for ever");
  }
  if (removes() && lies_within(source_, target_)) {
    return Error(ErrorCode::kInvalidArgument,
                 "the source lies within the target: removing what is extra would remove it");
  }
  return ok_status();
}

Status Transfer::walk_both() {
  const Capabilities target_can = target_.store->capabilities();
  FolderWalk source(source_, options_.filter, context_);
  FolderWalk target(target_, options_.filter, context_);
  const bool walks_target = target_can.listable && target_can.stores_bytes;
  RETURN_IF_ERROR(source.next());
  if (walks_target) RETURN_IF_ERROR(target.next());
  const bool source_is_empty = source.at_end();
  const auto pass_target = [&](auto&& is_passed) -> Status {
    while (walks_target && !target.at_end() && is_passed(target.name())) {
      if (removes()) extraneous_.emplace_back(target.name());
      RETURN_IF_ERROR(target.next());
    }
    return ok_status();
  };
  while (!source.at_end()) {
    RETURN_IF_ERROR(context_.check());
    RETURN_IF_ERROR(pass_target([&](std::string_view name) { return name < source.name(); }));
    const bool in_both = walks_target && !target.at_end() && target.name() == source.name();
    // Object stores mark folders so; a tree has the folder itself.
    const bool is_marker = source.info().size_bytes == 0 && source.name().ends_with('/');
    if (!is_marker || target_can.any_name) {
      consider(source.name(), source.info(), in_both ? &target.info() : nullptr);
    }
    if (in_both) RETURN_IF_ERROR(target.next());
    RETURN_IF_ERROR(source.next());
  }
  RETURN_IF_ERROR(pass_target([](std::string_view) { return true; }));
  if (extraneous_.empty()) return ok_status();
  if (source_is_empty) {
    return Error(ErrorCode::kPreconditionFailed,
                 "the source holds nothing, so everything in the target would be removed");
  }
  return remove_extraneous();
}

Status Transfer::remove_extraneous() {
  RETURN_IF_ERROR(group_.wait());
  if (report_.has_failures()) return ok_status();
  for (const std::string& name : extraneous_) {
    RETURN_IF_ERROR(context_.check());
    remove_later(name);
  }
  return ok_status();
}

Status Transfer::walk_target() {
  FolderWalk target(target_, options_.filter, context_);
  RETURN_IF_ERROR(target.next());
  while (!target.at_end()) {
    RETURN_IF_ERROR(context_.check());
    observer_.found(target.info().size_bytes);
    remove_later(target.name());
    RETURN_IF_ERROR(target.next());
  }
  return ok_status();
}

// Decides at once what needs no I/O, so that a second run costs two listings.
void Transfer::consider(std::string_view name, const ObjectInfo& source, const ObjectInfo* target) {
  observer_.found(source.size_bytes);
  if (target != nullptr && options_.compare == TransferOptions::Compare::kQuick) {
    const Result<bool> unchanged = is_unchanged({}, source, *target);
    if (unchanged && *unchanged) {
      report_.add_unchanged();
      observer_.moved(source.size_bytes);
      return;
    }
    consider_later(name, source, std::nullopt);
    return;
  }
  consider_later(name, source, target != nullptr ? std::optional(*target) : std::nullopt);
}

void Transfer::consider_later(std::string_view name, const ObjectInfo& source,
                              std::optional<ObjectInfo> target) {
  if (is_dry_run()) {
    const Result<bool> unchanged = is_unchanged(std::string(name), source, target);
    if (!unchanged) {
      note(std::string(name), unchanged.error());
    } else if (*unchanged) {
      report_.add_unchanged();
    } else {
      report_.add_copied(source.size_bytes, false);
      observer_.planned(TransferAction::kCopy, name);
    }
    return;
  }
  group_.run([this, name = std::string(name), source, target = std::move(target)]() -> Status {
    const Result<bool> unchanged = is_unchanged(name, source, target);
    if (!unchanged) {
      note(name, unchanged.error());
    } else if (*unchanged) {
      report_.add_unchanged();
      observer_.moved(source.size_bytes);
    } else {
      note(name, copy(name));
    }
    return ok_status();
  });
}

Result<bool> Transfer::is_unchanged(const std::string& name, const ObjectInfo& source,
                                    const std::optional<ObjectInfo>& target) const {
  using Compare = TransferOptions::Compare;
  if (!target || options_.compare == Compare::kNever) return false;
  if (source.size_bytes != target->size_bytes) return false;
  const bool both_known = source.crc32c && target->crc32c;
  if (both_known && *source.crc32c != *target->crc32c) return false;
  if (options_.compare == Compare::kChecksum) return has_same_bytes(name, source);
  return both_known || target->mtime_ns >= source.mtime_ns;
}

// What a target recorded says what it was given, not what it still has, so it is read. A damaged
// source would be noticed by the copy.
Result<bool> Transfer::has_same_bytes(const std::string& name, const ObjectInfo& source) const {
  const auto target_crc = read_crc32c(*target_.store, target_.prefix + name, context_);
  if (target_crc.failed_with(ErrorCode::kCorrupted)) return false;
  if (!target_crc) return target_crc.error();
  if (source.crc32c) return *source.crc32c == *target_crc;
  ASSIGN_OR_RETURN(const std::uint32_t source_crc,
                   read_crc32c(*source_.store, source_.prefix + name, context_));
  return source_crc == *target_crc;
}

Status Transfer::copy(const std::string& name) {
  RETURN_IF_ERROR(context_.check());
  CopyOptions copy_options;
  copy_options.durability = options_.durability;
  copy_options.on_bytes = [this](std::uint64_t bytes) { observer_.moved(bytes); };
  ASSIGN_OR_RETURN(const CopiedObject copied,
                   copy_object(*source_.store, source_.prefix + name, *target_.store,
                               target_.prefix + name, copy_options, context_));
  report_.add_copied(copied.info.size_bytes, copied.metadata_dropped);
  return ok_status();
}

void Transfer::remove_later(std::string_view name) {
  if (is_dry_run()) {
    report_.add_removed();
    observer_.planned(TransferAction::kRemove, name);
    return;
  }
  group_.run([this, name = std::string(name)]() -> Status {
    Status status = context_.check();
    if (status) status = target_.store->remove(target_.prefix + name, {}, context_);
    // Somebody else removed it: what was asked for is so.
    if (status.ok() || status.failed_with(ErrorCode::kNotFound)) {
      report_.add_removed();
    } else {
      note(name, std::move(status));
    }
    return ok_status();
  });
}

// What was cut short because the context ended did not fail: the report says that it stopped.
void Transfer::note(const std::string& name, Status status) {
  if (status.ok() || !context_.check().ok()) return;
  report_.add_failure(name, std::move(status).error());
}

TransferReport Transfer::finish(Status status) {
  const Status waited = group_.wait();
  TransferReport report = report_.take();
  if (!status) {
    report.stopped = std::move(status).error();
  } else if (Status ended = context_.check(); !ended) {
    report.stopped = std::move(ended).error();
  } else if (!waited) {
    report.stopped = waited.error();
  }
  return report;
}

}  // namespace

TransferReport transfer(const Folder& source, const Folder& target, const TransferOptions& options,
                        Executor& executor, const Context& context) {
  return Transfer(source, target, options, executor, context).copy_all();
}

TransferReport copy_objects(std::span<const CopyRequest> requests, const TransferOptions& options,
                            Executor& executor, const Context& context) {
  SharedReport report;
  CopyOptions copy_options;
  copy_options.durability = options.durability;
  if (options.observer != nullptr) {
    copy_options.on_bytes = [&](std::uint64_t bytes) { options.observer->moved(bytes); };
  }
  WorkGroup group(executor);
  for (const CopyRequest& request : requests) {
    group.run([&]() -> Status {
      RETURN_IF_ERROR(context.check());
      auto copied = copy_object(*request.source, request.source_name, *request.target,
                                request.target_name, copy_options, context);
      if (copied) {
        report.add_copied(copied->info.size_bytes, copied->metadata_dropped);
      } else if (context.check().ok()) {
        report.add_failure(request.source_name, std::move(copied).error());
      }
      return ok_status();
    });
  }
  const Status waited = group.wait();
  TransferReport result = report.take();
  if (!waited) {
    result.stopped = waited.error();
  } else if (Status ended = context.check(); !ended) {
    result.stopped = std::move(ended).error();
  }
  return result;
}

TransferReport remove_folder(const Folder& folder, const TransferOptions& options,
                             Executor& executor, const Context& context) {
  return Transfer(folder, folder, options, executor, context).remove_all();
}

}  // namespace leat
