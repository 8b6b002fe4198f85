// CRCs that protocols ask for, beside the crc32c of hash.h: CRC-32 (gzip, zip, S3) and CRC-64/NVME
// (S3's default).
//
// Each starts from 0 and goes on from an earlier value, and the checksum of a followed by b can be
// had from those of a and b alone. Pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace leat {

std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes) noexcept;
std::uint64_t crc64nvme(std::uint64_t crc, std::span<const std::byte> bytes) noexcept;

// About a microsecond.
std::uint32_t crc32_combine(std::uint32_t crc_a, std::uint32_t crc_b,
                            std::uint64_t length_b) noexcept;
std::uint64_t crc64nvme_combine(std::uint64_t crc_a, std::uint64_t crc_b,
                                std::uint64_t length_b) noexcept;

}  // namespace leat
