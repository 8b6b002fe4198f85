// Samples: numbered objects whose bytes are a function of their number, in a store and in a file.
//
// Every benchmark of small objects reads and writes these, so that any answer can be checked: the
// first eight bytes of a sample are its number, the rest is noise that does not compress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "leat/base/result.h"
#include "leat/local/local_store.h"
#include "machine.h"

namespace leat::bench {

struct SampleSet {
  std::uint64_t count = 0;
  std::size_t size_bytes = 0;
  std::string content_type{};  // what clients of S3 send with each object; empty: nothing
};

std::string sample_name(std::uint64_t number);
std::vector<std::string> sample_names(std::uint64_t count);
void fill_sample(std::uint64_t number, std::span<std::byte> target);
// kCorrupted when `bytes` are not those of the sample.
Status check_sample(std::uint64_t number, std::span<const std::byte> bytes);
// `count` numbers below `bound`, in random order, without repetition while that is possible.
std::vector<std::uint64_t> random_numbers(std::uint64_t count, std::uint64_t bound,
                                          std::uint64_t seed);

// A local store with one bucket, as a user would make it. Closed on destruction. Thread-safe.
class BenchStore {
 public:
  static Result<std::unique_ptr<BenchStore>> create(const std::filesystem::path& directory);
  static Result<std::unique_ptr<BenchStore>> open(const std::filesystem::path& directory,
                                                  const local::StoreOptions& options = {});

  ObjectStore& bucket() const { return *bucket_; }
  // Writes all samples of a set, by several threads. They are in the page cache afterwards.
  Status load(const SampleSet& set);
  // Stops upkeep and writes a checkpoint.
  Status close() { return store_->close(Context()); }

 private:
  BenchStore(std::shared_ptr<local::LocalStore> store, std::shared_ptr<ObjectStore> bucket)
      : store_(std::move(store)), bucket_(std::move(bucket)) {}

  const std::shared_ptr<local::LocalStore> store_;
  const std::shared_ptr<ObjectStore> bucket_;
};

// A store that holds the set, closed after loading and opened anew, so that no upkeep of the load
// runs beside what is measured.
Result<std::unique_ptr<BenchStore>> loaded_store(const std::filesystem::path& directory,
                                                 const SampleSet& set);
// The samples one after another in one file, opened for reading: what the peer reads.
Result<Descriptor> sample_file(const std::filesystem::path& path, const SampleSet& set);

// One GET, as a user makes it.
Status get_sample(ObjectStore& bucket, std::string_view name, std::uint64_t number,
                  std::span<std::byte> target);
// The peer's: one pread.
Status pread_sample(const Descriptor& file, std::uint64_t number, std::span<std::byte> target);

}  // namespace leat::bench
