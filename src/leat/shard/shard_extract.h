// extract_shard: takes a tar shard apart into a store or a directory.
//
// Only regular members are written, each under its name below the target. A name that is absolute
// or has ".." as a component is refused, never repaired; links, devices and sparse files are
// never made; folders appear when a file needs them. A directory is a rooted FileSystem, which
// follows no link, so nothing outside it can be reached whatever lies in it already. Of the mode
// only the permission bits are kept, without write access for others; owners and times are not.
//
// A member that fails is reported and the others go on. Of several members with one name the last
// wins, and what was there before is replaced. Nothing is synced.
//
// Memory is one read buffer. Everything runs on the caller's thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/file.h"
#include "leat/base/result.h"
#include "leat/shard/tar_scanner.h"
#include "leat/store/object_store.h"

namespace leat {

struct ShardExtractOptions {
  std::string prefix;  // put before every name, as it is; for a folder it ends in '/'
};

struct ShardExtractFailure {
  std::string name;  // as the shard has it
  Error error;
};

struct ShardExtractSummary {
  std::uint64_t extracted = 0;
  std::uint64_t extracted_bytes = 0;
  std::vector<ShardExtractFailure> failures;
  TarSummary shard;  // members, and what was passed over
};

// An Error when the shard is damaged (the members before stay), the target is full, or the context
// ended.
Result<ShardExtractSummary> extract_shard(ObjectReader& shard, ObjectStore& target,
                                          const ShardExtractOptions& options,
                                          const Context& context);
Result<ShardExtractSummary> extract_shard(ObjectReader& shard, FileSystem& target,
                                          const ShardExtractOptions& options,
                                          const Context& context);

// kInvalidArgument for a name that does not stay below where it is extracted to: absolute, or with
// a component "..".
Status check_extractable(std::string_view name);

}  // namespace leat
