#include "leat/local/pace.h"

#include <algorithm>
#include <chrono>

namespace leat::local {

Status keep_pace(std::uint64_t done_bytes, MonotonicTime start, std::uint64_t bytes_per_second,
                 const Context& context) {
  if (bytes_per_second == 0) return ok_status();
  constexpr auto kStep = std::chrono::milliseconds(50);
  const auto due =
      start + std::chrono::nanoseconds(done_bytes * 1'000 / bytes_per_second * 1'000'000);
  for (auto now = context.clock().now(); now < due; now = context.clock().now()) {
    RETURN_IF_ERROR(context.check());
    context.clock().sleep_for(std::min<std::chrono::nanoseconds>(due - now, kStep));
  }
  return ok_status();
}

}  // namespace leat::local
