// The two hashes of the system: xxh3 to spread names and look things up, crc32c to prove bytes.
//
// Both are pinned: their values are part of formats on disk and of placement, and golden tests
// hold them. Neither resists an adversary who chooses the bytes. Pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace leat {

// XXH3, 64 bits.
std::uint64_t xxh3_64(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;
std::uint64_t xxh3_64(std::string_view bytes, std::uint64_t seed = 0) noexcept;

// CRC-32C (Castagnoli) as in iSCSI, ext4 and S3. Starts from 0 and goes on from an earlier value:
// crc32c(crc32c(0, a), b) is the checksum of a followed by b.
std::uint32_t crc32c(std::uint32_t crc, std::span<const std::byte> bytes) noexcept;

// The checksum of a followed by b from those of a and b alone, so that the checksums of blocks
// make the checksum of the object without a second look at its bytes. Tens of nanoseconds.
std::uint32_t crc32c_combine(std::uint32_t crc_a, std::uint32_t crc_b,
                             std::uint64_t length_b) noexcept;

}  // namespace leat
