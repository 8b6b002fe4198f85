// Work in the background at a given rate.
#pragma once

#include <cstdint>

#include "leat/base/context.h"

namespace leat::local {

// Waits until `done_bytes` since `start` are no more than `bytes_per_second` allows. 0: no limit.
Status keep_pace(std::uint64_t done_bytes, MonotonicTime start, std::uint64_t bytes_per_second,
                 const Context& context);

}  // namespace leat::local
