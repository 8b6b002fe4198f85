#include "leat/shard/shard_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "leat/base/random.h"
#include "leat/shard/shard_writer.h"

namespace leat {
namespace {

constexpr std::size_t kMaxNumberWidth = 20;  // the digits of 64 bits

// Sorts and groups. By key before name: between the names of one sample may lie those of a folder
// ("a.cls", "a.d/x.cls", "a.jpg").
std::vector<PlannedRange> group_samples(std::vector<SourceFile>& files,
                                        std::string_view strip_prefix) {
  const auto key = [&](const SourceFile& file) {
    return sample_key(member_name(file.name, strip_prefix));
  };
  std::ranges::sort(files, [&](const SourceFile& a, const SourceFile& b) {
    return std::tuple(key(a), std::string_view(a.name)) <
           std::tuple(key(b), std::string_view(b.name));
  });
  files.erase(
      std::unique(files.begin(), files.end(),
                  [](const SourceFile& a, const SourceFile& b) { return a.name == b.name; }),
      files.end());

  std::vector<PlannedRange> samples;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (i == 0 || key(files[i]) != key(files[i - 1])) samples.push_back({i, i});
    samples.back().end = i + 1;
  }
  return samples;
}

std::uint64_t sample_bytes(const ShardPlan& plan, const PlannedRange& sample,
                           std::string_view strip_prefix) {
  std::uint64_t bytes = 0;
  for (const SourceFile& file : plan.files_of(sample)) {
    const std::uint64_t size = std::min<std::uint64_t>(file.size_bytes.value_or(0), INT64_MAX);
    // A sum beyond 64 bits is over every limit anyway.
    if (__builtin_add_overflow(
            bytes, shard_member_bytes(member_name(file.name, strip_prefix), size), &bytes)) {
      return UINT64_MAX;
    }
  }
  return bytes;
}

}  // namespace

Result<ShardPlan> plan_shards(std::vector<SourceFile> files, const ShardCreateOptions& options) {
  if (options.max_samples == 0) {
    return Error(ErrorCode::kInvalidArgument, "a shard needs room for at least one sample");
  }
  ShardPlan plan;
  plan.files = std::move(files);
  plan.samples = group_samples(plan.files, options.strip_prefix);
  if (options.order == SampleOrder::kShuffled) {
    Random(options.seed).shuffle(std::span(plan.samples));
  }
  std::uint64_t room = 0;  // left in the last shard
  for (std::size_t i = 0; i < plan.samples.size(); ++i) {
    const std::uint64_t bytes = sample_bytes(plan, plan.samples[i], options.strip_prefix);
    const bool full =
        plan.shards.empty() || bytes > room || i - plan.shards.back().begin >= options.max_samples;
    if (full) {
      plan.shards.push_back({i, i});
      room = options.max_shard_bytes - std::min(options.max_shard_bytes, kShardEndBytes);
    }
    plan.shards.back().end = i + 1;
    room -= std::min(room, bytes);
  }
  return plan;
}

std::string_view member_name(std::string_view name, std::string_view strip_prefix) noexcept {
  if (name.starts_with(strip_prefix)) name.remove_prefix(strip_prefix.size());
  return name;
}

std::string_view sample_key(std::string_view name) noexcept {
  const std::size_t base = name.rfind('/') + 1;  // npos + 1 is 0: no folder
  return name.substr(0, name.find('.', base + 1));
}

Result<std::string> shard_name(std::string_view name_template, std::uint64_t number) {
  std::string name;
  std::size_t numbers = 0;
  for (std::size_t i = 0; i < name_template.size(); ++i) {
    if (name_template[i] != '%') {
      name += name_template[i];
      continue;
    }
    std::size_t width = 0;
    for (++i; i < name_template.size() && name_template[i] >= '0' && name_template[i] <= '9'; ++i) {
      width =
          std::min(width * 10 + static_cast<std::size_t>(name_template[i] - '0'), kMaxNumberWidth);
    }
    const char conversion = i < name_template.size() ? name_template[i] : '\0';
    if (conversion == '%' && name_template[i - 1] == '%') {
      name += '%';
      continue;
    }
    numbers += conversion == 'd' ? 1 : 2;
    name += fmt::format("{:0{}}", number, width);
  }
  if (numbers == 1) return name;
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("the name of shards, '{}', must hold one number, such as %06d, and no "
                           "other %",
                           name_template));
}

}  // namespace leat
