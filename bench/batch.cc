// batch: mini-batches of random samples by read_batch, into memory of the caller.
//
// Warm, on one core: nanoseconds a sample, beside bare pread of the same bytes from one open file.
// Cold, nothing in memory: samples a second, against single GETs, one after another, equally cold.

#include <fmt/format.h>

#include <chrono>

#include "program.h"
#include "samples.h"

namespace leat::bench {
namespace {

constexpr std::size_t kSampleBytes = 784;
constexpr std::size_t kBatchSamples = 256;
constexpr std::uint64_t kLargeCacheBytes = std::uint64_t{1} << 30;
constexpr double kMostNanoseconds = 400;
constexpr double kLeastColdRatio = 5;
constexpr double kNanosecondsPerSecond = 1e9;

struct Settings {
  std::uint64_t small_set = 60'000;
  std::uint64_t large_set = 1'000'000;
  std::uint64_t warm_batches = 400;
  std::uint64_t cold_batches = 4;
};

// One mini-batch after another, in random order, each with the same memory.
class Batches {
 public:
  Batches(const std::vector<std::string>& names, std::uint64_t seed)
      : names_(names),
        order_(random_numbers(names.size(), names.size(), seed)),
        memory_(kBatchSamples * kSampleBytes) {}

  // The numbers of the next batch.
  std::vector<std::uint64_t> next() {
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 0; i < kBatchSamples; ++i) {
      numbers.push_back(order_[next_++ % order_.size()]);
    }
    return numbers;
  }
  std::span<std::byte> target(std::size_t i) {
    return std::span(memory_).subspan(i * kSampleBytes, kSampleBytes);
  }
  // Seconds of one read_batch of these. What the loader does before and after is not counted.
  Result<double> read_at_once(ObjectStore& bucket, const std::vector<std::uint64_t>& numbers) {
    std::vector<BatchRead> reads(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      reads[i].name = names_[numbers[i]];
      reads[i].target = target(i);
    }
    ASSIGN_OR_RETURN(const double seconds, seconds_of([&] {
                       bucket.read_batch(reads, Context());
                       return ok_status();
                     }));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      RETURN_IF_ERROR(reads[i].result);
      RETURN_IF_ERROR(check_sample(numbers[i], reads[i].result->bytes));
    }
    return seconds;
  }
  // Seconds of reading them one after another.
  Result<double> read_singly(
      const std::vector<std::uint64_t>& numbers,
      const std::function<Status(std::uint64_t, std::span<std::byte>)>& read) {
    return seconds_of([&]() -> Status {
      for (std::size_t i = 0; i < numbers.size(); ++i) RETURN_IF_ERROR(read(numbers[i], target(i)));
      return ok_status();
    });
  }

 private:
  const std::vector<std::string>& names_;
  const std::vector<std::uint64_t> order_;
  std::vector<std::byte> memory_;
  std::uint64_t next_ = 0;
};

// The sum of the seconds of so many batches.
Result<double> total(std::uint64_t batches, const Measurement& batch) {
  double seconds = 0;
  for (std::uint64_t i = 0; i < batches; ++i) {
    ASSIGN_OR_RETURN(const double one, batch());
    seconds += one;
  }
  return seconds;
}

Status measure_warm(const SampleSet& set, std::string_view what, std::uint64_t batches,
                    BenchStore& store, const std::vector<std::string>& names, const Run& run) {
  const std::filesystem::path path = run.directory / "file";
  ASSIGN_OR_RETURN(const Descriptor file, sample_file(path, set));
  Batches leat_batches(names, 1);
  Batches peer_batches(names, 1);
  const auto leat = [&] { return leat_batches.read_at_once(store.bucket(), leat_batches.next()); };
  const auto peer = [&] {
    return peer_batches.read_singly(peer_batches.next(),
                                    [&](std::uint64_t number, std::span<std::byte> target) {
                                      return pread_sample(file, number, target);
                                    });
  };
  // Through everything: once so that all is in memory and its checksums were compared, once more
  // so that Leat's cache is filled.
  const std::uint64_t warming = 2 * (set.count / kBatchSamples + 1);
  RETURN_IF_ERROR(total(warming, leat));
  RETURN_IF_ERROR(total(warming, peer));
  const auto nanoseconds = [&](const Measurement& batch) -> Result<double> {
    ASSIGN_OR_RETURN(const double seconds, total(batches, batch));
    return seconds * kNanosecondsPerSecond / static_cast<double>(batches * kBatchSamples);
  };
  ASSIGN_OR_RETURN(auto pairs, interleave(
                                   run.pairs, [&] { return nanoseconds(leat); },
                                   [&] { return nanoseconds(peer); }));
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return run.report.add({fmt::format("warm batch of {}{}", set.count, what), "ns/sample",
                         "pread of one open file", std::move(pairs),
                         value_at_most(kMostNanoseconds)});
}

Status measure_cold(std::uint64_t batches, BenchStore& store, const std::vector<std::string>& names,
                    const Run& run) {
  Batches leat_batches(names, 2);
  Batches peer_batches(names, 3);
  // Samples a second, of batches that each find nothing in memory.
  const auto rate = [&](const Measurement& batch) -> Result<double> {
    ASSIGN_OR_RETURN(const double seconds, total(batches, [&]() -> Result<double> {
                       RETURN_IF_ERROR(drop_caches(run.directory));
                       ASSIGN_OR_RETURN(const ReadCounts before, read_counts());
                       ASSIGN_OR_RETURN(const double one, batch());
                       ASSIGN_OR_RETURN(const ReadCounts after, read_counts());
                       if (after.disk_bytes - before.disk_bytes < kBatchSamples * kSampleBytes) {
                         return Error(
                             ErrorCode::kUnsupported,
                             "the caches cannot be dropped here: nothing was read from disk");
                       }
                       return one;
                     }));
    return static_cast<double>(batches * kBatchSamples) / seconds;
  };
  const auto leat = [&] { return leat_batches.read_at_once(store.bucket(), leat_batches.next()); };
  const auto peer = [&] {
    return peer_batches.read_singly(
        peer_batches.next(), [&](std::uint64_t number, std::span<std::byte> target) {
          return get_sample(store.bucket(), names[number], number, target);
        });
  };
  ASSIGN_OR_RETURN(auto pairs,
                   interleave(
                       run.pairs, [&] { return rate(leat); }, [&] { return rate(peer); }));
  return run.report.add({fmt::format("cold batch of {}", names.size()), "sample/s",
                         "single GETs, one after another", std::move(pairs),
                         ratio_at_least(kLeastColdRatio)});
}

local::StoreOptions with_cache(std::uint64_t bytes) {
  local::StoreOptions options;
  options.drive.record_cache_bytes = bytes;
  return options;
}

// The same samples as clients of S3 put them, with a Content-Type.
Status measure_described(const Settings& settings, const Run& run) {
  const SampleSet set{settings.small_set, kSampleBytes, "application/octet-stream"};
  const auto names = sample_names(set.count);
  ASSIGN_OR_RETURN(const auto store, loaded_store(run.directory / "described", set));
  RETURN_IF_ERROR(
      measure_warm(set, " with Content-Type", settings.warm_batches, *store, names, run));
  return store->close();
}

Status measure_set(const Settings& settings, std::uint64_t count, const Run& run) {
  const SampleSet set{count, kSampleBytes, {}};
  const std::filesystem::path directory = run.directory / std::to_string(count);
  const auto names = sample_names(count);
  {
    ASSIGN_OR_RETURN(const auto store, loaded_store(directory, set));
    RETURN_IF_ERROR(measure_warm(set, "", settings.warm_batches, *store, names, run));
    RETURN_IF_ERROR(store->close());
  }
  if (count != settings.large_set) return ok_status();
  {
    // The default cache holds but a small part of this set.
    ASSIGN_OR_RETURN(const auto store, BenchStore::open(directory, with_cache(kLargeCacheBytes)));
    RETURN_IF_ERROR(measure_warm(set, ", cache 1 GiB", settings.warm_batches, *store, names, run));
    RETURN_IF_ERROR(store->close());
  }
  // A small set may fit into what a disk reads ahead, so this is for the large one only.
  ASSIGN_OR_RETURN(const auto store, BenchStore::open(directory, with_cache(0)));
  RETURN_IF_ERROR(measure_cold(settings.cold_batches, *store, names, run));
  return store->close();
}

Status measure(const Settings& settings, const Run& run) {
  RETURN_IF_ERROR(pin_to_one_core());
  RETURN_IF_ERROR(measure_set(settings, settings.small_set, run));
  RETURN_IF_ERROR(measure_described(settings, run));
  return measure_set(settings, settings.large_set, run);
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  leat::bench::Settings settings;
  leat::bench::Program program(
      "Batches of 256 random samples of 784 bytes, warm and cold, on one core.");
  program.add_option("--small-set", settings.small_set, "samples in the small set");
  program.add_option("--large-set", settings.large_set, "samples in the large set");
  program.add_option("--warm-batches", settings.warm_batches,
                     "batches of each side in a warm pair");
  program.add_option("--cold-batches", settings.cold_batches,
                     "batches of each side in a cold pair");
  return program.run(
      argc, argv, [&](const leat::bench::Run& run) { return leat::bench::measure(settings, run); });
}
