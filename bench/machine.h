// What a benchmark asks of the machine: one core, cold caches, counters of the kernel.
//
// Linux only, as the store is. Nothing here is timed, so it is written for certainty: a figure
// that claims to be cold or on one core must be so, or the program ends with an error.
//
// Not thread-safe: the functions speak of the whole process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "leat/base/result.h"

namespace leat::bench {

// A descriptor that is closed at the end.
class Descriptor {
 public:
  static Result<Descriptor> open(const std::filesystem::path& path, int flags);
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int number() const noexcept { return number_; }

 private:
  int number_;
};

// Leaves this process, and the threads that it starts later, the last core that it may use, as
// taskset would: the first one often has the interrupts.
Status pin_to_one_core();

// Writes everything beneath `directory` to the disk, and forgets it: the pages that this process
// has mapped, the kernel's page cache, and as root the inodes and names, too.
Status drop_caches(const std::filesystem::path& directory);
// Writes everything of the file system of `directory` to the disk.
Status sync_file_system(const std::filesystem::path& directory);

// Bytes of memory of this process, by kind.
struct MemoryUse {
  std::uint64_t anonymous = 0;
  std::uint64_t shared = 0;
  std::uint64_t file = 0;
};
Result<MemoryUse> memory_use();

// What this process read since it began.
struct ReadCounts {
  std::uint64_t calls = 0;         // of the read family
  std::uint64_t major_faults = 0;  // reads by way of a mapping
  std::uint64_t disk_bytes = 0;
};
Result<ReadCounts> read_counts();

// Bytes on disk of all files beneath `directory`, as du counts them.
Result<std::uint64_t> allocated_bytes(const std::filesystem::path& directory);

// Runs a program found in PATH and waits for it; an error when it fails.
Status run_command(const std::vector<std::string>& arguments);

// Runs `work` in a process of its own and hands on what it leaves in `answer`. REQUIRES: this
// process has one thread.
Status fork_and_wait(std::span<std::byte> answer, const std::function<Status()>& work);

template <typename Answer>
Result<Answer> in_fresh_process(const std::function<Result<Answer>()>& work) {
  static_assert(std::is_trivially_copyable_v<Answer>);
  Answer answer{};
  RETURN_IF_ERROR(fork_and_wait(std::as_writable_bytes(std::span(&answer, 1)), [&]() -> Status {
    ASSIGN_OR_RETURN(answer, work());
    return ok_status();
  }));
  return answer;
}

}  // namespace leat::bench
