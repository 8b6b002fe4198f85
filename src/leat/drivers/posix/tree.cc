#include "leat/drivers/posix/tree.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include <cerrno>
#include <utility>

#include "leat/base/hex.h"

namespace leat {
namespace {

constexpr std::size_t kMaxComponentBytes = 255;
// Another thread may remove a directory that became empty between our making it and our using it.
constexpr int kRaceAttempts = 100;

Error bad_name(std::string_view why) {
  return Error(ErrorCode::kInvalidArgument,
               "a directory tree cannot hold this name: " + std::string(why));
}

Status check_component(std::string_view component) {
  if (component.empty()) return bad_name("it begins or ends with '/', or has \"//\" in it");
  if (component == "." || component == "..") return bad_name("a part of it is \".\" or \"..\"");
  if (component.size() > kMaxComponentBytes) {
    return bad_name("a part of it is longer than " + std::to_string(kMaxComponentBytes) + " bytes");
  }
  if (component.starts_with(kTemporaryPrefix)) {
    return bad_name("\"" + std::string(kTemporaryPrefix) + "\" marks objects being written");
  }
  return ok_status();
}

}  // namespace

TreePath TreePath::of(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return {".", std::string(name)};
  return {std::string(name.substr(0, slash)), std::string(name.substr(slash + 1))};
}

std::int64_t modification_ns(const struct stat& status) noexcept {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

ObjectInfo tree_object_info(const struct stat& status) {
  ObjectInfo info;
  info.size_bytes = static_cast<std::uint64_t>(status.st_size);
  info.mtime_ns = modification_ns(status);
  info.etag = to_hex(std::uint64_t{status.st_ino}) + "-" +
              to_hex(static_cast<std::uint64_t>(info.mtime_ns)) + "-" + to_hex(info.size_bytes);
  return info;
}

Result<std::shared_ptr<const Tree>> Tree::open(const std::string& root) {
  Descriptor descriptor(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.valid()) return Error::from_errno(errno, "open directory " + root);
  std::shared_ptr<const Tree> tree = std::make_shared<const Tree>(root, std::move(descriptor));
  // Fails now, with the reason, where the kernel lacks openat2 (before Linux 5.6).
  RETURN_IF_ERROR(tree->open_beneath(".", O_PATH));
  return tree;
}

Status Tree::check_name(std::string_view name) {
  RETURN_IF_ERROR(leat::check_name(name, kMaxTreeNameBytes));
  while (true) {
    const std::size_t slash = name.find('/');
    RETURN_IF_ERROR(check_component(name.substr(0, slash)));
    if (slash == std::string_view::npos) return ok_status();
    name.remove_prefix(slash + 1);
  }
}

std::string Tree::describe(std::string_view what, std::string_view path) const {
  std::string text(what);
  text += ' ';
  text += root_;
  text += '/';
  text += path;
  return text;
}

Result<Descriptor> Tree::open_beneath(const std::string& path, int flags) const {
  struct open_how how = {};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 0; attempt < kRaceAttempts; ++attempt) {
    const long number = syscall(SYS_openat2, descriptor_.get(), path.c_str(), &how, sizeof how);
    if (number >= 0) return Descriptor(static_cast<int>(number));
    // EAGAIN: something was renamed while the kernel went up through "..".
    if (errno != EAGAIN && errno != EINTR) break;
  }
  const int reason = errno;
  if (reason == ENOENT || reason == ENOTDIR) return ErrorCode::kNotFound;
  if (reason == EXDEV) {
    return Error(ErrorCode::kPermissionDenied,
                 describe("open", path) + ": a symbolic link leads out of " + root_);
  }
  return Error::from_errno(reason, describe("open", path));
}

Result<struct stat> Tree::status(const std::string& path) const {
  ASSIGN_OR_RETURN(const Descriptor file, open_beneath(path, O_PATH));
  struct stat status;
  if (fstat(file.get(), &status) != 0) return Error::from_errno(errno, describe("stat", path));
  return status;
}

Result<ObjectInfo> Tree::object_info(const std::string& name) const {
  ASSIGN_OR_RETURN(const struct stat found, status(name));
  if (!S_ISREG(found.st_mode)) return ErrorCode::kNotFound;
  return tree_object_info(found);
}

Status Tree::make_directories(const std::string& path) const {
  for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
    const std::string directory = path.substr(0, end);
    const TreePath place = TreePath::of(directory);
    ASSIGN_OR_RETURN(const Descriptor parent, open_beneath(place.parent, O_PATH | O_DIRECTORY));
    if (mkdirat(parent.get(), place.base.c_str(), 0777) != 0 && errno != EEXIST) {
      return Error::from_errno(errno, describe("make directory", directory));
    }
    if (end == std::string::npos) return ok_status();
  }
}

Result<Descriptor> Tree::make_parent(const std::string& name) const {
  const TreePath place = TreePath::of(name);
  for (int attempt = 0; attempt < kRaceAttempts; ++attempt) {
    auto parent = open_beneath(place.parent, O_RDONLY | O_DIRECTORY);
    if (!parent.failed_with(ErrorCode::kNotFound)) return parent;
    // Not there, or a file is in the way: it is the first part that exists and is no directory.
    for (std::size_t end = name.find('/'); end != std::string::npos;
         end = name.find('/', end + 1)) {
      const auto found = status(name.substr(0, end));
      if (!found.ok() || S_ISDIR(found->st_mode)) continue;
      return bad_name("\"" + name.substr(0, end) + "\" is a file here, not a directory");
    }
    auto made = make_directories(place.parent);
    if (!made.ok() && !made.failed_with(ErrorCode::kNotFound)) return std::move(made).error();
  }
  return Error(ErrorCode::kUnavailable,
               describe("open directory", place.parent) +
                   ": it is removed again and again, or is a link to nowhere");
}

void Tree::remove_empty_parents(const std::string& name) const {
  for (std::string path = TreePath::of(name).parent; path != ".";) {
    const TreePath place = TreePath::of(path);
    const auto parent = open_beneath(place.parent, O_PATH | O_DIRECTORY);
    if (!parent.ok() || unlinkat(parent->get(), place.base.c_str(), AT_REMOVEDIR) != 0) return;
    path = place.parent;
  }
}

Status Tree::sync_parents(const std::string& name) const {
  std::string path = name;
  do {
    path = TreePath::of(path).parent;
    const auto directory = open_beneath(path, O_RDONLY | O_DIRECTORY);
    if (directory.failed_with(ErrorCode::kNotFound) && path != ".") continue;
    if (!directory.ok()) return directory.error();
    if (fsync(directory->get()) != 0) {
      return Error::from_errno(errno, describe("sync directory", path));
    }
  } while (path != ".");
  return ok_status();
}

}  // namespace leat
