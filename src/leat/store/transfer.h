// Transfer: copies many objects from one store to another, in parallel, verified, and again and
// again without doing the same work twice.
//
// Source and target are folders: a store and a prefix, which is "" or ends in '/'. An object
// `source prefix + rest` becomes `target prefix + rest`. Both sides are listed side by side in byte
// order, so memory does not grow with the number of objects, except for the names to be removed.
//
// What is there already is left alone; that is how a transfer that was interrupted is resumed. An
// object is unchanged when the sizes are equal and
//   - the crc32c of both are known and equal; or
//   - they are not known, and the target is not older than the source. (Etags say nothing across
//     stores.)
// Compare::kChecksum reads the target instead, and the source where its crc32c is not known: a
// target that is damaged counts as changed, and so is mended.
//
// A target that cannot be listed, or keeps no bytes, is copied to anew. Every copy is verified end
// to end (copy_object.h).
//
// One object that fails does not stop the others. Removal (TransferOptions::extraneous) begins when
// everything was copied, and only if nothing failed; it is refused when the source holds nothing.
//
// transfer() and remove_folder() run on the caller's thread and the given executor, and return when
// all their work has ended. Several may run at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/executor.h"
#include "leat/base/result.h"
#include "leat/store/name_filter.h"
#include "leat/store/object_store.h"

namespace leat {

struct Folder {
  ObjectStore* store = nullptr;
  std::string prefix;
};

enum class TransferAction : std::uint8_t { kCopy, kRemove };

// Hears what happens. found() and planned() come from the caller's thread, in the order of the
// names; moved() from any thread.
class TransferObserver {
 public:
  virtual ~TransferObserver() = default;
  // An object of the source that takes part, whether it will be copied or not.
  virtual void found(std::uint64_t size_bytes) { (void)size_bytes; }
  // Bytes that are done: copied, or known to be there.
  virtual void moved(std::uint64_t bytes) { (void)bytes; }
  // In a dry run only: what would be done. `name` is without the prefix.
  virtual void planned(TransferAction action, std::string_view name) {
    (void)action;
    (void)name;
  }
};

struct TransferOptions {
  enum class Compare : std::uint8_t { kQuick, kChecksum, kNever };
  Compare compare = Compare::kQuick;
  // What to do with objects of the target that the source does not have. Names that the filter
  // does not let pass are never removed.
  enum class Extraneous : std::uint8_t { kKeep, kRemove };
  Extraneous extraneous = Extraneous::kKeep;
  enum class Mode : std::uint8_t { kReal, kDryRun };
  Mode mode = Mode::kReal;
  Durability durability = Durability::kDefault;
  NameFilter filter;  // of the names without the prefix
  TransferObserver* observer = nullptr;
};

struct TransferFailure {
  std::string name;  // without the prefix
  Error error;
};

struct TransferReport {
  // More are counted, but not kept.
  static constexpr std::size_t kMaxFailures = 1000;

  std::uint64_t copied = 0;  // in a dry run: would be
  std::uint64_t copied_bytes = 0;
  std::uint64_t unchanged = 0;
  std::uint64_t removed = 0;
  std::uint64_t metadata_dropped = 0;
  std::uint64_t failed = 0;
  std::vector<TransferFailure> failures;  // by name
  // Why not everything was looked at: a listing failed, or the context ended.
  std::optional<Error> stopped;

  bool ok() const noexcept { return failed == 0 && !stopped; }
};

TransferReport transfer(const Folder& source, const Folder& target, const TransferOptions& options,
                        Executor& executor, const Context& context);

// One object to copy, for callers that name what they want.
struct CopyRequest {
  ObjectStore* source = nullptr;
  std::string source_name;
  ObjectStore* target = nullptr;
  std::string target_name;
};
// Copies all of them, unchanged or not; uses durability and observer of the options. Failures carry
// the name in the source.
TransferReport copy_objects(std::span<const CopyRequest> requests, const TransferOptions& options,
                            Executor& executor, const Context& context);

// Removes every object of a folder; uses mode, filter and observer of the options.
TransferReport remove_folder(const Folder& folder, const TransferOptions& options,
                             Executor& executor, const Context& context);

}  // namespace leat
