// The part of Drive that looks after the files of large objects.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "leat/local/drive.h"
#include "leat/local/layout.h"
#include "leat/local/path_escape.h"

namespace leat::local {
namespace {

constexpr std::uint32_t kObjectMode = 0444;

}  // namespace

Result<std::string> Drive::temporary_path() {
  return fmt::format("{}/{:08x}", kTemporaryDirectory, next_temporary_.fetch_add(1));
}

Result<std::string> Drive::adopt_file(const std::string& temporary_path, File& file,
                                      std::string_view key, Durability durability) {
  RETURN_IF_ERROR(files_->set_mode(temporary_path, kObjectMode));
  const std::string plain = fmt::format("{}/{}", kObjectDirectory, escape_path(key));
  const std::uint64_t number = generations_.next();  // never used before, so a name with it is free
  const std::string apart =
      fmt::format("{}/{}", kObjectDirectory, tag_directories(escape_path(key)));
  // First under its own name; if an older version or a directory has that, with a tag; if a
  // directory of its path is a file, with the directories tagged.
  for (const std::string& path : {plain, tag_version(plain, number), tag_version(apart, number)}) {
    {
      MutexLock lock(files_mutex_);
      // Other records mean a file by this name that was lost; or somebody is about to make or to
      // remove one.
      if (shared_files_.contains(path) || claimed_files_.contains(path)) continue;
      ++claimed_files_[path];
    }
    Status moved = files_->make_directories(parent_path(path));
    if (moved.ok()) moved = files_->rename(temporary_path, path, RenameMode::kKeepExisting);
    if (moved.ok() && durability != Durability::kMemory) {
      moved = file.sync();
      if (moved.ok()) moved = sync_directories(path);
      if (!moved.ok()) {
        may_have_orphans_.store(true);
        end_adoption(path);
        return std::move(moved).error();
      }
    }
    if (moved.ok()) return path;
    end_adoption(path);
    const ErrorCode code = moved.error().code();
    if (code != ErrorCode::kAlreadyExists && code != ErrorCode::kNotFound &&
        code != ErrorCode::kInvalidArgument) {
      return std::move(moved).error();
    }
  }
  return Error(ErrorCode::kIoError, fmt::format("no file name is free for {}", key));
}

// Makes the name of a file durable, and those of its directories: somebody else may have made them
// a moment ago and not have synced them yet. Each is looked after once by each process.
Status Drive::sync_directories(std::string_view path) {
  std::vector<std::string> unsure;
  for (std::string_view name = parent_path(path); name.size() > kObjectDirectory.size();
       name = parent_path(name)) {
    MutexLock lock(files_mutex_);
    if (durable_directories_.contains(name)) break;
    unsure.emplace_back(name);
  }
  RETURN_IF_ERROR(files_->sync_directory(parent_path(path)));
  for (const std::string& name : unsure) RETURN_IF_ERROR(files_->sync_directory(parent_path(name)));
  MutexLock lock(files_mutex_);
  durable_directories_.insert(unsure.begin(), unsure.end());
  return ok_status();
}

void Drive::end_adoption(const std::string& path) {
  MutexLock lock(files_mutex_);
  unclaim(path);
}

void Drive::unclaim(const std::string& path) {
  const auto it = claimed_files_.find(path);
  if (--it->second == 0) claimed_files_.erase(it);
}

void Drive::claim_files(std::span<const Extent> extents) {
  std::set<std::string_view> paths;
  for (const Extent& extent : extents) paths.insert(extent.path);
  MutexLock lock(files_mutex_);
  for (const std::string_view path : paths) ++claimed_files_[std::string(path)];
}

void Drive::discard_adopted(const std::string& path, ErrorCode reason) {
  if (reason == ErrorCode::kIoError || reason == ErrorCode::kNoSpace) {
    may_have_orphans_.store(true);
  } else {
    remove_object_file(path);
  }
}

Result<std::unique_ptr<File>> Drive::open_extent(const std::string& path) {
  return files_->open(path, OpenMode::kRead);
}

void Drive::add_references(std::span<const Extent> extents) {
  std::set<std::string_view> paths;
  for (const Extent& extent : extents) paths.insert(extent.path);
  MutexLock lock(files_mutex_);
  for (const std::string_view path : paths) ++shared_files_[std::string(path)];
}

// Removes the files that nobody refers to any more. Readers that have them open keep their bytes.
// REQUIRES: publish() has claimed them; a name is free again when its file is gone.
void Drive::release_files(std::span<const Extent> extents) {
  std::set<std::string> paths;
  for (const Extent& extent : extents) paths.insert(extent.path);
  for (const std::string& path : paths) {
    {
      MutexLock lock(files_mutex_);
      if (const auto it = shared_files_.find(path); it != shared_files_.end()) {
        if (--it->second > 0 || shared_files_uncertain_.load()) {
          unclaim(path);
          continue;
        }
        shared_files_.erase(it);
      }
      if (const auto it = pinned_files_.find(path); it != pinned_files_.end()) {
        if (std::exchange(it->second.is_doomed, true)) unclaim(path);  // one claim is enough
        continue;
      }
    }
    remove_object_file(path);
    end_adoption(path);
  }
}

// If this fails the space is lost until remove_orphans() finds it.
void Drive::remove_object_file(const std::string& path) {
  if (files_->remove_file(path).ok()) remove_empty_directories(parent_path(path));
}

FilePin::~FilePin() {
  if (drive_ != nullptr) drive_->unpin_files(paths_);
}

FilePin Drive::pin_files(std::span<const Extent> extents) {
  std::vector<std::string> paths;
  for (const Extent& extent : extents) paths.push_back(extent.path);
  MutexLock lock(files_mutex_);
  for (const std::string& path : paths) ++pinned_files_[path].count;
  return FilePin(*this, std::move(paths));
}

void Drive::unpin_files(std::span<const std::string> paths) {
  std::vector<std::string> doomed;
  {
    MutexLock lock(files_mutex_);
    for (const std::string& path : paths) {
      const auto it = pinned_files_.find(path);
      if (--it->second.count > 0) continue;
      // Meanwhile a copy may have taken the file over.
      if (it->second.is_doomed && shared_files_.contains(path)) {
        unclaim(path);
      } else if (it->second.is_doomed) {
        doomed.push_back(path);
      }
      pinned_files_.erase(it);
    }
  }
  for (const std::string& path : doomed) {
    remove_object_file(path);
    end_adoption(path);
  }
}

std::shared_ptr<BlockMarks> Drive::block_marks(const Record& record) {
  constexpr std::size_t kMost = 64 << 10;  // objects; forgetting only means comparing again
  MutexLock lock(marks_mutex_);
  if (marks_.size() >= kMost) marks_.clear();
  auto& marks = marks_[record.generation];
  if (!marks) marks = std::make_shared<BlockMarks>(record.block_crcs.size());
  return marks;
}

Error Drive::damaged_file(std::string_view key, std::string_view path, std::string_view what) {
  report_damage({{}, 0, fmt::format("{} ({}): {}", key, path, what)});
  return Error(ErrorCode::kCorrupted, fmt::format("{} is damaged ({}: {}) and is not served; "
                                                  "'leat verify' lists what else is",
                                                  key, path, what));
}

void Drive::remove_empty_directories(std::string_view path) {
  while (path.size() > kObjectDirectory.size()) {
    {
      MutexLock lock(files_mutex_);
      durable_directories_.erase(std::string(path));
    }
    if (!files_->remove_directory(path).ok()) return;
    path = parent_path(path);
  }
}

// Counts who refers to the files that several records may share.
Status Drive::load_shared_files() {
  std::vector<Place> places;
  {
    ReaderLock lock(table_mutex_);
    table_.for_each([&](Place place) {
      if (place.is_shared()) places.push_back(place);
    });
  }
  for (const Place place : places) {
    const auto pack = log_.pack(place.location().pack);
    const auto head = pack ? pack->read_head(place.location().offset_bytes())
                           : Result<Pack::Head>(Error(ErrorCode::kCorrupted));
    if (head.ok()) {
      add_references(head->record.extents);
    } else {
      shared_files_uncertain_.store(true);
    }
  }
  return ok_status();
}

// What a process that died was writing. Nobody can go on with it.
Status Drive::clean_temporary() {
  ASSIGN_OR_RETURN(auto entries, files_->read_directory(kTemporaryDirectory));
  for (const DirectoryEntry& entry : entries) {
    RETURN_IF_ERROR(files_->remove_file(fmt::format("{}/{}", kTemporaryDirectory, entry.name)));
  }
  return ok_status();
}

// Whether a record, or a writer that is about to commit one, refers to the file.
Result<bool> Drive::is_referred_to(const std::string& path, const Context& context) {
  {
    MutexLock lock(files_mutex_);
    if (claimed_files_.contains(path) || shared_files_.contains(path) ||
        pinned_files_.contains(path)) {
      return true;
    }
  }
  const auto key = unescape_path(std::string_view(path).substr(kObjectDirectory.size() + 1));
  if (!key.ok()) return true;  // not ours: not to be touched
  ASSIGN_OR_RETURN(const auto found, find(*key, ReadAlong::kNothing, context));
  if (!found) return false;
  const auto& extents = found->record.extents;
  return std::any_of(extents.begin(), extents.end(),
                     [&](const Extent& extent) { return extent.path == path; });
}

Result<std::uint64_t> Drive::remove_orphans(const Context& context) {
  std::uint64_t removed_bytes = 0;
  if (shared_files_uncertain_.load()) return removed_bytes;
  std::vector<std::string> directories{std::string(kObjectDirectory)};
  while (!directories.empty()) {
    RETURN_IF_ERROR(context.check());
    const std::string directory = std::move(directories.back());
    directories.pop_back();
    auto entries = files_->read_directory(directory);
    if (entries.failed_with(ErrorCode::kNotFound)) continue;
    if (!entries.ok()) return std::move(entries).error();
    for (const DirectoryEntry& entry : *entries) {
      const std::string path = directory + "/" + entry.name;
      if (entry.is_directory) {
        directories.push_back(path);
        continue;
      }
      const auto status = files_->status(path);
      auto needed = is_referred_to(path, context);
      if (needed.failed_with(ErrorCode::kCorrupted)) continue;  // its record is damaged: keep
      if (!needed.ok()) return std::move(needed).error();
      if (*needed || !files_->remove_file(path).ok()) continue;
      if (status.ok()) removed_bytes += status->allocated_bytes;
      remove_empty_directories(parent_path(path));
    }
  }
  return removed_bytes;
}

Status Drive::check_catalogue(const Context& context) {
  const auto walk = cursor();
  RETURN_IF_ERROR(walk->seek(""));
  while (walk->valid()) {
    RETURN_IF_ERROR(context.check());
    RETURN_IF_ERROR(walk->next());
  }
  return ok_status();
}

Status Drive::discard_catalogue() {
  catalogue_discarded_.store(true);
  Status removed = files_->remove_file(fmt::format("{}/manifest", kCatalogueDirectory));
  if (!removed.ok() && !removed.failed_with(ErrorCode::kNotFound)) return removed;
  return files_->sync_directory(kCatalogueDirectory);
}

}  // namespace leat::local
