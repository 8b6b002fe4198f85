// Which files go into which tar shard, by the conventions of WebDataset.
//
// A sample is the files that share a key, which is the path up to the first '.' of the base name:
// "n01/7.jpg" and "n01/7.cls.txt" are the sample "n01/7". (A '.' that begins a base name is part of
// the key.) The files of a sample lie one after another in one shard, in byte order; folders stay
// in the names. Samples fill one shard after another, in the order that is asked for.
//
// A plan is a function of names, sizes and options alone. Functions are pure and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"

namespace leat {

enum class SampleOrder : std::uint8_t {
  kSorted,    // by key, in byte order
  kShuffled,  // a function of the seed, of the keys and of nothing else
};

struct ShardCreateOptions {
  // The names of the shards: one %d, or %06d for six digits, is the number of the shard; %% is %.
  std::string name_template = "shard-%06d.tar";
  // Of a whole archive. A sample that is larger gets a shard of its own.
  std::uint64_t max_shard_bytes = std::uint64_t{1} << 30;
  std::uint64_t max_samples = UINT64_MAX;
  SampleOrder order = SampleOrder::kSorted;
  std::uint64_t seed = 0;
  // Taken off the front of the names, so that members are named below it.
  std::string strip_prefix;
};

struct SourceFile {
  std::string name;
  std::optional<std::uint64_t> size_bytes;  // asked of the source when absent
};

// The samples of a shard, the files of a sample: a range of the vector next to it.
struct PlannedRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct ShardPlan {
  std::vector<SourceFile> files;      // those of a sample next to each other
  std::vector<PlannedRange> samples;  // of files, in the order of the shards
  std::vector<PlannedRange> shards;   // of samples

  std::span<const SourceFile> files_of(const PlannedRange& sample) const {
    return std::span(files).subspan(sample.begin, sample.end - sample.begin);
  }
};

// A file that is named twice is taken once; an unknown size counts as 0. kInvalidArgument for a
// limit of 0 samples.
Result<ShardPlan> plan_shards(std::vector<SourceFile> files, const ShardCreateOptions& options);

// The name within the shard: `name` without the prefix that is to be stripped, if it has it.
std::string_view member_name(std::string_view name, std::string_view strip_prefix) noexcept;
// The key of a file's sample; a view into `name`.
std::string_view sample_key(std::string_view name) noexcept;

// The name of shard `number`. kInvalidArgument unless `name_template` holds exactly one number.
Result<std::string> shard_name(std::string_view name_template, std::uint64_t number);

}  // namespace leat
