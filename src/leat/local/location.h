// Location and Place: where in a drive's packs a record is.
#pragma once

#include <algorithm>
#include <cstdint>

namespace leat::local {

inline constexpr std::uint64_t kBlockBytes = 512;  // tar's, and the unit of everything in a pack
inline constexpr std::uint64_t kTarEndBytes = 2 * kBlockBytes;  // two blocks of zeros end a tar

// The first block of a record. Packs are numbered from 1; {0, 0} is nowhere.
struct Location {
  std::uint32_t pack = 0;
  std::uint32_t block = 0;

  std::uint64_t offset_bytes() const noexcept { return block * kBlockBytes; }
  bool operator==(const Location&) const = default;
  auto operator<=>(const Location&) const = default;
};

inline constexpr std::uint32_t kMaxPacks = (1u << 20) - 1;
inline constexpr std::uint64_t kMaxPackBytes = (std::uint64_t{1} << 22) * kBlockBytes;

// A Location with the record's length and a few facts, in eight bytes.
class Place {
 public:
  Place() = default;
  Place(Location location, std::uint64_t length_bytes, std::uint64_t flags)
      : bits_(std::uint64_t{location.pack} << 44 | std::uint64_t{location.block} << 22 |
              std::min(length_bytes / kBlockBytes, kLongRecord) << 10 | flags) {}
  static Place from_bits(std::uint64_t bits) noexcept {
    Place place;
    place.bits_ = bits;
    return place;
  }

  std::uint64_t bits() const noexcept { return bits_; }
  Location location() const noexcept {
    return {static_cast<std::uint32_t>(bits_ >> 44),
            static_cast<std::uint32_t>(bits_ >> 22 & ((1u << 22) - 1))};
  }
  // 0 when the record is too long to say: its head tells.
  std::uint64_t length_bytes() const noexcept {
    const std::uint64_t blocks = bits_ >> 10 & kLongRecord;
    return blocks == kLongRecord ? 0 : blocks * kBlockBytes;
  }
  // For estimates: the length, or the little that is known of it.
  std::uint64_t counted_bytes() const noexcept {
    return std::max(length_bytes(), kLongRecord * kBlockBytes * (length_bytes() == 0));
  }
  bool is_tombstone() const noexcept { return (bits_ & kTombstoneBit) != 0; }
  // Files of the record may belong to other records, too.
  bool is_shared() const noexcept { return (bits_ & kSharedBit) != 0; }
  // An object with one header, whose name field alone is the key.
  bool is_plain() const noexcept { return (bits_ & kPlainBit) != 0; }

  // What follows is learned by reading the record, and never stored.
  // The bytes were checked against their checksum by this process.
  bool is_verified() const noexcept { return (bits_ & kVerifiedBit) != 0; }
  Place verified() const noexcept { return from_bits(bits_ | kVerifiedBit); }
  // The object's bytes are not in the record.
  bool is_large() const noexcept { return (bits_ & kLargeBit) != 0; }
  Place large() const noexcept { return from_bits(bits_ | kLargeBit); }
  // How much of the record stands before the header whose name field alone is the key: the pax
  // header of an object with metadata. 0: nothing, or nobody knows.
  std::uint64_t extension_bytes() const noexcept {
    return (bits_ >> kExtensionShift & kMostExtensionBlocks) * kBlockBytes;
  }
  // Nothing changes when it is too long to say.
  Place with_extension(std::uint64_t bytes) const noexcept {
    const std::uint64_t blocks = bytes / kBlockBytes;
    return blocks > kMostExtensionBlocks ? *this : from_bits(bits_ | blocks << kExtensionShift);
  }
  // An object whose header with the key in its name field is known to be at extension_bytes().
  bool has_known_header() const noexcept { return is_plain() || extension_bytes() != 0; }
  // Without what was learned.
  Place unverified() const noexcept { return from_bits(bits_ & ~kLearnedBits); }

  // 20 bits of pack, 22 of block, 12 of length, 10 of flags.
  static constexpr std::uint64_t kTombstoneBit = 1;
  static constexpr std::uint64_t kVerifiedBit = 2;
  static constexpr std::uint64_t kSharedBit = 4;
  static constexpr std::uint64_t kPlainBit = 8;
  static constexpr std::uint64_t kLargeBit = 16;
  static constexpr int kExtensionShift = 5;
  static constexpr std::uint64_t kMostExtensionBlocks = 31;
  static constexpr std::uint64_t kLearnedBits =
      kVerifiedBit | kLargeBit | kMostExtensionBlocks << kExtensionShift;

 private:
  static constexpr std::uint64_t kLongRecord = (1u << 12) - 1;
  std::uint64_t bits_ = 0;
};

}  // namespace leat::local
