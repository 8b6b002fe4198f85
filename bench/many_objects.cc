// many_objects: what ten million small objects cost in memory, on disk, at start and in listings.
//
// The load and every restart happen in a process of their own, so that memory is that of a store
// and nothing else. Before a restart the caches are dropped: it is the first of the day.

#include <fmt/format.h>

#include <algorithm>

#include "program.h"
#include "samples.h"

namespace leat::bench {
namespace {

constexpr std::size_t kObjectBytes = 1024;
constexpr double kMostMemoryBytes = 100;
constexpr double kMostRestartSeconds = 5;
constexpr double kLeastNamesPerSecond = 200'000;
constexpr double kMostReads = 3;  // one of data, two of the catalogue
constexpr double kMostDiskRatio = 1.15;

struct Settings {
  std::uint64_t objects = 10'000'000;
  std::uint64_t names = 1'000'000;
  std::uint64_t gets = 1000;
};

// Of one process with the store open; everything per object, GET or second.
struct Measured {
  double seconds_to_answer = 0;
  double memory_bytes = 0;
  double file_bytes = 0;
  double names_rate = 0;
  double reads = 0;
  double disk_bytes = 0;
  double get_microseconds = 0;
};

// A ustar member: a header and the bytes, both in blocks of 512. The names here fit the header, so
// there is no second one.
std::uint64_t ustar_bytes(const SampleSet& set) {
  constexpr std::uint64_t kBlockBytes = 512;
  constexpr std::uint64_t kEndBlocks = 2;
  const std::uint64_t data_blocks = (set.size_bytes + kBlockBytes - 1) / kBlockBytes;
  return (set.count * (1 + data_blocks) + kEndBlocks) * kBlockBytes;
}

Status note_memory(std::uint64_t objects, Measured& measured) {
  ASSIGN_OR_RETURN(const MemoryUse use, memory_use());
  const double count = static_cast<double>(objects);
  measured.memory_bytes =
      std::max(measured.memory_bytes, static_cast<double>(use.anonymous + use.shared) / count);
  measured.file_bytes = std::max(measured.file_bytes, static_cast<double>(use.file) / count);
  return ok_status();
}

// Reads pages of the listing from `start_after` on; returns how many names there were.
Result<std::uint64_t> list_names(ObjectStore& bucket, std::string start_after,
                                 std::uint64_t limit) {
  ListRequest request;
  request.start_after = std::move(start_after);
  std::uint64_t names = 0;
  while (names < limit) {
    ASSIGN_OR_RETURN(ListPage page, bucket.list(request, Context()));
    names += page.entries.size();
    if (page.next_start_after.empty()) break;
    request.start_after = std::move(page.next_start_after);
  }
  return names;
}

Status measure_listing(const Settings& settings, ObjectStore& bucket, std::uint64_t seed,
                       Measured& measured) {
  const std::uint64_t names = std::min(settings.names, settings.objects);
  const std::uint64_t first = random_numbers(1, settings.objects - names + 1, seed).front();
  std::uint64_t listed = 0;
  ASSIGN_OR_RETURN(const double seconds, seconds_of([&]() -> Status {
                     ASSIGN_OR_RETURN(
                         listed,
                         list_names(bucket, first == 0 ? "" : sample_name(first - 1), names));
                     return ok_status();
                   }));
  if (listed < names) return Error(ErrorCode::kCorrupted, "the listing lacks names");
  measured.names_rate = static_cast<double>(listed) / seconds;
  return ok_status();
}

// Single GETs that find nothing in memory but what the store itself keeps there.
Status measure_cold_gets(const Settings& settings, const std::filesystem::path& directory,
                         ObjectStore& bucket, std::uint64_t seed, Measured& measured) {
  std::vector<std::byte> target(kObjectBytes);
  const auto numbers = random_numbers(settings.gets, settings.objects, seed);
  RETURN_IF_ERROR(drop_caches(directory));
  ASSIGN_OR_RETURN(const ReadCounts before, read_counts());
  ASSIGN_OR_RETURN(const double seconds, seconds_of([&]() -> Status {
                     for (const std::uint64_t i : numbers) {
                       RETURN_IF_ERROR(get_sample(bucket, sample_name(i), i, target));
                     }
                     return ok_status();
                   }));
  ASSIGN_OR_RETURN(const ReadCounts after, read_counts());
  const double gets = static_cast<double>(numbers.size());
  const std::uint64_t reads = after.calls - before.calls + after.major_faults - before.major_faults;
  measured.reads = static_cast<double>(reads) / gets;
  measured.disk_bytes = static_cast<double>(after.disk_bytes - before.disk_bytes) / gets;
  measured.get_microseconds = seconds * 1e6 / gets;
  return ok_status();
}

Result<Measured> restart(const Settings& settings, const std::filesystem::path& directory,
                         std::uint64_t seed) {
  Measured measured;
  std::unique_ptr<BenchStore> store;
  std::vector<std::byte> target(kObjectBytes);
  const std::uint64_t first = random_numbers(1, settings.objects, seed).front();
  ASSIGN_OR_RETURN(measured.seconds_to_answer, seconds_of([&]() -> Status {
                     ASSIGN_OR_RETURN(store, BenchStore::open(directory));
                     return get_sample(store->bucket(), sample_name(first), first, target);
                   }));
  RETURN_IF_ERROR(note_memory(settings.objects, measured));
  RETURN_IF_ERROR(measure_listing(settings, store->bucket(), seed, measured));
  RETURN_IF_ERROR(note_memory(settings.objects, measured));
  RETURN_IF_ERROR(measure_cold_gets(settings, directory, store->bucket(), seed, measured));
  RETURN_IF_ERROR(note_memory(settings.objects, measured));
  RETURN_IF_ERROR(store->close());
  return measured;
}

struct Loaded {
  double rate = 0;
  Measured memory;
};

Result<Loaded> load(const Settings& settings, const std::filesystem::path& directory) {
  Loaded loaded;
  ASSIGN_OR_RETURN(const auto store, BenchStore::create(directory));
  ASSIGN_OR_RETURN(const double seconds, seconds_of([&] {
                     return store->load({settings.objects, kObjectBytes});
                   }));
  loaded.rate = static_cast<double>(settings.objects) / seconds;
  RETURN_IF_ERROR(note_memory(settings.objects, loaded.memory));
  RETURN_IF_ERROR(store->close());
  return loaded;
}

std::vector<Pair> column(const std::vector<Measured>& rows, double Measured::*value) {
  std::vector<Pair> pairs;
  pairs.reserve(rows.size());
  for (const Measured& row : rows) pairs.push_back({row.*value, std::nullopt});
  return pairs;
}

Status report_restarts(const Run& run, const std::vector<Measured>& rows) {
  const Figure figures[] = {
      {"memory, restarted", "B/object", "", column(rows, &Measured::memory_bytes),
       value_at_most(kMostMemoryBytes)},
      {"RssFile, restarted", "B/object", "", column(rows, &Measured::file_bytes), {}},
      {"restart to first answer", "s", "", column(rows, &Measured::seconds_to_answer),
       value_at_most(kMostRestartSeconds)},
      {"listing", "name/s", "", column(rows, &Measured::names_rate),
       value_at_least(kLeastNamesPerSecond)},
      {"cold GET, reads", "read/GET", "", column(rows, &Measured::reads),
       value_at_most(kMostReads)},
      {"cold GET, bytes from disk", "B/GET", "", column(rows, &Measured::disk_bytes), {}},
      {"cold GET, time", "us/GET", "", column(rows, &Measured::get_microseconds), {}},
  };
  for (const Figure& figure : figures) RETURN_IF_ERROR(run.report.add(figure));
  return ok_status();
}

Status measure(const Settings& settings, const Run& run) {
  const std::filesystem::path directory = run.directory / "store";
  ASSIGN_OR_RETURN(const Loaded loaded,
                   in_fresh_process<Loaded>([&] { return load(settings, directory); }));
  const std::string of = fmt::format(" of {}", settings.objects);
  RETURN_IF_ERROR(run.report.add({"load" + of, "PUT/s", "", {{loaded.rate, {}}}, {}}));
  RETURN_IF_ERROR(run.report.add({"memory, after the load",
                                  "B/object",
                                  "",
                                  {{loaded.memory.memory_bytes, {}}},
                                  value_at_most(kMostMemoryBytes)}));
  RETURN_IF_ERROR(run.report.add(
      {"RssFile, after the load", "B/object", "", {{loaded.memory.file_bytes, {}}}, {}}));

  RETURN_IF_ERROR(sync_file_system(directory));
  ASSIGN_OR_RETURN(const std::uint64_t bytes, allocated_bytes(directory));
  const auto peer_bytes = static_cast<double>(ustar_bytes({settings.objects, kObjectBytes}));
  RETURN_IF_ERROR(run.report.add({"disk",
                                  "B",
                                  "a ustar of the objects",
                                  {{static_cast<double>(bytes), peer_bytes}},
                                  ratio_at_most(kMostDiskRatio)}));

  std::vector<Measured> rows;
  for (std::size_t i = 0; i < run.pairs; ++i) {
    RETURN_IF_ERROR(drop_caches(directory));
    ASSIGN_OR_RETURN(const Measured row,
                     in_fresh_process<Measured>([&] { return restart(settings, directory, i); }));
    rows.push_back(row);
  }
  return report_restarts(run, rows);
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  leat::bench::Settings settings;
  leat::bench::Program program(
      "What many objects of 1 KiB cost: memory, disk, restart, listing, cold GETs.");
  program.add_option("--objects", settings.objects, "objects in the store");
  program.add_option("--names", settings.names, "names in each listing");
  program.add_option("--gets", settings.gets, "cold GETs after each restart");
  return program.run(
      argc, argv, [&](const leat::bench::Run& run) { return leat::bench::measure(settings, run); });
}
