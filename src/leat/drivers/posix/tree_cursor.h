// TreeCursor: the names of a Tree that a ListRequest may ask for, in byte order.
//
// Byte order of full names is not the order of a recursive walk: "a.b" sorts before "a/b", as '.'
// sorts before '/'. So a directory's entries are sorted with a '/' after the names of directories.
//
// Only directories on the way to the asked position, and those that hold names with the prefix of
// the request, are read; after the last of these names the cursor ends. A directory beneath which
// all names share one common prefix of the listing is not walked: it is enough that one object is
// found.
//
// A page begins by finding its place, which means to read and sort its directory again. For a
// directory of a million files that is most of the work, so the store keeps the last large one
// (DirectoryCache).
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/mutex.h"
#include "leat/drivers/posix/tree.h"
#include "leat/store/listing.h"

namespace leat {

struct TreeEntry {
  std::string text;  // the name; a directory's ends with '/'
  bool is_directory = false;
  bool is_link = false;
};
using TreeEntries = std::vector<TreeEntry>;

// The entries of the last large directory that was read, as long as it did not change. Thread-safe.
class DirectoryCache {
 public:
  static constexpr std::size_t kLargeEntries = 4096;

  // A directory with fewer entries is read again as fast as it is found here.
  explicit DirectoryCache(std::size_t min_entries = kLargeEntries) : min_entries_(min_entries) {}

  // Null when they are not here or no longer right for a directory in state `status`.
  std::shared_ptr<const TreeEntries> find(const struct stat& status) const;
  // `status` is from before the entries were read, at `read_ns`. Kept only when the directory is
  // large and did not change lately: a change that follows a read within one tick of the file
  // system's clock would not be noticed.
  void keep(const struct stat& status, std::int64_t read_ns,
            std::shared_ptr<const TreeEntries> entries);

 private:
  const std::size_t min_entries_;
  mutable Mutex mutex_;
  struct stat status_ GUARDED_BY(mutex_) = {};
  std::shared_ptr<const TreeEntries> entries_ GUARDED_BY(mutex_);
};

// For one thread at a time. The arguments must outlive it.
class TreeCursor final : public OrderedCursor {
 public:
  TreeCursor(const Tree& tree, DirectoryCache& cache, const ListRequest& request,
             const Context& context)
      : tree_(tree), cache_(cache), request_(request), context_(context) {}

  Status seek(std::string_view at_or_after) override;
  bool valid() const override { return !stack_.empty(); }
  std::string_view name() const override { return name_; }
  Status next() override;
  Result<ObjectInfo> info() const override;

 private:
  // A directory on the way from the root to the current name.
  struct Frame {
    std::string path;  // "" or "a/b/"
    Descriptor descriptor;
    dev_t device = 0;
    ino_t inode = 0;
    std::shared_ptr<const TreeEntries> entries;
    std::size_t at = 0;
  };

  // Whether the directory was entered: it may be gone, or be one that we are in already, by a link.
  Result<bool> enter(const std::string& path, const TreeEntry* entry);
  // From the current entry on to the first object.
  Status settle();
  Result<std::shared_ptr<const TreeEntries>> read(const Frame& frame,
                                                  const struct stat& status) const;
  // An object beneath the directory, any; empty when there is none.
  Result<std::string> find_any_object(const std::string& path) const;

  const Tree& tree_;
  DirectoryCache& cache_;
  const ListRequest& request_;
  const Context& context_;
  std::vector<Frame> stack_;
  std::string name_;
};

}  // namespace leat
