// durable_put: PUTs of 4 KiB that survive a power cut, by many threads, against what a program
// without a store would do: create a file, write it, fsync it, rename it to its name.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include "program.h"
#include "samples.h"

namespace leat::bench {
namespace {

constexpr std::size_t kObjectBytes = 4096;
constexpr double kLeastRatio = 5;

struct Settings {
  std::uint64_t threads = 16;
  std::uint64_t milliseconds = 2000;
};

using Put = std::function<Status(std::size_t thread, std::uint64_t number)>;

// PUTs a second over about the given time. Every thread ends with a whole PUT.
Result<double> rate(const Settings& settings, std::uint64_t& next_number, const Put& put) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(settings.milliseconds);
  const std::uint64_t first = next_number;
  std::atomic<std::uint64_t> next = first;
  ASSIGN_OR_RETURN(const double seconds, seconds_of([&] {
                     return in_threads(settings.threads, [&](std::size_t thread) -> Status {
                       while (std::chrono::steady_clock::now() < end) {
                         RETURN_IF_ERROR(put(thread, next.fetch_add(1, std::memory_order_relaxed)));
                       }
                       return ok_status();
                     });
                   }));
  next_number = next.load();
  return static_cast<double>(next_number - first) / seconds;
}

Status put_file(const std::filesystem::path& directory, std::uint64_t number,
                std::span<const std::byte> bytes) {
  const std::filesystem::path name = directory / std::to_string(number);
  const std::filesystem::path temporary = name.string() + ".new";
  ASSIGN_OR_RETURN(const Descriptor file, Descriptor::open(temporary, O_WRONLY | O_CREAT | O_EXCL));
  if (write(file.number(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
      fsync(file.number()) != 0 || rename(temporary.c_str(), name.c_str()) != 0) {
    return Error::from_errno(errno, temporary.string());
  }
  return ok_status();
}

// The bare log: the bytes of a PUT of every thread appended by one write and synced, again and
// again, by a single thread that nobody waits for. PUTs a second that the disk alone would allow.
Result<double> bare_log(const Settings& settings, const std::filesystem::path& path) {
  constexpr std::size_t kRecordBytes = 512 + kObjectBytes;
  const std::vector<std::byte> group(settings.threads * kRecordBytes, std::byte{1});
  ASSIGN_OR_RETURN(const Descriptor file, Descriptor::open(path, O_WRONLY | O_CREAT | O_TRUNC));
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(settings.milliseconds);
  std::uint64_t groups = 0;
  ASSIGN_OR_RETURN(const double seconds, seconds_of([&]() -> Status {
                     for (; std::chrono::steady_clock::now() < end; ++groups) {
                       if (write(file.number(), group.data(), group.size()) < 0 ||
                           fdatasync(file.number()) != 0) {
                         return Error::from_errno(errno, path.string());
                       }
                     }
                     return ok_status();
                   }));
  return static_cast<double>(groups * settings.threads) / seconds;
}

Status measure(const Settings& settings, const Run& run) {
  ASSIGN_OR_RETURN(const auto store, BenchStore::create(run.directory / "store"));
  std::vector<std::byte> bytes(kObjectBytes);
  fill_sample(0, bytes);
  std::uint64_t next_object = 0;
  std::uint64_t next_file = 0;
  const auto leat = [&]() -> Result<double> {
    RETURN_IF_ERROR(sync_file_system(run.directory));
    return rate(settings, next_object, [&](std::size_t, std::uint64_t number) -> Status {
      RETURN_IF_ERROR(write_object(store->bucket(), sample_name(number), bytes, {}, {}));
      return ok_status();
    });
  };
  const auto peer = [&]() -> Result<double> {
    // A directory a thread, so that the files' directory is not what they wait for.
    const std::filesystem::path files = run.directory / "files";
    std::error_code ignored;
    std::filesystem::remove_all(files, ignored);
    for (std::size_t i = 0; i < settings.threads; ++i) {
      std::filesystem::create_directories(files / std::to_string(i), ignored);
    }
    RETURN_IF_ERROR(sync_file_system(run.directory));
    return rate(settings, next_file, [&](std::size_t thread, std::uint64_t number) {
      return put_file(files / std::to_string(thread), number, bytes);
    });
  };
  const auto log = [&] { return bare_log(settings, run.directory / "log"); };
  ASSIGN_OR_RETURN(auto pairs, interleave(run.pairs, leat, peer));
  RETURN_IF_ERROR(run.report.add({fmt::format("durable PUT 4 KiB, {} threads", settings.threads),
                                  "PUT/s", "create, write, fsync, rename", std::move(pairs),
                                  ratio_at_least(kLeastRatio)}));
  ASSIGN_OR_RETURN(pairs, interleave(run.pairs, leat, log));
  RETURN_IF_ERROR(store->close());
  return run.report.add({"… against the bare log", "PUT/s", "write and fdatasync of the same bytes",
                         std::move(pairs), std::nullopt});
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  leat::bench::Settings settings;
  leat::bench::Program program(
      "Durable PUTs of 4 KiB, against create, write, fsync and rename of files.");
  program.add_option("--threads", settings.threads, "threads of each side");
  program.add_option("--milliseconds", settings.milliseconds, "time of each side in a pair");
  return program.run(
      argc, argv, [&](const leat::bench::Run& run) { return leat::bench::measure(settings, run); });
}
