// StoreOperation: the calls of the interface, for decorators that count, fail or delay them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace leat {

enum class StoreOperation : std::uint8_t {
  kStat,
  kList,
  kOpen,
  kRead,          // ObjectReader::read_at
  kLocalExtents,  // ObjectReader::local_extents
  kCreate,
  kAppend,  // ObjectWriter::append
  kCommit,  // ObjectWriter::commit
  kRemove,
  kReadBatch,  // the call as a whole
  kBatchItem,  // each read of a batch
  kCopy,
};
inline constexpr std::size_t kStoreOperationCount =
    static_cast<std::size_t>(StoreOperation::kCopy) + 1;

// Stable: appears in metrics. "stat", "read_batch" …
std::string_view operation_name(StoreOperation operation) noexcept;

}  // namespace leat
