// warm_get: random GETs of 4 KiB out of many objects, in memory, on one core, against bare pread of
// the same bytes in the same order from one open file.

#include <algorithm>

#include "program.h"
#include "samples.h"

namespace leat::bench {
namespace {

constexpr std::size_t kObjectBytes = 4096;
constexpr double kLeastRatio = 0.2;

struct Settings {
  std::uint64_t objects = 1'000'000;
  std::uint64_t reads = 200'000;
};

Status measure(const Settings& settings, const Run& run) {
  RETURN_IF_ERROR(pin_to_one_core());
  const SampleSet set{settings.objects, kObjectBytes, {}};
  ASSIGN_OR_RETURN(const auto store, loaded_store(run.directory / "store", set));
  ASSIGN_OR_RETURN(const Descriptor file, sample_file(run.directory / "file", set));
  const auto names = sample_names(set.count);
  const auto order = random_numbers(set.count, set.count, 1);
  std::vector<std::byte> target(kObjectBytes);

  // Each side has a place of its own in the order, and both go on through all objects.
  const auto rate = [&](std::uint64_t count, std::uint64_t& next,
                        const std::function<Status(std::uint64_t)>& read) -> Result<double> {
    ASSIGN_OR_RETURN(const double seconds, seconds_of([&]() -> Status {
                       for (std::uint64_t i = 0; i < count; ++i) {
                         RETURN_IF_ERROR(read(order[next++ % order.size()]));
                       }
                       return ok_status();
                     }));
    return static_cast<double>(count) / seconds;
  };
  const auto get = [&](std::uint64_t i) {
    return get_sample(store->bucket(), names[i], i, target);
  };
  const auto bare = [&](std::uint64_t i) { return pread_sample(file, i, target); };

  // Once through everything, so that all is in memory and its checksums were compared.
  std::uint64_t warming = 0;
  RETURN_IF_ERROR(rate(set.count, warming, get));
  RETURN_IF_ERROR(rate(set.count, warming, bare));
  std::uint64_t next_get = 0;
  std::uint64_t next_bare = 0;
  ASSIGN_OR_RETURN(auto pairs, interleave(
                                   run.pairs, [&] { return rate(settings.reads, next_get, get); },
                                   [&] { return rate(settings.reads, next_bare, bare); }));
  return run.report.add({"warm GET 4 KiB", "GET/s", "pread of one open file", std::move(pairs),
                         ratio_at_least(kLeastRatio)});
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  leat::bench::Settings settings;
  leat::bench::Program program("Warm random GETs of 4 KiB on one core, against bare pread.");
  program.add_option("--objects", settings.objects, "objects in the store");
  program.add_option("--reads", settings.reads, "reads of each side in a pair");
  return program.run(
      argc, argv, [&](const leat::bench::Run& run) { return leat::bench::measure(settings, run); });
}
