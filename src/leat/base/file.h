// File and FileSystem: the one seam through which the engine touches local files.
//
// The local store, the tier and the shards do all their file I/O through these two classes, so
// that a test can stand in for the disk: lose what was not synced, fail the n-th call, tear a
// write (base/testing/simulated_file_system.h). The real one is FileSystem::posix().
//
// Paths are relative to a root directory that the FileSystem was made for, have '/' between
// components, and are resolved beneath that root only (openat2, RESOLVE_BENEATH and
// RESOLVE_NO_SYMLINKS): a link planted in a drive leads nowhere.
//
// Durability follows POSIX: bytes survive a power cut after File::sync(), a name after
// sync_directory() of the directory that holds it.
//
// Both classes are safe for concurrent use.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"

namespace leat {

struct FileStatus {
  std::uint64_t size_bytes = 0;
  std::uint64_t allocated_bytes = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t inode = 0;
  std::uint32_t mode = 0;  // permission bits
  bool is_directory = false;
  bool is_regular = false;
};

class File {
 public:
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  virtual ~File() = default;

  // Reads until `target` is full or the file ends; returns the bytes read.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target) = 0;
  // As read_at(), but only what is in memory: 0 when all of `target` would have to wait for a disk.
  virtual std::size_t read_now(std::uint64_t offset, std::span<std::byte> target);
  // Writes all of `buffers`, one after another, from `offset` on.
  virtual Status write_at(std::uint64_t offset, std::span<const iovec> buffers) = 0;
  virtual Status resize(std::uint64_t size_bytes) = 0;
  // Bytes and size are on the device when this returns ok. After an error nothing is known of
  // what was written since the last success: do not write on.
  virtual Status sync() = 0;
  virtual Result<FileStatus> status() = 0;
  // The descriptor, for sendfile, io_uring and mmap; -1 when there is none (in tests).
  virtual int descriptor() const noexcept = 0;

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);
};

enum class OpenMode : std::uint8_t {
  kRead,       // must exist
  kReadWrite,  // must exist
  kCreate,     // must not exist; mode 0644
};

enum class RenameMode : std::uint8_t { kReplace, kKeepExisting };

// Held from try_lock() until destroyed; the kernel releases it when the process ends.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

struct DirectoryEntry {
  std::string name;
  bool is_directory = false;
};

struct SpaceStatus {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;
};

class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  // The real file system beneath `root`, which must be an existing directory.
  static Result<std::unique_ptr<FileSystem>> posix(const std::string& root);

  // How people call this root, for messages.
  virtual std::string_view root() const noexcept = 0;

  virtual Result<std::unique_ptr<File>> open(std::string_view path, OpenMode mode) = 0;
  virtual Result<FileStatus> status(std::string_view path) = 0;
  virtual Status make_directory(std::string_view path) = 0;
  // Entries in no particular order, without "." and "..".
  virtual Result<std::vector<DirectoryEntry>> read_directory(std::string_view path) = 0;
  // kAlreadyExists with kKeepExisting when `to` exists.
  virtual Status rename(std::string_view from, std::string_view to, RenameMode mode) = 0;
  virtual Status remove_file(std::string_view path) = 0;
  virtual Status remove_directory(std::string_view path) = 0;
  virtual Status set_mode(std::string_view path, std::uint32_t mode) = 0;
  virtual Status sync_directory(std::string_view path) = 0;
  // An exclusive lock on `path`, made if absent. kBusy when another process holds it.
  virtual Result<std::unique_ptr<FileLock>> try_lock(std::string_view path) = 0;
  virtual Result<SpaceStatus> space() = 0;

  // Written once over the above.
  // Makes `path` and its missing parents; syncs the directories that gained an entry.
  Status make_directories(std::string_view path);
  // Replaces `path` by `bytes` so that a power cut leaves the old or the new content.
  Status replace_file(std::string_view path, std::span<const std::byte> bytes);
  Result<std::vector<std::byte>> read_file(std::string_view path, std::uint64_t limit_bytes);
};

// "a/b/c" -> "a/b"; "c" -> "." (the root).
std::string_view parent_path(std::string_view path) noexcept;

}  // namespace leat
