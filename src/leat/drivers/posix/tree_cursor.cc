#include "leat/drivers/posix/tree_cursor.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <set>

namespace leat {
namespace {

// Longer than a tick of any file system's clock (FAT has two seconds).
constexpr std::int64_t kSettledNs = 3'000'000'000;

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

// The kind of what `entry` is or leads to; nothing when it is neither directory nor object. A link
// that leads nowhere, or out of the tree, counts as an object: who reads it is told what is wrong,
// where a name left out would look as if there were nothing.
bool classify(const Tree& tree, const std::string& path, const dirent& found, TreeEntry& entry) {
  entry.is_link = found.d_type == DT_LNK || found.d_type == DT_UNKNOWN;
  entry.is_directory = found.d_type == DT_DIR;
  bool is_object = found.d_type == DT_REG;
  if (entry.is_link) {
    const auto status = tree.status(path + entry.text);
    entry.is_directory = status.ok() && S_ISDIR(status->st_mode);
    is_object = !status.ok() || S_ISREG(status->st_mode);
  }
  if (entry.is_directory) entry.text += '/';
  return entry.is_directory || is_object;
}

// Calls `visit` with every directory and object until it returns false.
Status visit_entries(const Tree& tree, const std::string& path, const Descriptor& descriptor,
                     const std::function<bool(TreeEntry)>& visit) {
  // A second descriptor with its own position: fdopendir() takes it away.
  const int own = openat(descriptor.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) {
    if (errno == ENOENT) return ok_status();  // removed meanwhile
    return Error::from_errno(errno, tree.describe("open directory", path));
  }
  const std::unique_ptr<DIR, CloseDirectory> directory(fdopendir(own));
  while (true) {
    errno = 0;
    const dirent* found = readdir(directory.get());  // NOLINT(concurrency-mt-unsafe): our own DIR
    if (found == nullptr) break;
    const std::string_view name = found->d_name;
    if (name == "." || name == ".." || name.starts_with(kTemporaryPrefix)) continue;
    TreeEntry entry{std::string(name), false, false};
    if (classify(tree, path, *found, entry) && !visit(std::move(entry))) return ok_status();
  }
  if (errno != 0) return Error::from_errno(errno, tree.describe("read directory", path));
  return ok_status();
}

bool same_time(const timespec& left, const timespec& right) {
  return left.tv_sec == right.tv_sec && left.tv_nsec == right.tv_nsec;
}

bool same_state(const struct stat& left, const struct stat& right) {
  return left.st_dev == right.st_dev && left.st_ino == right.st_ino &&
         same_time(left.st_mtim, right.st_mtim) && same_time(left.st_ctim, right.st_ctim);
}

// "" is the root, "a/b/" the directory "a/b".
std::string directory_path(std::string_view path) {
  return path.empty() ? "." : std::string(path.substr(0, path.size() - 1));
}

// What is gone, or became something else, is passed over.
Result<Descriptor> open_directory(const Tree& tree, std::string_view path) {
  return tree.open_beneath(directory_path(path), O_RDONLY | O_DIRECTORY);
}

}  // namespace

std::shared_ptr<const TreeEntries> DirectoryCache::find(const struct stat& status) const {
  const MutexLock lock(mutex_);
  if (entries_ == nullptr || !same_state(status, status_)) return nullptr;
  return entries_;
}

void DirectoryCache::keep(const struct stat& status, std::int64_t read_ns,
                          std::shared_ptr<const TreeEntries> entries) {
  if (entries->size() < min_entries_) return;
  if (modification_ns(status) > read_ns - kSettledNs) return;
  const MutexLock lock(mutex_);
  status_ = status;
  entries_.swap(entries);
}

Result<std::shared_ptr<const TreeEntries>> TreeCursor::read(const Frame& frame,
                                                            const struct stat& status) const {
  if (auto kept = cache_.find(status)) return kept;
  const std::int64_t read_ns = Clock::system().wall_ns();
  auto entries = std::make_shared<TreeEntries>();
  RETURN_IF_ERROR(visit_entries(tree_, frame.path, frame.descriptor, [&](TreeEntry entry) {
    entries->push_back(std::move(entry));
    return true;
  }));
  std::sort(entries->begin(), entries->end(),
            [](const TreeEntry& left, const TreeEntry& right) { return left.text < right.text; });
  // A name that is replaced while the directory is read may be met twice.
  const auto same = [](const TreeEntry& left, const TreeEntry& right) {
    return left.text == right.text;
  };
  entries->erase(std::unique(entries->begin(), entries->end(), same), entries->end());
  std::shared_ptr<const TreeEntries> sorted = std::move(entries);
  cache_.keep(status, read_ns, sorted);
  return sorted;
}

Result<bool> TreeCursor::enter(const std::string& path, const TreeEntry* entry) {
  RETURN_IF_ERROR(context_.check());
  auto opened = open_directory(tree_, path);
  if (opened.failed_with(ErrorCode::kNotFound)) return false;
  ASSIGN_OR_RETURN(Descriptor descriptor, std::move(opened));
  struct stat status;
  if (fstat(descriptor.get(), &status) != 0) {
    return Error::from_errno(errno, tree_.describe("stat", path));
  }
  if (entry != nullptr && entry->is_link) {
    for (const Frame& frame : stack_) {
      if (frame.device == status.st_dev && frame.inode == status.st_ino) return false;
    }
  }
  Frame frame{path, std::move(descriptor), status.st_dev, status.st_ino, nullptr, 0};
  ASSIGN_OR_RETURN(frame.entries, read(frame, status));
  stack_.push_back(std::move(frame));
  return true;
}

Status TreeCursor::seek(std::string_view at_or_after) {
  while (!stack_.empty() && !at_or_after.starts_with(stack_.back().path)) stack_.pop_back();
  if (stack_.empty()) {
    ASSIGN_OR_RETURN(const bool entered, enter("", nullptr));
    if (!entered) return ok_status();
  }
  std::string_view rest = at_or_after.substr(stack_.back().path.size());
  while (true) {
    Frame& frame = stack_.back();
    const auto first = std::lower_bound(
        frame.entries->begin(), frame.entries->end(), rest,
        [](const TreeEntry& entry, std::string_view text) { return entry.text < text; });
    frame.at = static_cast<std::size_t>(first - frame.entries->begin());
    if (frame.at == 0) break;
    // The one directory that sorts before `rest` and may hold names after it.
    const TreeEntry& before = (*frame.entries)[frame.at - 1];
    if (!before.is_directory || !rest.starts_with(before.text)) break;
    const std::size_t parent = stack_.size() - 1;
    ASSIGN_OR_RETURN(const bool entered, enter(frame.path + before.text, &before));
    if (!entered) break;
    rest.remove_prefix(before.text.size());
    --stack_[parent].at;
  }
  return settle();
}

Status TreeCursor::next() {
  ++stack_.back().at;
  return settle();
}

Status TreeCursor::settle() {
  while (!stack_.empty()) {
    Frame& frame = stack_.back();
    if (frame.at == frame.entries->size()) {
      stack_.pop_back();
      if (!stack_.empty()) ++stack_.back().at;
      continue;
    }
    const TreeEntry& entry = (*frame.entries)[frame.at];
    name_ = frame.path + entry.text;
    const bool has_prefix = name_.starts_with(request_.prefix);
    if (!has_prefix && name_ > request_.prefix) {
      stack_.clear();
      break;
    }
    if (!entry.is_directory) return ok_status();
    if (has_prefix && !common_prefix(name_, request_.prefix, request_.delimiter).empty()) {
      ASSIGN_OR_RETURN(name_, find_any_object(name_));
      if (!name_.empty()) return ok_status();
      ++frame.at;
      continue;
    }
    const std::size_t parent = stack_.size() - 1;
    ASSIGN_OR_RETURN(const bool entered, enter(name_, &entry));
    if (!entered) ++stack_[parent].at;
  }
  return ok_status();
}

Result<std::string> TreeCursor::find_any_object(const std::string& path) const {
  std::string found;
  std::vector<std::string> pending = {path};
  // Links may lead in circles. As in a full walk, none leads back to where we are.
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const Frame& frame : stack_) seen.emplace(frame.device, frame.inode);
  while (!pending.empty()) {
    RETURN_IF_ERROR(context_.check());
    const std::string directory = std::move(pending.back());
    pending.pop_back();
    const auto opened = open_directory(tree_, directory);
    if (opened.failed_with(ErrorCode::kNotFound)) continue;
    if (!opened.ok()) return opened.error();
    struct stat status;
    if (fstat(opened->get(), &status) != 0) {
      return Error::from_errno(errno, tree_.describe("stat", directory));
    }
    if (!seen.emplace(status.st_dev, status.st_ino).second) continue;
    RETURN_IF_ERROR(visit_entries(tree_, directory, *opened, [&](TreeEntry entry) {
      std::string name = directory + entry.text;
      if (entry.is_directory) {
        pending.push_back(std::move(name));
        return true;
      }
      found = std::move(name);
      return false;
    }));
    if (!found.empty()) break;
  }
  return found;
}

Result<ObjectInfo> TreeCursor::info() const {
  const Frame& frame = stack_.back();
  const TreeEntry& entry = (*frame.entries)[frame.at];
  if (entry.is_directory || entry.is_link) {
    auto info = tree_.object_info(name_);
    if (info.ok() || entry.is_directory) return info;
  }
  struct stat status;
  if (fstatat(frame.descriptor.get(), entry.text.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return ErrorCode::kNotFound;
    return Error::from_errno(errno, tree_.describe("stat", name_));
  }
  if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) return ErrorCode::kNotFound;
  return tree_object_info(status);
}

}  // namespace leat
