// Whether bytes of a file are in the page cache, so that sending them waits for no disk.
#pragma once

#include <cstdint>

namespace leat::doors::http {

// False when the kernel cannot tell.
bool is_resident(int descriptor, std::uint64_t offset, std::uint64_t length) noexcept;

}  // namespace leat::doors::http
