// One 512-byte tar header, taken apart and put together.
//
// Everything Leat says about tar at the byte level is here: shards that people upload, shards that
// we write, and the packs of the local store (which are tar files) all go through this codec.
//
// Reading accepts what is found in the wild: v7 (no magic), ustar (pax uses it too) and GNU;
// numbers in octal or in GNU's base-256; checksums over unsigned or signed bytes. Writing is the
// strict form that every tar reads: ustar, octal, and base-256 only for a number that octal cannot
// hold (a size from 8 GiB on, a time before 1970).
//
// Nothing here allocates, except for the text of an Error. Functions are pure and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "leat/base/result.h"

namespace leat {

inline constexpr std::size_t kTarBlockBytes = 512;

// The fields of a header. A writer may put bytes of its own into the link name of a regular file
// (readers ignore it there) between format_header() and finish_checksum().
inline constexpr std::size_t kNameOffset = 0;
inline constexpr std::size_t kNameBytes = 100;
inline constexpr std::size_t kModeOffset = 100;
inline constexpr std::size_t kModeBytes = 8;
inline constexpr std::size_t kUserIdOffset = 108;
inline constexpr std::size_t kUserIdBytes = 8;
inline constexpr std::size_t kGroupIdOffset = 116;
inline constexpr std::size_t kGroupIdBytes = 8;
inline constexpr std::size_t kSizeOffset = 124;
inline constexpr std::size_t kSizeBytes = 12;
inline constexpr std::size_t kMtimeOffset = 136;
inline constexpr std::size_t kMtimeBytes = 12;
inline constexpr std::size_t kChecksumOffset = 148;
inline constexpr std::size_t kChecksumBytes = 8;
inline constexpr std::size_t kTypeFlagOffset = 156;
inline constexpr std::size_t kLinkNameOffset = 157;
inline constexpr std::size_t kLinkNameBytes = 100;
inline constexpr std::size_t kMagicOffset = 257;
inline constexpr std::size_t kMagicBytes = 8;  // with the two bytes of the version
inline constexpr std::size_t kUserNameOffset = 265;
inline constexpr std::size_t kUserNameBytes = 32;
inline constexpr std::size_t kGroupNameOffset = 297;
inline constexpr std::size_t kGroupNameBytes = 32;
inline constexpr std::size_t kDeviceMajorOffset = 329;
inline constexpr std::size_t kDeviceMajorBytes = 8;
inline constexpr std::size_t kDeviceMinorOffset = 337;
inline constexpr std::size_t kDeviceMinorBytes = 8;
inline constexpr std::size_t kPrefixOffset = 345;
inline constexpr std::size_t kPrefixBytes = 155;
// Old GNU sparse files: whether a block with more of the map follows the header, or such a block.
inline constexpr std::size_t kSparseExtendedOffset = 482;
inline constexpr std::size_t kSparseMapExtendedOffset = 504;

enum class TarFormat : std::uint8_t { kV7, kUstar, kGnu };

// The type flag. A header may hold any other character as well.
enum class TarType : char {
  kRegular = '0',
  kRegularV7 = '\0',
  kHardLink = '1',
  kSymbolicLink = '2',
  kCharacterDevice = '3',
  kBlockDevice = '4',
  kDirectory = '5',
  kFifo = '6',
  kContiguous = '7',
  kPaxHeader = 'x',
  kPaxGlobalHeader = 'g',
  kSolarisPaxHeader = 'X',
  kGnuLongName = 'L',
  kGnuLongLink = 'K',
  kGnuSparse = 'S',
};

struct TarHeader {
  std::string_view name;    // up to kNameBytes are written
  std::string_view prefix;  // up to kPrefixBytes; the full name is prefix + "/" + name
  std::string_view link_name;
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_s = 0;
  std::uint32_t mode = 0644;
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  TarType type = TarType::kRegular;
  TarFormat format = TarFormat::kUstar;
};

using TarBlock = std::span<std::byte, kTarBlockBytes>;
using ConstTarBlock = std::span<const std::byte, kTarBlockBytes>;

// The texts of the result are views into `block`. The owner is read as 0 when it is garbage, since
// nobody uses it. kCorrupted when the checksum is wrong or a number that matters cannot be read,
// kTooLarge when it does not fit into 63 bits.
Result<TarHeader> parse_header(ConstTarBlock block);

// Fills `block`, all but the checksum. Texts that are too long are cut: their full value belongs
// into a pax header before this one (see split_name()). REQUIRES: size_bytes <= INT64_MAX.
void format_header(TarBlock block, const TarHeader& header) noexcept;
// To be called last: the checksum covers every other byte.
void finish_checksum(TarBlock block) noexcept;

// How a name is stored in a ustar header.
struct SplitName {
  std::string_view prefix;
  std::string_view name;
};
// Nothing when `name` needs a pax header: it is too long, or has no '/' at the right place.
std::optional<SplitName> split_name(std::string_view name) noexcept;

bool is_zero_block(ConstTarBlock block) noexcept;

// Whether the size of a header of this type says how many bytes follow. For links, directories and
// devices it is a hint or nonsense.
bool has_data(TarType type) noexcept;

// The bytes that `size_bytes` of data take up in an archive. REQUIRES: size_bytes <= INT64_MAX.
constexpr std::uint64_t padded_size(std::uint64_t size_bytes) noexcept {
  return (size_bytes + kTarBlockBytes - 1) / kTarBlockBytes * kTarBlockBytes;
}

}  // namespace leat
