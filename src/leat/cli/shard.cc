#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "leat/base/progress.h"
#include "leat/base/units.h"
#include "leat/base/url.h"
#include "leat/base/utf8.h"
#include "leat/cli/verbs.h"
#include "leat/shard/shard_create.h"
#include "leat/shard/shard_extract.h"
#include "leat/shard/shard_index.h"

namespace leat::cli {
namespace {

struct ShardOptions {
  std::string source;
  std::string target;
  std::string size = "1GiB";
  std::uint64_t count = UINT64_MAX;
  std::string name_template = "shard-%06d.tar";
  std::string listing;
  std::optional<std::uint64_t> shuffle_seed;
  bool details = false;
};

// The names of a listing, one on each line, below the folder.
Result<std::vector<SourceFile>> read_listing(const std::string& path, const std::string& prefix) {
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) return Error(ErrorCode::kNotFound, "there is no listing " + path);
  }
  std::istream& input = path == "-" ? std::cin : file;
  std::vector<SourceFile> files;
  for (std::string line; std::getline(input, line);) {
    if (!line.empty()) files.push_back({prefix + line, std::nullopt});
  }
  return files;
}

// A '%' of the folder is not the number of the shard.
std::string escape_percent(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped.append(c == '%' ? 2 : 1, c);
  return escaped;
}

ExitCode show_created(Session& session, const ShardCreateSummary& summary) {
  for (const ShardCreateFailure& failure : summary.failures) {
    if (session.output().is_json()) break;
    session.fail("pack " + printable(failure.name), failure.error);
  }
  if (session.output().is_json()) {
    Json document = {{"shards", Json::array()},
                     {"samples", summary.samples},
                     {"files", summary.files},
                     {"bytes", summary.bytes},
                     {"left_out", summary.samples_left_out}};
    for (const std::string& name : summary.shards)
      document["shards"].push_back(to_valid_utf8(name));
    document["failures"] = Json::array();
    for (const ShardCreateFailure& failure : summary.failures) {
      Json item;
      set_name(item, "name", failure.name);
      item["error"] = failure.error.message();
      document["failures"].push_back(std::move(item));
    }
    session.output().json(document);
  } else {
    session.output().summary(fmt::format(
        "shard create: {} of {} and {}, {}{}", counted(summary.shards.size(), "shard"),
        counted(summary.samples, "sample"), counted(summary.files, "file"),
        format_size_rounded(summary.bytes),
        summary.samples_left_out > 0 ? fmt::format("; {} left out", summary.samples_left_out)
                                     : ""));
  }
  return summary.failures.empty() ? ExitCode::kOk : ExitCode::kFailed;
}

ExitCode run_create(Session& session, const ShardOptions& options) {
  const std::string doing = "make shards of " + options.source;
  const auto source = session.stores().open(options.source, IfMissing::kFail);
  if (!source) return session.fail(doing, source.error());
  const std::string prefix = folder_prefix(source->name);
  auto files = options.listing.empty()
                   ? list_source_files(*source->store, prefix, session.context())
                   : read_listing(options.listing, prefix);
  if (!files) return session.fail(doing, files.error());
  if (files->empty()) {
    return session.fail(doing, Error(ErrorCode::kNotFound, "there are no files"));
  }
  const auto size = parse_size(options.size);
  if (!size)
    return session.refuse("--size: " + std::string(size.error().message()), "--size 256MiB");
  const auto target = session.stores().open(options.target, IfMissing::kCreate);
  if (!target) return session.fail("open " + options.target, target.error());
  ShardCreateOptions create_options;
  create_options.name_template =
      escape_percent(folder_prefix(target->name)) + options.name_template;
  create_options.max_shard_bytes = *size;
  create_options.max_samples = options.count;
  create_options.strip_prefix = prefix;
  if (options.shuffle_seed) {
    create_options.order = SampleOrder::kShuffled;
    create_options.seed = *options.shuffle_seed;
  }
  Progress progress(session.progress_options("shard create"));
  const auto summary = create_shards(
      *source->store, *std::move(files), *target->store, create_options, session.context(),
      [&progress](const ShardCreateProgress& so_far) {
        progress.set_total(so_far.bytes_total);
        progress.add(so_far.bytes_done - std::min(so_far.bytes_done, progress.done()));
      });
  progress.finish();
  if (!summary) return session.fail(doing, summary.error());
  return show_created(session, *summary);
}

struct OpenShard {
  StoreLocation location;
  std::unique_ptr<ObjectReader> reader;
};

Result<OpenShard> open_shard(Session& session, const std::string& url) {
  OpenShard shard;
  ASSIGN_OR_RETURN(shard.location, session.stores().open(url, IfMissing::kFail));
  if (is_folder(shard.location)) return Error(ErrorCode::kInvalidArgument, "it is a folder");
  ASSIGN_OR_RETURN(shard.reader,
                   shard.location.store->open(shard.location.name, {}, session.context()));
  return shard;
}

Status list_members(Session& session, const ShardOptions& options) {
  ASSIGN_OR_RETURN(const OpenShard shard, open_shard(session, options.source));
  ASSIGN_OR_RETURN(IndexedShard indexed, index_shard(*shard.reader, session.context()));
  ASSIGN_OR_RETURN(const ShardIndex index, ShardIndex::decode(std::move(indexed.blob)));
  for (std::size_t i = 0; i < index.size(); ++i) {
    const ShardMember member = index.member(i);
    if (session.output().is_json()) {
      ObjectInfo info;
      info.size_bytes = member.size_bytes;
      info.mtime_ns = member.mtime_ns;
      info.crc32c = member.crc32c;
      Json object;
      set_name(object, "name", member.name);
      set_info(object, info);
      object["offset"] = member.data_offset;
      session.output().json(object);
    } else if (options.details) {
      session.output().line(fmt::format("{:>14}  {}  {}", member.size_bytes,
                                        time_text(member.mtime_ns), printable(member.name)));
    } else {
      session.output().line(printable(member.name));
    }
  }
  return ok_status();
}

ExitCode run_list(Session& session, const ShardOptions& options) {
  const Status status = list_members(session, options);
  return status ? ExitCode::kOk : session.fail("list the shard " + options.source, status.error());
}

Status make_index(Session& session, const ShardOptions& options) {
  ASSIGN_OR_RETURN(const OpenShard shard, open_shard(session, options.source));
  ASSIGN_OR_RETURN(const IndexedShard indexed, index_shard(*shard.reader, session.context()));
  if (!options.target.empty()) {
    ASSIGN_OR_RETURN(const StoreLocation target,
                     session.stores().open(options.target, IfMissing::kCreate));
    RETURN_IF_ERROR(write_object(*target.store, target.name, indexed.blob, {}, session.context()));
  }
  const TarSummary& summary = indexed.summary;
  const std::uint64_t skipped =
      summary.links + summary.directories + summary.sparse + summary.others;
  if (session.output().is_json()) {
    session.output().json({{"members", summary.members},
                           {"skipped", skipped},
                           {"shard_bytes", summary.stream_bytes},
                           {"index_bytes", indexed.blob.size()},
                           {"complete", summary.has_end}});
  } else {
    session.output().line(fmt::format(
        "{}, {} passed over, index of {}{}", counted(summary.members, "member"), skipped,
        format_size_rounded(indexed.blob.size()), summary.has_end ? "" : "; the end is missing"));
  }
  return ok_status();
}

ExitCode run_index(Session& session, const ShardOptions& options) {
  const Status status = make_index(session, options);
  return status ? ExitCode::kOk : session.fail("index " + options.source, status.error());
}

// Files of a directory need not be synced one by one, and keep their mode.
Result<ShardExtractSummary> extract(Session& session, ObjectReader& shard, const std::string& url) {
  ASSIGN_OR_RETURN(const Url parsed, Url::parse(url));
  if (parsed.scheme == "file") {
    ASSIGN_OR_RETURN(const std::string directory, percent_decode(parsed.path));
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) return Error::from_errno(error.value(), "make directory " + directory);
    ASSIGN_OR_RETURN(const auto files, FileSystem::posix(directory));
    return extract_shard(shard, *files, {}, session.context());
  }
  ASSIGN_OR_RETURN(const StoreLocation target, session.stores().open(url, IfMissing::kCreate));
  ShardExtractOptions extract_options;
  extract_options.prefix = folder_prefix(target.name);
  return extract_shard(shard, *target.store, extract_options, session.context());
}

ExitCode run_extract(Session& session, const ShardOptions& options) {
  const std::string doing = "extract " + options.source;
  const auto shard = open_shard(session, options.source);
  if (!shard) return session.fail(doing, shard.error());
  const auto summary = extract(session, *shard->reader, options.target);
  if (!summary) return session.fail(doing, summary.error());
  for (const ShardExtractFailure& failure : summary->failures) {
    session.fail("extract " + printable(failure.name), failure.error);
  }
  if (session.output().is_json()) {
    session.output().json({{"extracted", summary->extracted},
                           {"bytes", summary->extracted_bytes},
                           {"failed", summary->failures.size()}});
  } else {
    session.output().summary(
        fmt::format("shard extract: {}, {}; {} failed", counted(summary->extracted, "file"),
                    format_size_rounded(summary->extracted_bytes), summary->failures.size()));
  }
  return summary->failures.empty() ? ExitCode::kOk : ExitCode::kFailed;
}

void add_create(Syntax& group, Verb& chosen, const std::shared_ptr<ShardOptions>& options) {
  Syntax& verb = add_verb(
      group, chosen, "create", "Pack a folder into tar shards, samples together",
      "  leat shard create /data/imagenet leat+local:///data/store/imagenet-shards/\n"
      "  leat shard create --size 256MiB --shuffle 7 /data/imagenet /data/shards\n"
      "  find . -name '*.jpg' -printf '%P\\n' | leat shard create --files-from - . /data/shards\n"
      "\nFiles that share a name up to its first '.' are one sample and stay together "
      "(WebDataset).\n"
      "The same files and flags make the same shards, byte for byte.\n",
      options, run_create);
  verb.value("source", options->source, "URL", "the folder");
  verb.require("source");
  verb.value("target", options->target, "URL", "the folder of the shards");
  verb.require("target");
  verb.value("--size", options->size, "SIZE", "of a shard, at most");
  verb.value("--count", options->count, "N", "samples in a shard, at most");
  verb.value("--name", options->name_template, "TEMPLATE", "with %06d where the number goes");
  verb.value("--shuffle", options->shuffle_seed, "SEED", "samples in an order made from this seed");
  verb.value("--files-from", options->listing, "FILE|-",
             "only the files of this listing, one a line");
}

}  // namespace

void add_shard(Syntax& program, Verb& chosen) {
  Syntax& group = program.add_group("shard", "Make, list, index and extract tar shards",
                                    "  leat shard create /data/imagenet /data/shards\n"
                                    "  leat shard ls /data/shards/shard-000000.tar\n");
  auto options = std::make_shared<ShardOptions>();
  add_create(group, chosen, options);
  Syntax& list = add_verb(group, chosen, "ls", "List the members of a shard",
                          "  leat shard ls -l /data/shards/shard-000000.tar\n"
                          "  leat shard ls --json leat+local:///data/store/images/train.tar\n",
                          options, run_list);
  list.flag("-l,--long", options->details, "sizes in bytes and times, too");
  Syntax& index = add_verb(group, chosen, "index", "Read a shard and say what its index holds",
                           "  leat shard index /data/shards/shard-000000.tar\n"
                           "  leat shard index shard.tar --output shard.index\n",
                           options, run_index);
  index.value("--output", options->target, "URL", "write the index there");
  Syntax& extract_verb =
      add_verb(group, chosen, "extract", "Take a shard apart into a folder",
               "  leat shard extract /data/shards/shard-000000.tar /scratch/samples\n"
               "  leat shard extract shard.tar leat+local:///data/store/samples/\n"
               "\nNothing is written outside the target; links and devices are not made.\n",
               options, run_extract);
  for (Syntax* verb : {&list, &index, &extract_verb}) {
    verb->value("url", options->source, "URL", "the shard");
    verb->require("url");
  }
  extract_verb.value("target", options->target, "URL", "the folder");
  extract_verb.require("target");
}

}  // namespace leat::cli
