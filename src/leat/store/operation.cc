#include "leat/store/operation.h"

#include <array>

namespace leat {

std::string_view operation_name(StoreOperation operation) noexcept {
  // In the order of the enum.
  constexpr std::array<std::string_view, kStoreOperationCount> kNames = {
      "stat",   "list",   "open",   "read",       "local_extents", "create",
      "append", "commit", "remove", "read_batch", "batch_item",    "copy"};
  return kNames[static_cast<std::size_t>(operation)];
}

}  // namespace leat
