// SimulatedFileSystem: a file system in memory that loses power and fails on command, for tests.
//
// A test gives it to the code under test in place of FileSystem::posix(), runs a workload, and
// then asks what would be left on a disk. Everything is deterministic: the same calls, seeds and
// faults give the same bytes. Two things can be done to it:
//
//   power_cut()   The machine stops and starts again. Everything synced is there; of the rest a
//                 part, as drawn from the seed. simulated_content.h says what may happen to bytes,
//                 simulated_tree.h what may happen to names. Handles and locks from before the cut
//                 are dead: their calls fail with kIoError. Faults are cleared.
//   fail_call(n)  One call, or every call from it on, fails. A failed write may have written a
//                 part from the front. After a failed sync the bytes, or names, since the last
//                 good one are in doubt for ever. Any other failed call has changed nothing.
//
// The usual loop stops a workload at every call and looks at what is left:
//
//   for (std::uint64_t n = 0;; ++n) {
//     SimulatedFileSystem files;
//     files.cut_at_call(n);
//     const bool finished = run_workload(files);
//     files.power_cut(n);
//     check_what_was_acknowledged(files);
//     if (finished) break;
//   }
//
// view() gives further FileSystems on the same disk: to hand one over to its owner and keep
// control, or to have several drives that fail together. Permissions: a file whose mode has no
// owner's write bit does not open for writing. The times that it reports are counts of calls.
//
// Safe for concurrent use; calls from several threads are numbered as they come.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/file.h"
#include "leat/base/testing/power_cut.h"

namespace leat {

class SimulatedFileSystem final : public FileSystem {
 public:
  // Which calls are counted: those that change something (writes, syncs, names, locks), or all.
  enum class Calls : std::uint8_t { kMutating, kAny };

  struct Fault {
    enum class Kind : std::uint8_t {
      kIoError,     // the call fails with kIoError
      kNoSpace,     // fails with kNoSpace; passes over calls that take no space
      kShortWrite,  // half is written, then kIoError; passes over calls that are no writes
    };
    enum class Lasts : std::uint8_t { kOnce, kForever };
    Kind kind = Kind::kIoError;
    Lasts lasts = Lasts::kOnce;
    Calls counted = Calls::kMutating;
  };

  SimulatedFileSystem();
  ~SimulatedFileSystem() override;

  // Another FileSystem on the same disk, beneath `directory`; shares calls, faults and cuts.
  std::unique_ptr<SimulatedFileSystem> view(std::string_view directory) const;

  // How many calls were made so far. The next call has this number.
  std::uint64_t calls(Calls counted = Calls::kMutating) const;
  // Call number `n`, or the first after it that the fault concerns, fails. Replaces the last one.
  void fail_call(std::uint64_t n, Fault fault);
  void clear_faults();
  // How many calls failed by fail_call() so far: 0 when the workload ended before its turn.
  std::uint64_t failed_calls() const;
  // The disk is as large as this from now on: a write that needs more sectors than are free fails
  // with kNoSpace and changes nothing. Names take no space.
  void set_capacity(std::uint64_t bytes);
  // From the mutating call number `n` on the machine is off: every call fails with kIoError and
  // changes nothing, until power_cut(). (What a call under way could leave half-done is what the
  // cut after it leaves of its unsynced work.)
  void cut_at_call(std::uint64_t n);

  void power_cut(std::uint64_t seed);
  // The two extremes: of what was not synced all is lost, or all is kept.
  void power_cut(PowerCut::Unsynced unsynced);

  // The disk behind the file system's back: not counted, never failing by fail_call(). The content
  // is the synced one; damage is seen at once by readers too. For files with no unsynced work.
  Result<std::vector<std::byte>> disk_bytes(std::string_view path) const;
  Status overwrite_disk(std::string_view path, std::uint64_t offset,
                        std::span<const std::byte> bytes);
  Status truncate_disk(std::string_view path, std::uint64_t size_bytes);
  // Every file, in byte order.
  std::vector<std::string> paths() const;

  std::string_view root() const noexcept override { return root_; }
  Result<std::unique_ptr<File>> open(std::string_view path, OpenMode mode) override;
  Result<FileStatus> status(std::string_view path) override;
  Status make_directory(std::string_view path) override;
  Result<std::vector<DirectoryEntry>> read_directory(std::string_view path) override;
  Status rename(std::string_view from, std::string_view to, RenameMode mode) override;
  Status remove_file(std::string_view path) override;
  Status remove_directory(std::string_view path) override;
  Status set_mode(std::string_view path, std::uint32_t mode) override;
  Status sync_directory(std::string_view path) override;
  Result<std::unique_ptr<FileLock>> try_lock(std::string_view path) override;
  Result<SpaceStatus> space() override;

 private:
  class Disk;
  class OpenFile;
  class HeldLock;

  SimulatedFileSystem(std::shared_ptr<Disk> disk, std::string directory);
  // The path from the root of the disk.
  Result<std::string> resolve(std::string_view path) const;
  // The same for what can be renamed or removed: not the root.
  Result<std::string> resolve_entry(std::string_view path) const;

  const std::shared_ptr<Disk> disk_;
  const std::string directory_;
  const std::string root_;
};

}  // namespace leat
