// create_shards: packs many objects into tar shards, by the conventions of WebDataset.
//
// shard_plan.h says what goes where. Shards hold neither times nor owners, so the same input and
// options make the same shards, byte for byte. A file that cannot be read, or has another size than
// planned, takes its sample out of its shard and is reported; the other samples stay where they are
// (a shard that lost all of its samples is not written).
//
// Small files are read in batches, large ones are streamed; memory is a few buffers, and what the
// plan takes for each file. Each shard becomes visible when it is complete. Everything runs on the
// caller's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/shard/shard_plan.h"
#include "leat/store/object_store.h"

namespace leat {

struct ShardCreateFailure {
  std::string name;
  Error error;
};

// Steps back when a shard is begun again because a file failed in the middle of it.
struct ShardCreateProgress {
  std::uint64_t files_done = 0;
  std::uint64_t files_total = 0;
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;
  std::uint64_t shards_done = 0;
};
using ShardCreateObserver = std::function<void(const ShardCreateProgress&)>;

struct ShardCreateSummary {
  std::vector<std::string> shards;  // that were written, in order
  std::uint64_t samples = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  // of the files
  std::uint64_t samples_left_out = 0;
  std::vector<ShardCreateFailure> failures;  // the files for which they were
};

// Every object of `source` under `prefix`.
Result<std::vector<SourceFile>> list_source_files(ObjectStore& source, std::string_view prefix,
                                                  const Context& context);

// An Error is one of the target, of the options or of the context; shards that were complete by
// then stay. `observer` may be empty.
Result<ShardCreateSummary> create_shards(ObjectStore& source, std::vector<SourceFile> files,
                                         ObjectStore& target, const ShardCreateOptions& options,
                                         const Context& context,
                                         const ShardCreateObserver& observer);

}  // namespace leat
