#include "leat/drivers/posix/posix_store.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "leat/base/mutex.h"
#include "leat/drivers/posix/descriptor.h"
#include "leat/drivers/posix/tree.h"
#include "leat/drivers/posix/tree_cursor.h"
#include "leat/store/listing.h"
#include "leat/store/url_query.h"
#include "leat/store/write_guard.h"

namespace leat {
namespace {

// Between two looks at the Context; also below what one read(2) or write(2) can move.
constexpr std::size_t kStepBytes = 16 << 20;
constexpr int kRaceAttempts = 100;

Error no_metadata() {
  return Error(ErrorCode::kUnsupported,
               "files have no place for metadata, etags and checksums of an object; write without "
               "them, or to a store that keeps them (leat+local:)");
}

Error no_generations() {
  return Error(ErrorCode::kUnsupported, "files have no generations; use the etag");
}

bool must_sync(Durability durability) {
  return durability != Durability::kMemory;
}

// What the store shares with its writers, which may outlive it.
struct Shared {
  explicit Shared(std::shared_ptr<const Tree> opened) : tree(std::move(opened)) {}

  // Later than any before, so that no two versions made here have the same etag, even where an
  // inode is used again within one tick of the file system's clock.
  std::int64_t next_modification_ns() {
    const std::int64_t now_ns = Clock::system().wall_ns();
    std::int64_t last_ns = last_modification_ns.load();
    std::int64_t next_ns = 0;
    do {
      next_ns = std::max(now_ns, last_ns + 1);
    } while (!last_modification_ns.compare_exchange_weak(last_ns, next_ns));
    return next_ns;
  }

  Status check_precondition(const std::string& name, const Precondition& precondition) const {
    const auto current = tree->object_info(name);
    if (!current.ok() && !current.failed_with(ErrorCode::kNotFound)) return current.error();
    return precondition.check(current.ok() ? &*current : nullptr);
  }

  const std::shared_ptr<const Tree> tree;
  // Held shared by unconditional changes, alone by those that first look at the object. The only
  // lock that is held over I/O: one look and one rename, which must not be parted.
  SharedMutex change_mutex;
  std::atomic<std::int64_t> last_modification_ns{0};
  std::atomic<std::uint64_t> temporaries{0};
};

class Reader final : public ObjectReader {
 public:
  Reader(std::shared_ptr<const Tree> tree, std::string name, Descriptor file, ObjectInfo info)
      : tree_(std::move(tree)),
        name_(std::move(name)),
        file_(std::move(file)),
        info_(std::move(info)) {}

  const ObjectInfo& info() const noexcept override { return info_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override {
    const ByteRange range = ByteRange{offset, target.size()}.within(info_.size_bytes);
    std::size_t done = 0;
    do {
      RETURN_IF_ERROR(context.check());
      const std::size_t step = std::min<std::size_t>(range.length - done, kStepBytes);
      RETURN_IF_ERROR(read_all(range.offset + done, target.subspan(done, step)));
      done += step;
    } while (done < range.length);
    return done;
  }

  Result<std::vector<LocalExtent>> local_extents(ByteRange range, const Context& context) override {
    RETURN_IF_ERROR(context.check());
    const ByteRange part = range.within(info_.size_bytes);
    if (part.length == 0) return std::vector<LocalExtent>();
    return std::vector<LocalExtent>{{file_.get(), part.offset, part.length}};
  }

 private:
  Status read_all(std::uint64_t offset, std::span<std::byte> target) {
    while (!target.empty()) {
      const ssize_t count =
          pread(file_.get(), target.data(), target.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return Error::from_errno(errno, tree_->describe("read", name_));
      if (count == 0) {
        return Error(ErrorCode::kIoError,
                     tree_->describe("read", name_) + ": another program made the file shorter");
      }
      offset += static_cast<std::uint64_t>(count);
      target = target.subspan(static_cast<std::size_t>(count));
    }
    return ok_status();
  }

  const std::shared_ptr<const Tree> tree_;
  const std::string name_;
  const Descriptor file_;
  const ObjectInfo info_;
};

// The hidden file that becomes the object.
struct Temporary {
  Descriptor directory;
  std::string base;
  Descriptor file;
};

Error directory_in_the_way(const Tree& tree, const std::string& name) {
  return Error(ErrorCode::kInvalidArgument, tree.describe("write", name) + ": it is a directory");
}

bool is_directory(const Descriptor& parent, const std::string& base) {
  struct stat status;
  return fstatat(parent.get(), base.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(status.st_mode);
}

Result<Temporary> make_temporary(Shared& shared, const std::string& name) {
  const Tree& tree = *shared.tree;
  for (int attempt = 0; attempt < kRaceAttempts; ++attempt) {
    Temporary made;
    ASSIGN_OR_RETURN(made.directory, tree.make_parent(name));
    if (is_directory(made.directory, TreePath::of(name).base)) {
      return directory_in_the_way(tree, name);
    }
    made.base = std::string(kTemporaryPrefix) + std::to_string(getpid()) + "-" +
                std::to_string(++shared.temporaries);
    made.file = Descriptor(openat(made.directory.get(), made.base.c_str(),
                                  O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (made.file.valid()) return made;
    // EEXIST: left behind by a process that had our id. ENOENT: the directory became empty and
    // was removed by another thread before our file was in it.
    if (errno != EEXIST && errno != ENOENT) {
      Error error = Error::from_errno(errno, tree.describe("create", name));
      tree.remove_empty_parents(name);
      return error;
    }
  }
  return Error(ErrorCode::kUnavailable, tree.describe("create", name) + ": too many attempts");
}

class Writer final : public ObjectWriter {
 public:
  Writer(std::shared_ptr<Shared> shared, std::string name, const CreateOptions& options,
         Temporary temporary)
      : shared_(std::move(shared)),
        name_(std::move(name)),
        base_(TreePath::of(name_).base),
        precondition_(options.precondition),
        durability_(options.durability),
        temporary_(std::move(temporary)),
        guard_(options.expected_size_bytes) {}

  ~Writer() override {
    if (published_) return;
    unlinkat(temporary_.directory.get(), temporary_.base.c_str(), 0);
    shared_->tree->remove_empty_parents(name_);
  }

  Status append(std::span<const std::byte> bytes, const Context& context) override {
    RETURN_IF_ERROR(guard_.begin_append(bytes.size(), context));
    while (!bytes.empty()) {
      const std::size_t step = std::min(bytes.size(), kStepBytes);
      const ssize_t count = write(temporary_.file.get(), bytes.data(), step);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        guard_.mark_broken();
        return Error::from_errno(errno, shared_->tree->describe("write", name_));
      }
      bytes = bytes.subspan(static_cast<std::size_t>(count));
      if (bytes.empty()) break;
      if (auto wanted = context.check(); !wanted.ok()) {
        guard_.mark_broken();
        return wanted;
      }
    }
    return ok_status();
  }

  Result<ObjectInfo> commit(const CommitOptions& options, const Context& context) override {
    RETURN_IF_ERROR(guard_.begin_commit(context));
    if (!options.etag.empty() || !options.checksums.empty()) return no_metadata();
    ASSIGN_OR_RETURN(ObjectInfo info, finish_file());
    RETURN_IF_ERROR(publish());
    published_ = true;
    if (must_sync(durability_)) RETURN_IF_ERROR(shared_->tree->sync_parents(name_));
    return info;
  }

 private:
  Error failed(std::string_view what) const {
    return Error::from_errno(errno, shared_->tree->describe(what, name_));
  }

  Result<ObjectInfo> finish_file() {
    const int file = temporary_.file.get();
    const std::int64_t modified_ns = shared_->next_modification_ns();
    timespec times[2] = {};
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_sec = modified_ns / 1'000'000'000;
    times[1].tv_nsec = modified_ns % 1'000'000'000;
    if (futimens(file, times) != 0) return failed("set the time of");
    if (must_sync(durability_) && fsync(file) != 0) return failed("sync");
    struct stat status;
    if (fstat(file, &status) != 0) return failed("stat");
    return tree_object_info(status);
  }

  Status publish() {
    switch (precondition_.kind) {
      case Precondition::Kind::kNone: {
        const ReaderLock lock(shared_->change_mutex);
        return rename_file();
      }
      case Precondition::Kind::kAbsent: {
        const ReaderLock lock(shared_->change_mutex);
        return rename_file_if_absent();
      }
      default: {
        const WriterLock lock(shared_->change_mutex);
        RETURN_IF_ERROR(shared_->check_precondition(name_, precondition_));
        return rename_file();
      }
    }
  }

  Status rename_file() {
    const int directory = temporary_.directory.get();
    if (renameat(directory, temporary_.base.c_str(), directory, base_.c_str()) == 0) {
      return ok_status();
    }
    if (errno == EISDIR) return directory_in_the_way(*shared_->tree, name_);
    return failed("rename to");
  }

  Status rename_file_if_absent() {
    const int directory = temporary_.directory.get();
    long outcome = syscall(SYS_renameat2, directory, temporary_.base.c_str(), directory,
                           base_.c_str(), RENAME_NOREPLACE);
    // Some file systems (NFS) do not know the flag; a link is as good, only its name is visible
    // beside the temporary one for a moment.
    if (outcome != 0 && (errno == EINVAL || errno == ENOSYS)) {
      outcome = linkat(directory, temporary_.base.c_str(), directory, base_.c_str(), 0);
      if (outcome == 0) unlinkat(directory, temporary_.base.c_str(), 0);
    }
    if (outcome == 0) return ok_status();
    if (errno != EEXIST) return failed("rename to");
    if (is_directory(temporary_.directory, base_)) {
      return directory_in_the_way(*shared_->tree, name_);
    }
    return Error(ErrorCode::kPreconditionFailed, "the object exists already");
  }

  const std::shared_ptr<Shared> shared_;
  const std::string name_;
  const std::string base_;
  const Precondition precondition_;
  const Durability durability_;
  const Temporary temporary_;
  WriteGuard guard_;
  bool published_ = false;
};

class PosixStore final : public ObjectStore {
 public:
  explicit PosixStore(std::shared_ptr<const Tree> tree)
      : url_("file://" + percent_encode(tree->root(), "/")),
        shared_(std::make_shared<Shared>(std::move(tree))) {}

  std::string_view url() const noexcept override { return url_; }
  std::vector<std::string> directories(std::string_view prefix) const override {
    const std::size_t slash = prefix.rfind('/');
    std::string directory(shared_->tree->root());
    if (slash != prefix.npos) directory.append("/").append(prefix.substr(0, slash));
    return {std::move(directory)};
  }

  Capabilities capabilities() const noexcept override {
    Capabilities capabilities;
    capabilities.generations = false;
    capabilities.metadata = false;
    capabilities.any_name = false;
    capabilities.max_name_bytes = kMaxTreeNameBytes;
    return capabilities;
  }

  Result<ObjectInfo> stat(std::string_view name, const Context& context) override {
    RETURN_IF_ERROR(check_call(name, context));
    return tree().object_info(std::string(name));
  }

  Result<ListPage> list(const ListRequest& request, const Context& context) override {
    TreeCursor cursor(tree(), directory_cache_, request, context);
    return list_ordered(request, cursor, context);
  }

  Result<std::unique_ptr<ObjectReader>> open(std::string_view name, const OpenOptions& options,
                                             const Context& context) override {
    RETURN_IF_ERROR(check_call(name, context));
    if (options.generation) return no_generations();
    std::string path(name);
    // Without O_NONBLOCK a pipe that lies about in the tree would hold us up.
    ASSIGN_OR_RETURN(Descriptor file, tree().open_beneath(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
    struct stat status;
    if (fstat(file.get(), &status) != 0) {
      return Error::from_errno(errno, tree().describe("stat", path));
    }
    if (!S_ISREG(status.st_mode)) return ErrorCode::kNotFound;
    std::unique_ptr<ObjectReader> reader = std::make_unique<Reader>(
        shared_->tree, std::move(path), std::move(file), tree_object_info(status));
    return reader;
  }

  Result<std::unique_ptr<ObjectWriter>> create(std::string_view name, const CreateOptions& options,
                                               const Context& context) override {
    RETURN_IF_ERROR(check_call(name, context));
    RETURN_IF_ERROR(check_precondition_kind(options.precondition));
    if (!options.metadata.empty()) return no_metadata();
    std::string path(name);
    ASSIGN_OR_RETURN(Temporary temporary, make_temporary(*shared_, path));
    std::unique_ptr<ObjectWriter> writer =
        std::make_unique<Writer>(shared_, std::move(path), options, std::move(temporary));
    return writer;
  }

  Status remove(std::string_view name, const RemoveOptions& options,
                const Context& context) override {
    RETURN_IF_ERROR(check_call(name, context));
    RETURN_IF_ERROR(check_precondition_kind(options.precondition));
    const std::string path(name);
    if (options.precondition.kind == Precondition::Kind::kNone) {
      const ReaderLock lock(shared_->change_mutex);
      RETURN_IF_ERROR(remove_file(path));
    } else {
      const WriterLock lock(shared_->change_mutex);
      RETURN_IF_ERROR(shared_->check_precondition(path, options.precondition));
      RETURN_IF_ERROR(remove_file(path));
    }
    tree().remove_empty_parents(path);
    return must_sync(options.durability) ? tree().sync_parents(path) : ok_status();
  }

 private:
  static Status check_call(std::string_view name, const Context& context) {
    RETURN_IF_ERROR(Tree::check_name(name));
    return context.check();
  }

  static Status check_precondition_kind(const Precondition& precondition) {
    if (precondition.kind == Precondition::Kind::kGeneration) return no_generations();
    return ok_status();
  }

  const Tree& tree() const { return *shared_->tree; }

  Status remove_file(const std::string& path) {
    RETURN_IF_ERROR(tree().object_info(path));  // what is not an object is not removed
    const TreePath place = TreePath::of(path);
    ASSIGN_OR_RETURN(const Descriptor parent,
                     tree().open_beneath(place.parent, O_PATH | O_DIRECTORY));
    if (unlinkat(parent.get(), place.base.c_str(), 0) == 0) return ok_status();
    if (errno == ENOENT || errno == EISDIR) return ErrorCode::kNotFound;
    return Error::from_errno(errno, tree().describe("remove", path));
  }

  const std::string url_;
  const std::shared_ptr<Shared> shared_;
  DirectoryCache directory_cache_;
};

// Where in the file system a URL leads: an existing directory, and the rest as a name in it.
struct Place {
  std::filesystem::path root;
  std::string name;
};

Result<Place> locate(const std::filesystem::path& path, IfMissing if_missing) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_directory(path, error)) return Place{fs::canonical(path, error), ""};
  if (!path.has_filename()) {
    if (fs::exists(path.parent_path(), error)) {
      return Error(ErrorCode::kInvalidArgument, path.string() + " is not a directory");
    }
    if (if_missing == IfMissing::kFail) {
      return Error(ErrorCode::kNotFound, "there is no directory " + path.string());
    }
    fs::create_directories(path, error);
    if (error) return Error::from_errno(error.value(), "make directory " + path.string());
    return Place{fs::canonical(path, error), ""};
  }
  Place place{fs::absolute(path, error).parent_path(), path.filename().string()};
  place.root = fs::weakly_canonical(place.root, error);
  if (error) return Error::from_errno(error.value(), "find " + path.string());
  if (if_missing == IfMissing::kFail && !fs::is_directory(place.root, error)) {
    return Error(ErrorCode::kNotFound, "there is no directory " + place.root.string());
  }
  while (!fs::is_directory(place.root, error) && place.root.has_relative_path()) {
    place.name = place.root.filename().string() + "/" + place.name;
    place.root = place.root.parent_path();
  }
  return place;
}

Result<StoreLocation> open_url(const Url& url, IfMissing if_missing) {
  RETURN_IF_ERROR(check_query_keys(url, {}));
  if (!url.authority.empty() && url.authority != "localhost") {
    return Error(ErrorCode::kInvalidArgument,
                 "a file URL has no host; write file:///" + url.authority + url.path);
  }
  ASSIGN_OR_RETURN(const std::string path, percent_decode(url.path));
  if (path.empty()) {
    return Error(ErrorCode::kInvalidArgument, "a file URL needs a path: file:///data");
  }
  ASSIGN_OR_RETURN(Place place, locate(path, if_missing));
  ASSIGN_OR_RETURN(auto store, open_posix_store(place.root.string()));
  return StoreLocation{std::move(store), std::move(place.name)};
}

}  // namespace

Result<std::shared_ptr<ObjectStore>> open_posix_store(const std::string& root) {
  ASSIGN_OR_RETURN(auto tree, Tree::open(root));
  std::shared_ptr<ObjectStore> store = std::make_shared<PosixStore>(std::move(tree));
  return store;
}

void register_posix(Registry& registry) {
  registry.add("file", open_url);
}

}  // namespace leat
