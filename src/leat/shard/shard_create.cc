#include "leat/shard/shard_create.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "leat/shard/shard_writer.h"

namespace leat {
namespace {

// Samples of small files are read together, up to these limits at once.
constexpr std::uint64_t kBatchBytes = 8 << 20;
constexpr std::size_t kBatchFiles = 256;

Error size_changed(std::uint64_t planned_bytes) {
  return Error(ErrorCode::kPreconditionFailed,
               fmt::format("it changed: it no longer has the {} bytes that were planned for",
                           planned_bytes));
}

class ShardCreation {
 public:
  ShardCreation(ObjectStore& source, ObjectStore& target, const ShardCreateOptions& options,
                const Context& context, const ShardCreateObserver& observer)
      : source_(source),
        target_(target),
        options_(options),
        context_(context),
        observer_(observer) {}

  Result<ShardCreateSummary> run(std::vector<SourceFile> files);

 private:
  enum class Outcome : std::uint8_t {
    kDone,
    kBroken,  // a source failed in the middle of a sample: the archive cannot go on
  };

  Status learn_sizes(std::vector<SourceFile>& files);
  void drop_unfit();
  Status write_shard(std::size_t number);
  Result<Outcome> try_shard(std::size_t number);
  Result<Outcome> add_samples(ShardWriter& writer, const PlannedRange& shard);
  Result<Outcome> stream_sample(ShardWriter& writer, std::size_t sample);
  Status batch_samples(ShardWriter& writer, std::size_t begin, std::size_t end);
  Status add_batch(ShardWriter& writer, std::size_t sample, std::span<const BatchRead> reads);
  Result<std::unique_ptr<ObjectReader>> open(const SourceFile& file);
  Status drop_unreadable(const PlannedRange& shard);
  std::size_t batch_end(std::size_t begin, std::size_t limit) const;

  std::span<const SourceFile> files_of(std::size_t sample) const {
    return plan_.files_of(plan_.samples[sample]);
  }
  ShardEntry entry_of(const SourceFile& file) const {
    return {.name = member_name(file.name, options_.strip_prefix)};
  }
  void drop(std::size_t sample, const SourceFile& file, Error error);
  void count_sample(std::size_t sample);

  ObjectStore& source_;
  ObjectStore& target_;
  const ShardCreateOptions& options_;
  const Context& context_;
  const ShardCreateObserver& observer_;
  std::map<std::string, Error, std::less<>> without_size_;
  ShardPlan plan_;
  std::vector<bool> dropped_;  // by sample
  ShardCreateSummary summary_;
  ShardCreateProgress progress_;
};

Result<ShardCreateSummary> ShardCreation::run(std::vector<SourceFile> files) {
  RETURN_IF_ERROR(shard_name(options_.name_template, 0));
  RETURN_IF_ERROR(learn_sizes(files));
  ASSIGN_OR_RETURN(plan_, plan_shards(std::move(files), options_));
  progress_.files_total = plan_.files.size();
  for (const SourceFile& file : plan_.files) progress_.bytes_total += file.size_bytes.value_or(0);
  dropped_.assign(plan_.samples.size(), false);
  drop_unfit();
  for (std::size_t number = 0; number < plan_.shards.size(); ++number) {
    RETURN_IF_ERROR(write_shard(number));
  }
  return std::move(summary_);
}

Status ShardCreation::learn_sizes(std::vector<SourceFile>& files) {
  for (SourceFile& file : files) {
    if (file.size_bytes) continue;
    RETURN_IF_ERROR(context_.check());
    auto info = source_.stat(file.name, context_);
    if (info.ok()) {
      file.size_bytes = info->size_bytes;
    } else {
      without_size_.emplace(file.name, std::move(info).error());
    }
  }
  return ok_status();
}

// What is known to fail before anything is written.
void ShardCreation::drop_unfit() {
  for (std::size_t sample = 0; sample < plan_.samples.size(); ++sample) {
    for (const SourceFile& file : files_of(sample)) {
      const auto missing = without_size_.find(file.name);
      if (missing != without_size_.end()) {
        drop(sample, file, missing->second);
      } else if (!file.name.starts_with(options_.strip_prefix)) {
        // Without the prefix it could take the name of a file that had it.
        drop(sample, file,
             Error(ErrorCode::kInvalidArgument,
                   fmt::format("its name does not begin with '{}'", options_.strip_prefix)));
      } else if (auto fit = check_member_name(entry_of(file).name); !fit.ok()) {
        drop(sample, file, std::move(fit).error());
      }
    }
  }
}

Status ShardCreation::write_shard(std::size_t number) {
  const ShardCreateSummary summary_before = summary_;
  const ShardCreateProgress progress_before = progress_;
  for (;;) {
    ASSIGN_OR_RETURN(const Outcome outcome, try_shard(number));
    if (outcome == Outcome::kDone) return ok_status();
    // Look for all other broken files before beginning again, so that many cost one new beginning.
    RETURN_IF_ERROR(drop_unreadable(plan_.shards[number]));
    summary_.samples = summary_before.samples;
    summary_.files = summary_before.files;
    summary_.bytes = summary_before.bytes;
    progress_ = progress_before;
  }
}

Result<ShardCreation::Outcome> ShardCreation::try_shard(std::size_t number) {
  const PlannedRange& shard = plan_.shards[number];
  ASSIGN_OR_RETURN(std::string name, shard_name(options_.name_template, number));
  ASSIGN_OR_RETURN(auto object, target_.create(name, {}, context_));
  ShardWriter writer(std::move(object));
  ASSIGN_OR_RETURN(const Outcome outcome, add_samples(writer, shard));
  // With all of its samples dropped there is nothing to commit.
  if (outcome == Outcome::kBroken || writer.size_bytes() == 0) return outcome;
  RETURN_IF_ERROR(writer.finish(context_));
  summary_.shards.push_back(std::move(name));
  ++progress_.shards_done;
  if (observer_) observer_(progress_);
  return outcome;
}

Result<ShardCreation::Outcome> ShardCreation::add_samples(ShardWriter& writer,
                                                          const PlannedRange& shard) {
  for (std::size_t sample = shard.begin; sample < shard.end;) {
    const std::size_t end = batch_end(sample, shard.end);
    if (end != sample) {
      RETURN_IF_ERROR(batch_samples(writer, sample, end));
      sample = end;
      continue;
    }
    if (!dropped_[sample]) {
      ASSIGN_OR_RETURN(const Outcome outcome, stream_sample(writer, sample));
      if (outcome == Outcome::kBroken) return outcome;
    }
    ++sample;
  }
  return Outcome::kDone;
}

// The first sample from `begin` on that does not fit into one batch with those before it.
std::size_t ShardCreation::batch_end(std::size_t begin, std::size_t limit) const {
  std::uint64_t bytes_left = kBatchBytes;
  std::size_t files_left = kBatchFiles;
  for (std::size_t sample = begin; sample < limit; ++sample) {
    if (dropped_[sample]) continue;
    for (const SourceFile& file : files_of(sample)) {
      if (files_left == 0 || *file.size_bytes > bytes_left) return sample;
      --files_left;
      bytes_left -= *file.size_bytes;
    }
  }
  return limit;
}

Status ShardCreation::batch_samples(ShardWriter& writer, std::size_t begin, std::size_t end) {
  std::vector<BatchRead> reads;
  for (std::size_t sample = begin; sample < end; ++sample) {
    if (dropped_[sample]) continue;
    for (const SourceFile& file : files_of(sample)) {
      BatchRead& read = reads.emplace_back();
      read.name = file.name;
      read.range.length = *file.size_bytes + 1;  // one more would show that it grew
    }
  }
  source_.read_batch(reads, context_);
  RETURN_IF_ERROR(context_.check());
  std::span<const BatchRead> rest = reads;
  for (std::size_t sample = begin; sample < end; ++sample) {
    if (dropped_[sample]) continue;
    const std::size_t count = files_of(sample).size();
    RETURN_IF_ERROR(add_batch(writer, sample, rest.first(count)));
    rest = rest.subspan(count);
  }
  return ok_status();
}

Status ShardCreation::add_batch(ShardWriter& writer, std::size_t sample,
                                std::span<const BatchRead> reads) {
  const std::span<const SourceFile> files = files_of(sample);
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!reads[i].result.ok()) {
      drop(sample, files[i], reads[i].result.error());
    } else if (reads[i].result->bytes.size() != *files[i].size_bytes) {
      drop(sample, files[i], size_changed(*files[i].size_bytes));
    }
  }
  if (dropped_[sample]) return ok_status();
  for (std::size_t i = 0; i < files.size(); ++i) {
    RETURN_IF_ERROR(writer.add(entry_of(files[i]), reads[i].result->bytes, context_));
  }
  count_sample(sample);
  return ok_status();
}

Result<ShardCreation::Outcome> ShardCreation::stream_sample(ShardWriter& writer,
                                                            std::size_t sample) {
  for (const SourceFile& file : files_of(sample)) {
    auto reader = open(file);
    auto status = reader.ok() ? writer.add(entry_of(file), **reader, context_) : ok_status();
    RETURN_IF_ERROR(context_.check());
    if (reader.ok() && status.ok()) continue;
    if (reader.ok() && !writer.source_failed()) return std::move(status).error();
    drop(sample, file, reader.ok() ? std::move(status).error() : std::move(reader).error());
    return Outcome::kBroken;
  }
  count_sample(sample);
  return Outcome::kDone;
}

Result<std::unique_ptr<ObjectReader>> ShardCreation::open(const SourceFile& file) {
  ASSIGN_OR_RETURN(auto reader, source_.open(file.name, {}, context_));
  if (reader->info().size_bytes != *file.size_bytes) return size_changed(*file.size_bytes);
  return reader;
}

Status ShardCreation::drop_unreadable(const PlannedRange& shard) {
  for (std::size_t sample = shard.begin; sample < shard.end; ++sample) {
    if (dropped_[sample]) continue;
    for (const SourceFile& file : files_of(sample)) {
      auto reader = open(file);
      RETURN_IF_ERROR(context_.check());
      if (!reader.ok()) drop(sample, file, std::move(reader).error());
    }
  }
  return ok_status();
}

void ShardCreation::drop(std::size_t sample, const SourceFile& file, Error error) {
  if (!dropped_[sample]) ++summary_.samples_left_out;
  dropped_[sample] = true;
  summary_.failures.push_back({file.name, std::move(error)});
}

void ShardCreation::count_sample(std::size_t sample) {
  ++summary_.samples;
  for (const SourceFile& file : files_of(sample)) {
    ++summary_.files;
    summary_.bytes += *file.size_bytes;
  }
  progress_.files_done = summary_.files;
  progress_.bytes_done = summary_.bytes;
  if (observer_) observer_(progress_);
}

}  // namespace

Result<std::vector<SourceFile>> list_source_files(ObjectStore& source, std::string_view prefix,
                                                  const Context& context) {
  std::vector<SourceFile> files;
  ListRequest request;
  request.prefix = prefix;
  for (;;) {
    ASSIGN_OR_RETURN(ListPage page, source.list(request, context));
    for (ListPage::Entry& entry : page.entries) {
      // Object stores mark folders so.
      if (entry.info.size_bytes == 0 && entry.name.ends_with('/')) continue;
      files.push_back({std::move(entry.name), entry.info.size_bytes});
    }
    if (page.next_start_after.empty()) return files;
    request.start_after = std::move(page.next_start_after);
    RETURN_IF_ERROR(context.check());
  }
}

Result<ShardCreateSummary> create_shards(ObjectStore& source, std::vector<SourceFile> files,
                                         ObjectStore& target, const ShardCreateOptions& options,
                                         const Context& context,
                                         const ShardCreateObserver& observer) {
  return ShardCreation(source, target, options, context, observer).run(std::move(files));
}

}  // namespace leat
