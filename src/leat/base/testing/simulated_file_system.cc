#include "leat/base/testing/simulated_file_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <utility>

#include "leat/base/check.h"
#include "leat/base/file_path.h"
#include "leat/base/mutex.h"
#include "leat/base/random.h"
#include "leat/base/testing/simulated_tree.h"

namespace leat {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 44;
constexpr std::uint64_t kDiskBytes = std::uint64_t{1} << 40;
constexpr std::int64_t kFirstTimeNs = 1'600'000'000'000'000'000;

constexpr std::uint32_t kOwnerWrites = 0200;

using Inode = SimulatedTree::Inode;
using Kind = SimulatedTree::Kind;

// What a call does, as far as a fault cares.
enum class Effect : std::uint8_t { kReads, kWrites, kTakesSpace, kChanges };

std::vector<std::byte> gather(std::span<const iovec> buffers) {
  std::vector<std::byte> bytes;
  for (const iovec& buffer : buffers) {
    const auto* begin = static_cast<const std::byte*>(buffer.iov_base);
    bytes.insert(bytes.end(), begin, begin + buffer.iov_len);
  }
  return bytes;
}

FileStatus status_of(const SimulatedInode& inode) {
  FileStatus status;
  status.size_bytes = inode.content.cache().size_bytes();
  status.allocated_bytes = inode.content.cache().sectors().size() * SparseBytes::kSectorBytes;
  status.mtime_ns = inode.mtime_ns;
  status.inode = inode.number;
  status.mode = inode.content.mode();
  status.is_directory = inode.is_directory();
  status.is_regular = !inode.is_directory();
  return status;
}

}  // namespace

// What all views share. Every call of a File or a FileSystem locks `mutex`, comes in by enter(),
// and does the rest in memory.
class SimulatedFileSystem::Disk {
 public:
  Status enter(Effect effect, std::string_view call, std::string_view path) REQUIRES(mutex) {
    const std::uint64_t mutating_number = mutating_calls;
    const std::uint64_t any_number = any_calls++;
    if (effect != Effect::kReads) ++mutating_calls;
    if (effect != Effect::kReads && mutating_number >= cut_at) is_off = true;
    if (is_off) {
      return Error(ErrorCode::kIoError, fmt::format("{} {}: the machine is off", call, path));
    }
    if (!fault || !concerns(*fault, effect)) return ok_status();
    const bool mutating = fault->counted == Calls::kMutating;
    if ((mutating ? mutating_number : any_number) < fail_at) return ok_status();
    ++failed_calls;
    const Fault::Kind kind = fault->kind;
    failed_by = kind;
    if (fault->lasts == Fault::Lasts::kOnce) fault.reset();
    return Error::from_errno(kind == Fault::Kind::kNoSpace ? ENOSPC : EIO,
                             fmt::format("{} {} (simulated)", call, path));
  }

  Result<Inode> create(std::string_view path, Kind kind) REQUIRES(mutex) {
    ASSIGN_OR_RETURN(Inode inode, tree.create(path, kind));
    inode->mtime_ns = now_ns();
    return inode;
  }

  void restart(PowerCut cut) EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    tree.settle(cut);
    ++power_cuts;
    is_off = false;
    cut_at = kNever;
    fault.reset();
  }

  // How much of a write that enter() has just failed reached the file.
  std::size_t written_before_failure(std::size_t size) REQUIRES(mutex) {
    return failed_by == Fault::Kind::kShortWrite ? size / 2 : random.uniform(size + 1);
  }

  std::uint64_t used_bytes() REQUIRES(mutex) {
    std::uint64_t used = 0;
    const auto root = tree.find(".");
    if (!root.ok()) return used;
    SimulatedTree::visit_files(**root, "", [&](const std::string&, const SimulatedInode& file) {
      used += status_of(file).allocated_bytes;
    });
    return used;
  }
  // Whether the sectors that a write touches for the first time are more than are free.
  bool is_too_much(const SimulatedInode& file, std::uint64_t offset, std::size_t size)
      REQUIRES(mutex) {
    if (capacity_bytes == kDiskBytes || size == 0) return false;
    const auto& sectors = file.content.cache().sectors();
    std::uint64_t needed = 0;
    const std::uint64_t last = (offset + size - 1) / SparseBytes::kSectorBytes;
    for (std::uint64_t i = offset / SparseBytes::kSectorBytes; i <= last; ++i) {
      if (!sectors.contains(i)) needed += SparseBytes::kSectorBytes;
    }
    return needed > 0 && used_bytes() + needed > capacity_bytes;
  }

  // Time passes by one nanosecond a call.
  std::int64_t now_ns() const REQUIRES(mutex) {
    return kFirstTimeNs + static_cast<std::int64_t>(any_calls);
  }

  mutable Mutex mutex;
  SimulatedTree tree GUARDED_BY(mutex);
  std::uint64_t any_calls GUARDED_BY(mutex) = 0;
  std::uint64_t mutating_calls GUARDED_BY(mutex) = 0;
  std::uint64_t cut_at GUARDED_BY(mutex) = kNever;
  std::uint64_t capacity_bytes GUARDED_BY(mutex) = kDiskBytes;
  bool is_off GUARDED_BY(mutex) = false;
  std::optional<Fault> fault GUARDED_BY(mutex);
  std::uint64_t fail_at GUARDED_BY(mutex) = kNever;
  Fault::Kind failed_by GUARDED_BY(mutex) = Fault::Kind::kIoError;
  std::uint64_t failed_calls GUARDED_BY(mutex) = 0;
  std::uint64_t power_cuts GUARDED_BY(mutex) = 0;  // tells handles from before the last one
  Random random GUARDED_BY(mutex) = Random(0);

 private:
  static bool concerns(const Fault& fault, Effect effect) {
    switch (fault.kind) {
      case Fault::Kind::kIoError:
        return effect != Effect::kReads || fault.counted == Calls::kAny;
      case Fault::Kind::kNoSpace:
        return effect == Effect::kWrites || effect == Effect::kTakesSpace;
      case Fault::Kind::kShortWrite:
        return effect == Effect::kWrites;
    }
    return false;
  }
};

class SimulatedFileSystem::OpenFile final : public File {
 public:
  OpenFile(std::shared_ptr<Disk> disk, std::uint64_t power_cuts, Inode inode, std::string_view path,
           OpenMode mode)
      : disk_(std::move(disk)),
        power_cuts_(power_cuts),
        inode_(std::move(inode)),
        path_(path),
        mode_(mode) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target) override {
    const MutexLock lock(disk_->mutex);
    RETURN_IF_ERROR(enter(Effect::kReads, "read"));
    return inode_->content.cache().read(offset, target);
  }

  Status write_at(std::uint64_t offset, std::span<const iovec> buffers) override {
    const MutexLock lock(disk_->mutex);
    if (mode_ == OpenMode::kRead) return Error::from_errno(EBADF, path_);
    std::vector<std::byte> bytes = gather(buffers);
    if (offset > kMaxFileBytes || bytes.size() > kMaxFileBytes - offset) {
      return Error::from_errno(EFBIG, path_);
    }
    Status entered = enter(Effect::kWrites, "write");
    if (!is_alive()) return entered;
    if (entered.ok() && disk_->is_too_much(*inode_, offset, bytes.size())) {
      entered = Error::from_errno(ENOSPC, path_);
      bytes.clear();
    }
    if (!entered.ok()) bytes.resize(disk_->written_before_failure(bytes.size()));
    inode_->content.write(offset, bytes);
    inode_->mtime_ns = disk_->now_ns();
    return entered;
  }

  Status resize(std::uint64_t size_bytes) override {
    const MutexLock lock(disk_->mutex);
    if (mode_ == OpenMode::kRead) return Error::from_errno(EINVAL, path_);
    if (size_bytes > kMaxFileBytes) return Error::from_errno(EFBIG, path_);
    RETURN_IF_ERROR(enter(Effect::kTakesSpace, "resize"));
    inode_->content.resize(size_bytes);
    inode_->mtime_ns = disk_->now_ns();
    return ok_status();
  }

  Status sync() override {
    const MutexLock lock(disk_->mutex);
    Status entered = enter(Effect::kChanges, "sync");
    if (entered.ok()) {
      inode_->content.sync();
    } else if (is_alive()) {
      inode_->content.sync_failed();
    }
    return entered;
  }

  Result<FileStatus> status() override {
    const MutexLock lock(disk_->mutex);
    RETURN_IF_ERROR(enter(Effect::kReads, "status"));
    return status_of(*inode_);
  }

  int descriptor() const noexcept override { return -1; }

 private:
  Status enter(Effect effect, std::string_view call) REQUIRES(disk_->mutex) {
    if (disk_->power_cuts != power_cuts_) {
      return Error(ErrorCode::kIoError,
                   fmt::format("{} {}: opened before the power cut", call, path_));
    }
    return disk_->enter(effect, call, path_);
  }
  bool is_alive() const REQUIRES(disk_->mutex) {
    return disk_->power_cuts == power_cuts_ && !disk_->is_off;
  }

  const std::shared_ptr<Disk> disk_;
  const std::uint64_t power_cuts_;
  const Inode inode_;
  const std::string path_;
  const OpenMode mode_;
};

class SimulatedFileSystem::HeldLock final : public FileLock {
 public:
  HeldLock(std::shared_ptr<Disk> disk, std::uint64_t power_cuts, Inode inode)
      : disk_(std::move(disk)), power_cuts_(power_cuts), inode_(std::move(inode)) {}
  ~HeldLock() override {
    const MutexLock lock(disk_->mutex);
    if (disk_->power_cuts == power_cuts_) inode_->locked = false;
  }

 private:
  const std::shared_ptr<Disk> disk_;
  const std::uint64_t power_cuts_;
  const Inode inode_;
};

SimulatedFileSystem::SimulatedFileSystem() : SimulatedFileSystem(std::make_shared<Disk>(), ".") {}

SimulatedFileSystem::SimulatedFileSystem(std::shared_ptr<Disk> disk, std::string directory)
    : disk_(std::move(disk)), directory_(std::move(directory)), root_("simulated:" + directory_) {}

SimulatedFileSystem::~SimulatedFileSystem() = default;

std::unique_ptr<SimulatedFileSystem> SimulatedFileSystem::view(std::string_view directory) const {
  auto path = resolve(directory);
  CHECK(path.ok());
  return std::unique_ptr<SimulatedFileSystem>(new SimulatedFileSystem(disk_, *std::move(path)));
}

std::uint64_t SimulatedFileSystem::calls(Calls counted) const {
  const MutexLock lock(disk_->mutex);
  return counted == Calls::kMutating ? disk_->mutating_calls : disk_->any_calls;
}

void SimulatedFileSystem::fail_call(std::uint64_t n, Fault fault) {
  const MutexLock lock(disk_->mutex);
  disk_->fault = fault;
  disk_->fail_at = n;
}

void SimulatedFileSystem::clear_faults() {
  const MutexLock lock(disk_->mutex);
  disk_->fault.reset();
}

std::uint64_t SimulatedFileSystem::failed_calls() const {
  const MutexLock lock(disk_->mutex);
  return disk_->failed_calls;
}

void SimulatedFileSystem::set_capacity(std::uint64_t bytes) {
  const MutexLock lock(disk_->mutex);
  disk_->capacity_bytes = bytes;
}

void SimulatedFileSystem::cut_at_call(std::uint64_t n) {
  const MutexLock lock(disk_->mutex);
  disk_->cut_at = n;
}

void SimulatedFileSystem::power_cut(std::uint64_t seed) {
  disk_->restart(PowerCut(PowerCut::Unsynced::kRandom, seed));
}

void SimulatedFileSystem::power_cut(PowerCut::Unsynced unsynced) {
  disk_->restart(PowerCut(unsynced));
}

Result<std::vector<std::byte>> SimulatedFileSystem::disk_bytes(std::string_view path) const {
  ASSIGN_OR_RETURN(const std::string full_path, resolve(path));
  const MutexLock lock(disk_->mutex);
  ASSIGN_OR_RETURN(const Inode inode, disk_->tree.find(full_path));
  std::vector<std::byte> bytes(inode->content.disk().size_bytes());
  inode->content.disk().read(0, bytes);
  return bytes;
}

Status SimulatedFileSystem::overwrite_disk(std::string_view path, std::uint64_t offset,
                                           std::span<const std::byte> bytes) {
  ASSIGN_OR_RETURN(const std::string full_path, resolve(path));
  const MutexLock lock(disk_->mutex);
  ASSIGN_OR_RETURN(const Inode inode, disk_->tree.find(full_path));
  inode->content.overwrite(offset, bytes);
  return ok_status();
}

Status SimulatedFileSystem::truncate_disk(std::string_view path, std::uint64_t size_bytes) {
  ASSIGN_OR_RETURN(const std::string full_path, resolve(path));
  const MutexLock lock(disk_->mutex);
  ASSIGN_OR_RETURN(const Inode inode, disk_->tree.find(full_path));
  inode->content.truncate(size_bytes);
  return ok_status();
}

std::vector<std::string> SimulatedFileSystem::paths() const {
  const MutexLock lock(disk_->mutex);
  std::vector<std::string> found;
  const auto directory = disk_->tree.find_directory(directory_);
  if (!directory.ok()) return found;
  SimulatedTree::visit_files(
      **directory, "",
      [&found](const std::string& path, const SimulatedInode&) { found.push_back(path); });
  std::ranges::sort(found);
  return found;
}

Result<std::unique_ptr<File>> SimulatedFileSystem::open(std::string_view path, OpenMode mode) {
  ASSIGN_OR_RETURN(const std::string full_path, resolve(path));
  const MutexLock lock(disk_->mutex);
  const bool creates = mode == OpenMode::kCreate;
  RETURN_IF_ERROR(disk_->enter(creates ? Effect::kTakesSpace : Effect::kReads, "open", path));
  ASSIGN_OR_RETURN(Inode inode,
                   creates ? disk_->create(full_path, Kind::kFile) : disk_->tree.find(full_path));
  if (inode->is_directory()) return Error::from_errno(EISDIR, path);
  if (mode == OpenMode::kReadWrite && (inode->content.mode() & kOwnerWrites) == 0) {
    return Error::from_errno(EACCES, path);
  }
  return std::unique_ptr<File>(
      new OpenFile(disk_, disk_->power_cuts, std::move(inode), path, mode));
}

Result<FileStatus> SimulatedFileSystem::status(std::string_view path) {
  ASSIGN_OR_RETURN(const std::string full_path, resolve(path));
  const MutexLock lock(disk_->mutex);
  RETURN_IF_ERROR(disk_->enter(Effect::kReads, "status", path));
  ASSIGN_OR_RETURN(const Inode inode, disk_->tree.find(full_path));
  return status_of(*inode);
}

Status SimulatedFileSystem::make_directory(std::string_view path) {
  ASSIGN_OR_RETURN(const std::string full_path, resolve(path));
  const MutexLock lock(disk_->mutex);
  RETURN_IF_ERROR(disk_->enter(Effect::kTakesSpace, "mkdir", path));
  RETURN_IF_ERROR(disk_->create(full_path, Kind::kDirectory));
  return ok_status();
}

Result<std::vector<DirectoryEntry>> SimulatedFileSystem::read_directory(std::string_view path) {
  ASSIGN_OR_RETURN(const std::string full_path, resolve(path));
  const MutexLock lock(disk_->mutex);
  RETURN_IF_ERROR(disk_->enter(Effect::kReads, "readdir", path));
  ASSIGN_OR_RETURN(const Inode directory, disk_->tree.find_directory(full_path));
  std::vector<DirectoryEntry> entries;
  for (const auto& [name, inode] : directory->entries) {
    entries.push_back({name, inode->is_directory()});
  }
  return entries;
}

Status SimulatedFileSystem::rename(std::string_view from, std::string_view to, RenameMode mode) {
  ASSIGN_OR_RETURN(const std::string full_from, resolve_entry(from));
  ASSIGN_OR_RETURN(const std::string full_to, resolve_entry(to));
  const MutexLock lock(disk_->mutex);
  RETURN_IF_ERROR(disk_->enter(Effect::kTakesSpace, "rename", from));
  return disk_->tree.rename(full_from, full_to, mode);
}

Status SimulatedFileSystem::remove_file(std::string_view path) {
  ASSIGN_OR_RETURN(const std::string full_path, resolve_entry(path));
  const MutexLock lock(disk_->mutex);
  RETURN_IF_ERROR(disk_->enter(Effect::kChanges, "unlink", path));
  return disk_->tree.remove(full_path, Kind::kFile);
}

Status SimulatedFileSystem::remove_directory(std::string_view path) {
  ASSIGN_OR_RETURN(const std::string full_path, resolve_entry(path));
  const MutexLock lock(disk_->mutex);
  RETURN_IF_ERROR(disk_->enter(Effect::kChanges, "rmdir", path));
  return disk_->tree.remove(full_path, Kind::kDirectory);
}

Status SimulatedFileSystem::set_mode(std::string_view path, std::uint32_t mode) {
  ASSIGN_OR_RETURN(const std::string full_path, resolve(path));
  const MutexLock lock(disk_->mutex);
  RETURN_IF_ERROR(disk_->enter(Effect::kChanges, "chmod", path));
  ASSIGN_OR_RETURN(const Inode inode, disk_->tree.find(full_path));
  inode->content.set_mode(mode);
  return ok_status();
}

Status SimulatedFileSystem::sync_directory(std::string_view path) {
  ASSIGN_OR_RETURN(const std::string full_path, resolve(path));
  const MutexLock lock(disk_->mutex);
  Status entered = disk_->enter(Effect::kChanges, "sync", path);
  if (disk_->is_off) return entered;
  ASSIGN_OR_RETURN(const Inode directory, disk_->tree.find_directory(full_path));
  if (entered.ok()) {
    disk_->tree.sync(*directory);
  } else {
    disk_->tree.sync_failed(*directory);
  }
  return entered;
}

Result<std::unique_ptr<FileLock>> SimulatedFileSystem::try_lock(std::string_view path) {
  ASSIGN_OR_RETURN(const std::string full_path, resolve(path));
  const MutexLock lock(disk_->mutex);
  RETURN_IF_ERROR(disk_->enter(Effect::kTakesSpace, "lock", path));
  auto found = disk_->tree.find(full_path);
  if (found.failed_with(ErrorCode::kNotFound)) found = disk_->create(full_path, Kind::kFile);
  ASSIGN_OR_RETURN(Inode inode, std::move(found));
  if (inode->is_directory()) return Error::from_errno(EISDIR, path);
  if (inode->locked) {
    return Error(ErrorCode::kBusy, fmt::format("lock {}: held by another", path));
  }
  inode->locked = true;
  return std::unique_ptr<FileLock>(new HeldLock(disk_, disk_->power_cuts, std::move(inode)));
}

Result<SpaceStatus> SimulatedFileSystem::space() {
  const MutexLock lock(disk_->mutex);
  RETURN_IF_ERROR(disk_->enter(Effect::kReads, "space", "."));
  const std::uint64_t total = disk_->capacity_bytes;
  return SpaceStatus{.total_bytes = total,
                     .available_bytes = total - std::min(total, disk_->used_bytes())};
}

Result<std::string> SimulatedFileSystem::resolve(std::string_view path) const {
  RETURN_IF_ERROR(check_path(path));
  if (path == ".") return directory_;
  if (directory_ == ".") return std::string(path);
  return fmt::format("{}/{}", directory_, path);
}

Result<std::string> SimulatedFileSystem::resolve_entry(std::string_view path) const {
  if (path == ".") {
    return Error(ErrorCode::kInvalidArgument, "the root can be neither renamed nor removed");
  }
  return resolve(path);
}

}  // namespace leat
