#include "leat/local/placement.h"

#include "leat/base/hash.h"

namespace leat::local {

std::uint64_t placement_score(std::string_view key, std::string_view drive_id) noexcept {
  return xxh3_64(key.substr(0, key.find('\0')), xxh3_64(drive_id, 0));
}

}  // namespace leat::local
