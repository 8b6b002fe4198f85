#include <memory>

#include "leat/cli/verbs.h"
#include "leat/local/superblock.h"

namespace leat::cli {
namespace {

struct VersionOptions {};

constexpr int kShardIndexVersion = 1;

ExitCode run_version(Session& session, const VersionOptions&) {
  if (session.output().is_json()) {
    session.output().json(
        {{"version", LEAT_VERSION},
         {"formats",
          {{"local_store", local::kFormatVersion}, {"shard_index", kShardIndexVersion}}}});
    return ExitCode::kOk;
  }
  session.output().line("leat " LEAT_VERSION);
  session.output().line("formats: local store " + std::to_string(local::kFormatVersion) +
                        ", shard index " + std::to_string(kShardIndexVersion) +
                        ", shards: tar (ustar, pax, GNU)");
  return ExitCode::kOk;
}

}  // namespace

void add_version(Syntax& program, Verb& chosen) {
  add_verb(program, chosen, "version", "Show the version, and the formats on disk that it knows",
           "  leat version\n  leat version --json\n", std::make_shared<VersionOptions>(),
           run_version);
}

}  // namespace leat::cli
