// Tree: a directory and what lies beneath it, as the `file:` driver sees it.
//
// A name is a relative path. All paths are resolved beneath the root by the kernel (openat2,
// RESOLVE_BENEATH): a symbolic link inside the tree is followed, one that leads out of it, or has
// an absolute target, is an error. Objects are regular files; nothing else in the tree is shown.
// Files whose name begins with kTemporaryPrefix are objects being written, and are hidden.
//
// Immutable after it was opened, apart from the tree on disk; thread-safe.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "leat/base/result.h"
#include "leat/drivers/posix/descriptor.h"
#include "leat/store/object_store.h"

namespace leat {

// PATH_MAX less the terminating NUL.
inline constexpr std::size_t kMaxTreeNameBytes = 4095;
inline constexpr std::string_view kTemporaryPrefix = ".leat-tmp-";

// "a/b/c" is "c" in "a/b"; "c" is "c" in ".".
struct TreePath {
  std::string parent;
  std::string base;
  static TreePath of(std::string_view name);
};

std::int64_t modification_ns(const struct stat& status) noexcept;
// The etag is inode, modification time and size: a change in place is a new version, too.
ObjectInfo tree_object_info(const struct stat& status);

class Tree {
 public:
  // Use open(), which checks that `descriptor` can do what is needed of it.
  Tree(std::string root, Descriptor descriptor)
      : root_(std::move(root)), descriptor_(std::move(descriptor)) {}

  // `root` must be an existing directory.
  static Result<std::shared_ptr<const Tree>> open(const std::string& root);

  // How people call the root, for messages.
  const std::string& root() const noexcept { return root_; }

  // kInvalidArgument, saying why, for a name that no file can have.
  static Status check_name(std::string_view name);

  // An open(2) beneath the root; `flags` get O_CLOEXEC. kNotFound comes without a text.
  Result<Descriptor> open_beneath(const std::string& path, int flags) const;
  // What the path leads to, over symbolic links.
  Result<struct stat> status(const std::string& path) const;
  // The object's information; kNotFound for what is not a regular file.
  Result<ObjectInfo> object_info(const std::string& name) const;

  // The directory that holds `name`, made if missing. kInvalidArgument when a file is in its way.
  Result<Descriptor> make_parent(const std::string& name) const;
  // Removes the directories above `name` that are empty, never the root.
  void remove_empty_parents(const std::string& name) const;
  // Syncs every directory from that of `name`, or the first above it that is left, to the root:
  // another writer may have made any of them a moment ago.
  Status sync_parents(const std::string& name) const;

  // "what root/path", for Error::from_errno().
  std::string describe(std::string_view what, std::string_view path) const;

 private:
  Status make_directories(const std::string& path) const;

  const std::string root_;
  const Descriptor descriptor_;
};

}  // namespace leat
