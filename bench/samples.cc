#include "samples.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "leat/base/random.h"
#include "program.h"

namespace leat::bench {
namespace {

constexpr std::string_view kBucketName = "samples";
constexpr std::size_t kLoadThreads = 4;

}  // namespace

std::string sample_name(std::uint64_t number) {
  return fmt::format("train/{:09}", number);
}

std::vector<std::string> sample_names(std::uint64_t count) {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) names.push_back(sample_name(i));
  return names;
}

void fill_sample(std::uint64_t number, std::span<std::byte> target) {
  Random random(number);
  std::uint64_t word = number;
  for (std::size_t at = 0; at < target.size(); at += sizeof word) {
    std::memcpy(target.data() + at, &word, std::min(sizeof word, target.size() - at));
    word = random.next();
  }
}

Status check_sample(std::uint64_t number, std::span<const std::byte> bytes) {
  if (bytes.size() >= sizeof number && std::memcmp(bytes.data(), &number, sizeof number) == 0) {
    return ok_status();
  }
  return Error(ErrorCode::kCorrupted, fmt::format("{} has other bytes", sample_name(number)));
}

std::vector<std::uint64_t> random_numbers(std::uint64_t count, std::uint64_t bound,
                                          std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint64_t> numbers;
  if (count > bound / 4) {
    // Most of them: an order of all, cut or begun again.
    std::vector<std::uint64_t> all(bound);
    std::iota(all.begin(), all.end(), 0);
    random.shuffle(std::span(all));
    for (std::uint64_t i = 0; i < count; ++i) numbers.push_back(all[i % bound]);
    return numbers;
  }
  // Few of many: without a list of all, which would take more memory than a store of them.
  std::vector<bool> is_drawn(bound);
  while (numbers.size() < count) {
    const std::uint64_t number = random.uniform(bound);
    if (!is_drawn[number]) numbers.push_back(number);
    is_drawn[number] = true;
  }
  return numbers;
}

Result<std::unique_ptr<BenchStore>> BenchStore::create(const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(auto store, local::LocalStore::create({directory.string()}, {}));
  RETURN_IF_ERROR(store->create_bucket(kBucketName, {}, Context()));
  ASSIGN_OR_RETURN(auto bucket, store->bucket(kBucketName));
  return std::unique_ptr<BenchStore>(new BenchStore(std::move(store), std::move(bucket)));
}

Result<std::unique_ptr<BenchStore>> BenchStore::open(const std::filesystem::path& directory,
                                                     const local::StoreOptions& options) {
  ASSIGN_OR_RETURN(auto store, local::LocalStore::open({directory.string()}, options));
  ASSIGN_OR_RETURN(auto bucket, store->bucket(kBucketName));
  return std::unique_ptr<BenchStore>(new BenchStore(std::move(store), std::move(bucket)));
}

Status BenchStore::load(const SampleSet& set) {
  CreateOptions options;
  options.durability = Durability::kMemory;
  if (!set.content_type.empty()) options.metadata.headers["content-type"] = set.content_type;
  return in_threads(kLoadThreads, [&](std::size_t thread) -> Status {
    std::vector<std::byte> bytes(set.size_bytes);
    for (std::uint64_t i = thread; i < set.count; i += kLoadThreads) {
      fill_sample(i, bytes);
      RETURN_IF_ERROR(write_object(*bucket_, sample_name(i), bytes, options, Context()));
    }
    return ok_status();
  });
}

Result<std::unique_ptr<BenchStore>> loaded_store(const std::filesystem::path& directory,
                                                 const SampleSet& set) {
  {
    ASSIGN_OR_RETURN(auto store, BenchStore::create(directory));
    RETURN_IF_ERROR(store->load(set));
    RETURN_IF_ERROR(store->close());
  }
  return BenchStore::open(directory);
}

Result<Descriptor> sample_file(const std::filesystem::path& path, const SampleSet& set) {
  {
    constexpr std::uint64_t kSamplesAtOnce = 1024;
    ASSIGN_OR_RETURN(const Descriptor file, Descriptor::open(path, O_WRONLY | O_CREAT | O_EXCL));
    std::vector<std::byte> bytes(kSamplesAtOnce * set.size_bytes);
    for (std::uint64_t first = 0; first < set.count; first += kSamplesAtOnce) {
      const std::uint64_t count = std::min(kSamplesAtOnce, set.count - first);
      for (std::uint64_t i = 0; i < count; ++i) {
        fill_sample(first + i, std::span(bytes).subspan(i * set.size_bytes, set.size_bytes));
      }
      const std::size_t length = count * set.size_bytes;
      if (pwrite(file.number(), bytes.data(), length, static_cast<off_t>(first * set.size_bytes)) !=
          static_cast<ssize_t>(length)) {
        return Error::from_errno(errno, fmt::format("write {}", path.string()));
      }
    }
  }
  return Descriptor::open(path, O_RDONLY);
}

Status get_sample(ObjectStore& bucket, std::string_view name, std::uint64_t number,
                  std::span<std::byte> target) {
  const Context context;
  ASSIGN_OR_RETURN(const auto reader, bucket.open(name, {}, context));
  ASSIGN_OR_RETURN(const std::size_t count, reader->read_at(0, target, context));
  return check_sample(number, target.first(count));
}

Status pread_sample(const Descriptor& file, std::uint64_t number, std::span<std::byte> target) {
  const ssize_t count = pread(file.number(), target.data(), target.size(),
                              static_cast<off_t>(number * target.size()));
  if (count < 0) return Error::from_errno(errno, "pread");
  return check_sample(number, target.first(static_cast<std::size_t>(count)));
}

}  // namespace leat::bench
