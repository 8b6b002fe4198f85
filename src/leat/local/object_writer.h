// The writer of a local object: small ones are gathered in memory and become one record; large ones
// go to a file as they come. Tar files are indexed on the way.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "leat/local/bucket.h"
#include "leat/store/object_store.h"

namespace leat::local {

// What the store itself wants of a record, besides what its user does.
struct RecordWishes {
  std::map<std::string, std::string> options;
  // Whether a file of its own will soon belong to another record, too: said at once, this costs no
  // change later.
  enum class File : std::uint8_t { kOwn, kToBeShared };
  File file = File::kOwn;
};

Result<std::unique_ptr<ObjectWriter>> make_object_writer(std::shared_ptr<EngineSource> store,
                                                         std::shared_ptr<BucketState> bucket,
                                                         Engine& engine, std::string key,
                                                         const CreateOptions& options,
                                                         RecordWishes wishes = {});

// Whether an object of this name is looked at as a tar shard.
bool may_be_shard(std::string_view name) noexcept;

}  // namespace leat::local
