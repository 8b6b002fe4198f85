#include "leat/base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "leat/base/file_path.h"

namespace leat {
namespace {

constexpr mode_t kFileMode = 0644;
constexpr mode_t kDirectoryMode = 0755;

Error error_of(int posix_errno, std::string_view call, std::string_view path) {
  return Error::from_errno(posix_errno, fmt::format("{} {}", call, path));
}

template <typename Call>
auto retry_interrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    // Not retried: Linux frees the number even when it says EINTR.
    if (number_ >= 0) ::close(number_);
  }
  int get() const noexcept { return number_; }
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

FileStatus status_of(const struct stat& from) {
  FileStatus status;
  status.size_bytes = static_cast<std::uint64_t>(from.st_size);
  status.allocated_bytes = static_cast<std::uint64_t>(from.st_blocks) * 512;
  status.mtime_ns = from.st_mtim.tv_sec * 1'000'000'000LL + from.st_mtim.tv_nsec;
  status.inode = from.st_ino;
  status.mode = from.st_mode & 07777;
  status.is_directory = S_ISDIR(from.st_mode);
  status.is_regular = S_ISREG(from.st_mode);
  return status;
}

class PosixFile final : public File {
 public:
  PosixFile(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target) override {
    std::size_t done = 0;
    while (done < target.size()) {
      const ssize_t count = retry_interrupted([&] {
        return ::pread(descriptor(), target.data() + done, target.size() - done,
                       static_cast<off_t>(offset + done));
      });
      if (count < 0) return error_of(errno, "pread", path_);
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

  std::size_t read_now(std::uint64_t offset, std::span<std::byte> target) override {
    const iovec buffer{target.data(), target.size()};
    const ssize_t count =
        ::preadv2(descriptor(), &buffer, 1, static_cast<off_t>(offset), RWF_NOWAIT);
    return static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }

  Status write_at(std::uint64_t offset, std::span<const iovec> buffers) override {
    std::size_t index = 0;
    std::size_t written = 0;  // of buffers[index]
    while (index < buffers.size()) {
      const iovec& buffer = buffers[index];
      if (written == buffer.iov_len) {
        ++index;
        written = 0;
        continue;
      }
      // After a short write the rest of that buffer goes alone, so that `buffers` need no copy.
      const ssize_t count = retry_interrupted([&] {
        return written == 0 ? ::pwritev(descriptor(), &buffer, vector_count(buffers.size() - index),
                                        static_cast<off_t>(offset))
                            : ::pwrite(descriptor(), static_cast<char*>(buffer.iov_base) + written,
                                       buffer.iov_len - written, static_cast<off_t>(offset));
      });
      if (count < 0) return error_of(errno, "pwritev", path_);
      if (count == 0) return error_of(EIO, "pwritev", path_);
      offset += static_cast<std::uint64_t>(count);
      for (auto rest = static_cast<std::size_t>(count); rest > 0;) {
        const std::size_t step = std::min(rest, buffers[index].iov_len - written);
        rest -= step;
        written += step;
        if (rest > 0) {
          ++index;
          written = 0;
        }
      }
    }
    return ok_status();
  }

  Status resize(std::uint64_t size_bytes) override {
    if (retry_interrupted(
            [&] { return ::ftruncate(descriptor(), static_cast<off_t>(size_bytes)); }) != 0) {
      return error_of(errno, "ftruncate", path_);
    }
    return ok_status();
  }

  Status sync() override {
    // fdatasync() leaves out the times only: the size is needed to read the bytes back.
    if (retry_interrupted([&] { return ::fdatasync(descriptor()); }) != 0) {
      return error_of(errno, "fdatasync", path_);
    }
    return ok_status();
  }

  Result<FileStatus> status() override {
    struct stat from;
    if (::fstat(descriptor(), &from) != 0) return error_of(errno, "fstat", path_);
    return status_of(from);
  }

  int descriptor() const noexcept override { return descriptor_.get(); }

 private:
  static int vector_count(std::size_t buffers) {
    return static_cast<int>(std::min<std::size_t>(buffers, IOV_MAX));
  }

  const Descriptor descriptor_;
  const std::string path_;
};

// A flock() belongs to the open file description, which fork() shares: a child inherits the lock,
// and it is held until parent and child have both closed it. That is why the destructor only
// closes: LOCK_UN in a forked child would take the lock away from its parent.
class PosixFileLock final : public FileLock {
 public:
  explicit PosixFileLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

 private:
  const Descriptor descriptor_;
};

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

class PosixFileSystem final : public FileSystem {
 public:
  PosixFileSystem(std::string root, Descriptor descriptor)
      : root_(std::move(root)), root_descriptor_(std::move(descriptor)) {}

  std::string_view root() const noexcept override { return root_; }

  Result<std::unique_ptr<File>> open(std::string_view path, OpenMode mode) override {
    ASSIGN_OR_RETURN(Descriptor descriptor, open_regular(path, flags_of(mode)));
    return std::unique_ptr<File>(new PosixFile(std::move(descriptor), std::string(path)));
  }

  Result<FileStatus> status(std::string_view path) override {
    ASSIGN_OR_RETURN(Descriptor descriptor, open_beneath(path, O_PATH));
    struct stat from;
    if (::fstat(descriptor.get(), &from) != 0) return error_of(errno, "fstat", path);
    return status_of(from);
  }

  Status make_directory(std::string_view path) override {
    if (path == ".") return error_of(EEXIST, "mkdir", path);
    ASSIGN_OR_RETURN(Place place, open_parent(path));
    if (::mkdirat(place.directory.get(), place.name.c_str(), kDirectoryMode) != 0) {
      return error_of(errno, "mkdir", path);
    }
    return ok_status();
  }

  Result<std::vector<DirectoryEntry>> read_directory(std::string_view path) override {
    ASSIGN_OR_RETURN(Descriptor descriptor, open_beneath(path, O_RDONLY | O_DIRECTORY));
    std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(descriptor.get()));
    if (directory == nullptr) return error_of(errno, "fdopendir", path);
    const int number = descriptor.release();
    std::vector<DirectoryEntry> entries;
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(directory.get());
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      bool is_directory = entry->d_type == DT_DIR;
      struct stat from;
      if (entry->d_type == DT_UNKNOWN &&
          ::fstatat(number, entry->d_name, &from, AT_SYMLINK_NOFOLLOW) == 0) {
        is_directory = S_ISDIR(from.st_mode);
      }
      entries.push_back({std::string(name), is_directory});
    }
    if (errno != 0) return error_of(errno, "readdir", path);
    return entries;
  }

  Status rename(std::string_view from, std::string_view to, RenameMode mode) override {
    ASSIGN_OR_RETURN(Place source, open_parent(from));
    ASSIGN_OR_RETURN(Place target, open_parent(to));
    const unsigned flags = mode == RenameMode::kKeepExisting ? RENAME_NOREPLACE : 0;
    if (::syscall(SYS_renameat2, source.directory.get(), source.name.c_str(),
                  target.directory.get(), target.name.c_str(), flags) == 0) {
      return ok_status();
    }
    const int reason = errno;
    if (flags != 0 && (reason == EINVAL || reason == ENOSYS)) {
      const int linked = rename_by_link(source, target);
      if (linked == 0) return ok_status();
      if (linked != EPERM) return error_of(linked, "link", fmt::format("{} -> {}", from, to));
    }
    return error_of(reason, "rename", fmt::format("{} -> {}", from, to));
  }

  Status remove_file(std::string_view path) override { return remove(path, "unlink", 0); }
  Status remove_directory(std::string_view path) override {
    return remove(path, "rmdir", AT_REMOVEDIR);
  }

  Status set_mode(std::string_view path, std::uint32_t mode) override {
    ASSIGN_OR_RETURN(Descriptor descriptor, open_beneath(path, O_RDONLY | O_NONBLOCK));
    if (::fchmod(descriptor.get(), static_cast<mode_t>(mode)) != 0) {
      return error_of(errno, "fchmod", path);
    }
    return ok_status();
  }

  Status sync_directory(std::string_view path) override {
    ASSIGN_OR_RETURN(Descriptor descriptor, open_beneath(path, O_RDONLY | O_DIRECTORY));
    if (retry_interrupted([&] { return ::fsync(descriptor.get()); }) != 0) {
      return error_of(errno, "fsync", path);
    }
    return ok_status();
  }

  Result<std::unique_ptr<FileLock>> try_lock(std::string_view path) override {
    ASSIGN_OR_RETURN(Descriptor descriptor, open_regular(path, O_RDWR | O_CREAT));
    (void)::fchmod(descriptor.get(), 0600);  // whoever can open it could hold it
    if (retry_interrupted([&] { return ::flock(descriptor.get(), LOCK_EX | LOCK_NB); }) != 0) {
      if (errno == EWOULDBLOCK) {
        return Error(ErrorCode::kBusy, fmt::format("lock {}: held by another", path));
      }
      return error_of(errno, "flock", path);
    }
    return std::unique_ptr<FileLock>(new PosixFileLock(std::move(descriptor)));
  }

  Result<SpaceStatus> space() override {
    struct statvfs from;
    if (::fstatvfs(root_descriptor_.get(), &from) != 0) return error_of(errno, "fstatvfs", ".");
    return SpaceStatus{.total_bytes = from.f_blocks * from.f_frsize,
                       .available_bytes = from.f_bavail * from.f_frsize};
  }

  Result<Descriptor> open_beneath(std::string_view path, int flags) const {
    RETURN_IF_ERROR(check_path(path));
    open_how how = {};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    how.mode = (flags & O_CREAT) != 0 ? kFileMode : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const std::string text(path);
    const long number = retry_interrupted([&] {
      return ::syscall(SYS_openat2, root_descriptor_.get(), text.c_str(), &how, sizeof how);
    });
    if (number < 0) return error_of(errno, "open", path);
    return Descriptor(static_cast<int>(number));
  }

 private:
  // A name in an open directory: no later rename of a parent can lead it elsewhere.
  struct Place {
    Descriptor directory;
    std::string name;
  };

  static int flags_of(OpenMode mode) {
    switch (mode) {
      case OpenMode::kRead:
        return O_RDONLY;
      case OpenMode::kReadWrite:
        return O_RDWR;
      case OpenMode::kCreate:
        return O_RDWR | O_CREAT | O_EXCL;
    }
    return O_RDONLY;
  }

  Result<Descriptor> open_regular(std::string_view path, int flags) const {
    if ((flags & O_EXCL) != 0) return open_beneath(path, flags);
    // What is there may be a pipe, on which a plain open() would wait for ever.
    ASSIGN_OR_RETURN(Descriptor descriptor, open_beneath(path, flags | O_NONBLOCK | O_NOCTTY));
    struct stat from;
    if (::fstat(descriptor.get(), &from) != 0) return error_of(errno, "fstat", path);
    if (S_ISDIR(from.st_mode)) return error_of(EISDIR, "open", path);
    if (!S_ISREG(from.st_mode)) {
      return Error(ErrorCode::kInvalidArgument, fmt::format("open {}: not a regular file", path));
    }
    // io_uring answers EAGAIN on a non-blocking descriptor where it should wait for the disk.
    if (::fcntl(descriptor.get(), F_SETFL, 0) != 0) return error_of(errno, "fcntl", path);
    return descriptor;
  }

  Result<Place> open_parent(std::string_view path) const {
    RETURN_IF_ERROR(check_path(path));
    if (path == ".") {
      return Error(ErrorCode::kInvalidArgument, "the root can be neither renamed nor removed");
    }
    ASSIGN_OR_RETURN(Descriptor directory, open_beneath(parent_path(path), O_PATH | O_DIRECTORY));
    return Place{std::move(directory), std::string(file_name(path))};
  }

  // For file systems without RENAME_NOREPLACE (NFS, some parallel ones). As exclusive as it, but
  // the death of the process between the two calls leaves both names. Returns an errno or 0;
  // EPERM for a directory, which cannot be linked.
  static int rename_by_link(const Place& source, const Place& target) {
    if (::linkat(source.directory.get(), source.name.c_str(), target.directory.get(),
                 target.name.c_str(), 0) != 0) {
      return errno;
    }
    return ::unlinkat(source.directory.get(), source.name.c_str(), 0) == 0 ? 0 : errno;
  }

  Status remove(std::string_view path, std::string_view call, int flags) {
    ASSIGN_OR_RETURN(Place place, open_parent(path));
    if (::unlinkat(place.directory.get(), place.name.c_str(), flags) != 0) {
      return error_of(errno, call, path);
    }
    return ok_status();
  }

  const std::string root_;
  const Descriptor root_descriptor_;
};

// Opens a new file beside `path`. The names are tried in order rather than drawn, so that a
// simulated run repeats; one that a crash left behind is passed over.
Result<std::pair<std::string, std::unique_ptr<File>>> create_sibling(FileSystem& files,
                                                                     std::string_view path) {
  constexpr int kMaxSiblings = 10'000;
  for (int number = 0; number < kMaxSiblings; ++number) {
    std::string sibling = fmt::format("{}.{}.new", path, number);
    auto file = files.open(sibling, OpenMode::kCreate);
    if (file.ok()) return std::pair(std::move(sibling), *std::move(file));
    if (!file.failed_with(ErrorCode::kAlreadyExists)) return std::move(file).error();
  }
  return Error(ErrorCode::kBusy, fmt::format("replace {}: {} unfinished replacements are beside it",
                                             path, kMaxSiblings));
}

}  // namespace

Status File::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  const iovec buffer = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  return write_at(offset, std::span(&buffer, 1));
}

Result<std::unique_ptr<FileSystem>> FileSystem::posix(const std::string& root) {
  Descriptor descriptor(
      retry_interrupted([&] { return ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); }));
  if (descriptor.get() < 0) return error_of(errno, "open", root);
  auto files = std::make_unique<PosixFileSystem>(root, std::move(descriptor));
  // Where the kernel lacks openat2, this is the place to say so.
  auto probe = files->open_beneath(".", O_PATH | O_DIRECTORY);
  if (!probe.ok()) return std::move(probe).error().within(root);
  return std::unique_ptr<FileSystem>(std::move(files));
}

Status FileSystem::make_directories(std::string_view path) {
  const auto present = status(path);
  if (present.ok() && present->is_directory) return ok_status();
  if (!present.ok() && !present.failed_with(ErrorCode::kNotFound)) return present.error();
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = path.find('/', end + 1);
    const std::string_view directory = path.substr(0, end);
    const Status made = make_directory(directory);
    if (made.ok()) {
      RETURN_IF_ERROR(sync_directory(parent_path(directory)));
    } else if (!made.failed_with(ErrorCode::kAlreadyExists)) {
      return made.error();
    }
  }
  ASSIGN_OR_RETURN(const FileStatus result, status(path));
  if (!result.is_directory) return error_of(EEXIST, "mkdir", path);
  return ok_status();
}

Status FileSystem::replace_file(std::string_view path, std::span<const std::byte> bytes) {
  ASSIGN_OR_RETURN(auto sibling, create_sibling(*this, path));
  auto& [name, file] = sibling;
  const auto publish = [&, &file = file, &name = name]() -> Status {
    RETURN_IF_ERROR(file->write_at(0, bytes));
    RETURN_IF_ERROR(file->sync());
    return rename(name, path, RenameMode::kReplace);
  };
  const Status published = publish();
  if (!published.ok()) {
    // The first error is the one that tells; a name left behind is only passed over.
    (void)remove_file(name);
    return published.error();
  }
  return sync_directory(parent_path(path));
}

Result<std::vector<std::byte>> FileSystem::read_file(std::string_view path,
                                                     std::uint64_t limit_bytes) {
  ASSIGN_OR_RETURN(const std::unique_ptr<File> file, open(path, OpenMode::kRead));
  ASSIGN_OR_RETURN(const FileStatus present, file->status());
  if (present.size_bytes > limit_bytes) {
    return Error(ErrorCode::kTooLarge, fmt::format("read {}: {} bytes, at most {} are expected",
                                                   path, present.size_bytes, limit_bytes));
  }
  std::vector<std::byte> bytes(present.size_bytes);
  ASSIGN_OR_RETURN(const std::size_t count, file->read_at(0, bytes));
  bytes.resize(count);
  return bytes;
}

std::size_t File::read_now(std::uint64_t /*offset*/, std::span<std::byte> /*target*/) {
  return 0;
}

std::string_view parent_path(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "." : path.substr(0, slash);
}

}  // namespace leat
