#include "machine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

namespace leat::bench {
namespace {

constexpr std::string_view kDropCachesFile = "/proc/sys/vm/drop_caches";

Result<std::vector<std::string>> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  if (lines.empty()) return Error(ErrorCode::kIoError, fmt::format("{} cannot be read", path));
  return lines;
}

// The number after "name:" in a file of the kernel.
Result<std::uint64_t> field(const std::vector<std::string>& lines, std::string_view name) {
  for (const std::string_view line : lines) {
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    const std::size_t digits = line.find_first_of("0123456789", name.size());
    if (digits == std::string_view::npos) break;
    std::uint64_t value = 0;
    std::from_chars(line.data() + digits, line.data() + line.size(), value);
    return value;
  }
  return Error(ErrorCode::kUnsupported, fmt::format("the kernel does not tell {}", name));
}

// The files beneath `directory`; the error of the walk, if any.
Result<std::vector<std::filesystem::path>> files_beneath(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (auto at = std::filesystem::recursive_directory_iterator(directory, error);
       !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
    if (at->is_regular_file(error)) files.push_back(at->path());
  }
  if (error) return Error::from_errno(error.value(), fmt::format("list {}", directory.string()));
  return files;
}

// The kernel keeps pages that a process has mapped, so the mappings are emptied first.
Status empty_mappings(const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const auto lines, lines_of("/proc/self/maps"));
  const std::string beneath = " " + directory.string() + "/";
  for (const std::string& line : lines) {
    if (line.find(beneath) == std::string::npos) continue;
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    const char* const end = line.data() + line.size();
    const auto dash = std::from_chars(line.data(), end, first, 16);
    std::from_chars(dash.ptr + 1, end, last, 16);
    if (madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED) != 0) {
      return Error::from_errno(errno, "madvise");
    }
  }
  return ok_status();
}

Status forget_files(const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const auto files, files_beneath(directory));
  for (const auto& path : files) {
    ASSIGN_OR_RETURN(const Descriptor file, Descriptor::open(path, O_RDONLY));
    if (const int error = posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED); error != 0) {
      return Error::from_errno(error, fmt::format("posix_fadvise {}", path.string()));
    }
  }
  return ok_status();
}

Status write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno(errno, "write");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return ok_status();
}

Result<std::vector<std::byte>> read_all(int descriptor) {
  std::vector<std::byte> all;
  std::array<std::byte, 4096> part;
  for (;;) {
    const ssize_t count = read(descriptor, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno(errno, "read");
    if (count == 0) return all;
    all.insert(all.end(), part.begin(), part.begin() + count);
  }
}

Status wait_for(pid_t process, std::string_view name) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return Error::from_errno(errno, "waitpid");
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) return ok_status();
  return Error(ErrorCode::kIoError, fmt::format("{} failed (wait status {})", name, status));
}

}  // namespace

Result<Descriptor> Descriptor::open(const std::filesystem::path& path, int flags) {
  const int number = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (number < 0) return Error::from_errno(errno, fmt::format("open {}", path.string()));
  return Descriptor(number);
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Status pin_to_one_core() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return Error::from_errno(errno, "sched_getaffinity");
  }
  int last = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) last = core;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) {
    return Error::from_errno(errno, "sched_setaffinity");
  }
  return ok_status();
}

Status sync_file_system(const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const Descriptor root, Descriptor::open(directory, O_RDONLY | O_DIRECTORY));
  if (syncfs(root.number()) != 0) return Error::from_errno(errno, "syncfs");
  return ok_status();
}

Status drop_caches(const std::filesystem::path& directory) {
  RETURN_IF_ERROR(sync_file_system(directory));
  RETURN_IF_ERROR(empty_mappings(directory));
  auto control = Descriptor::open(kDropCachesFile, O_WRONLY);
  if (!control.ok()) return forget_files(directory);
  const char everything = '3';
  return write_all(control->number(), std::as_bytes(std::span(&everything, 1)));
}

Result<MemoryUse> memory_use() {
  ASSIGN_OR_RETURN(const auto lines, lines_of("/proc/self/status"));
  MemoryUse use;
  ASSIGN_OR_RETURN(use.anonymous, field(lines, "RssAnon"));
  ASSIGN_OR_RETURN(use.shared, field(lines, "RssShmem"));
  ASSIGN_OR_RETURN(use.file, field(lines, "RssFile"));
  for (std::uint64_t* const kibibytes : {&use.anonymous, &use.shared, &use.file})
    *kibibytes *= 1024;
  return use;
}

Result<ReadCounts> read_counts() {
  ASSIGN_OR_RETURN(const auto lines, lines_of("/proc/self/io"));
  ReadCounts counts;
  ASSIGN_OR_RETURN(counts.calls, field(lines, "syscr"));
  ASSIGN_OR_RETURN(counts.disk_bytes, field(lines, "read_bytes"));
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return Error::from_errno(errno, "getrusage");
  counts.major_faults = static_cast<std::uint64_t>(usage.ru_majflt);
  return counts;
}

Result<std::uint64_t> allocated_bytes(const std::filesystem::path& directory) {
  constexpr std::uint64_t kStatBlockBytes = 512;
  ASSIGN_OR_RETURN(const auto files, files_beneath(directory));
  std::uint64_t bytes = 0;
  for (const auto& path : files) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return Error::from_errno(errno, path.string());
    bytes += static_cast<std::uint64_t>(status.st_blocks) * kStatBlockBytes;
  }
  return bytes;
}

Status run_command(const std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments)
    pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  pid_t process = 0;
  if (const int error =
          posix_spawnp(&process, pointers[0], nullptr, nullptr, pointers.data(), environ);
      error != 0) {
    return Error::from_errno(error, arguments[0]);
  }
  return wait_for(process, arguments[0]);
}

Status fork_and_wait(std::span<std::byte> answer, const std::function<Status()>& work) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Error::from_errno(errno, "pipe2");
  const Descriptor from_child(ends[0]);
  std::optional<Descriptor> to_parent(ends[1]);
  const pid_t process = fork();
  if (process < 0) return Error::from_errno(errno, "fork");
  if (process == 0) {
    const Status status = work();
    // An exit status cannot carry a reason, so that goes through the pipe instead of the answer.
    const bool is_told =
        write_all(to_parent->number(),
                  status.ok() ? answer : std::as_bytes(std::span(status.error().message())))
            .ok();
    _exit(status.ok() && is_told ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  to_parent.reset();
  ASSIGN_OR_RETURN(const auto told, read_all(from_child.number()));
  if (const Status status = wait_for(process, "the measuring process"); !status.ok()) {
    const std::string reason(reinterpret_cast<const char*>(told.data()), told.size());
    return Error(status.error()).within(reason);
  }
  if (told.size() != answer.size()) return Error(ErrorCode::kIoError, "the answer is cut short");
  std::memcpy(answer.data(), told.data(), told.size());
  return ok_status();
}

}  // namespace leat::bench
