#include "leat/shard/tar_header.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "leat/base/check.h"

namespace leat {
namespace {

constexpr std::string_view kUstarMagic{
    "ustar\0"
    "00",
    kMagicBytes};
constexpr std::string_view kGnuMagic{"ustar  \0", kMagicBytes};
constexpr std::size_t kSignificantMagicBytes = 6;  // some writers leave the version out

std::string_view field(ConstTarBlock block, std::size_t offset, std::size_t length) {
  return {reinterpret_cast<const char*>(block.data()) + offset, length};
}

// A text field ends at the first NUL, or is full.
std::string_view text_field(ConstTarBlock block, std::size_t offset, std::size_t length) {
  const std::string_view whole = field(block, offset, length);
  return whole.substr(0, whole.find('\0'));
}

Error bad_number(std::string_view what) {
  return Error(ErrorCode::kCorrupted,
               "the " + std::string(what) + " of a tar header is not a number");
}

// GNU's binary form: the top bit marks it, the rest is one big-endian two's complement number.
Result<std::int64_t> parse_base256(std::string_view digits, std::string_view what) {
  const auto first = static_cast<unsigned char>(digits.front());
  const bool negative = (first & 0x40) != 0;
  std::int64_t value =
      negative ? static_cast<std::int64_t>(first | ~std::uint64_t{0x7f}) : first & 0x7f;
  for (const char digit : digits.substr(1)) {
    if (value > (INT64_MAX >> 8) || value < (INT64_MIN >> 8)) {
      return Error(ErrorCode::kTooLarge,
                   "the " + std::string(what) + " of a tar header does not fit into 63 bits");
    }
    value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << 8 |
                                      static_cast<unsigned char>(digit));
  }
  return value;
}

// At most 12 octal digits, so it cannot overflow. A blank field is 0, as in the headers of old
// tars; some of those also began a field with one NUL.
Result<std::int64_t> parse_octal(std::string_view digits, std::string_view what) {
  if (digits.front() == '\0') digits.remove_prefix(1);
  while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
  std::int64_t value = 0;
  for (const char digit : digits) {
    if (digit == ' ' || digit == '\0') break;
    if (digit < '0' || digit > '7') return bad_number(what);
    value = value << 3 | (digit - '0');
  }
  return value;
}

Result<std::int64_t> parse_number(std::string_view digits, std::string_view what) {
  if ((static_cast<unsigned char>(digits.front()) & 0x80) != 0) return parse_base256(digits, what);
  return parse_octal(digits, what);
}

std::uint32_t parse_owner(std::string_view digits) {
  const auto value = parse_number(digits, "owner");
  return value.ok() && *value >= 0 && *value <= UINT32_MAX ? static_cast<std::uint32_t>(*value) : 0;
}

// The sum of all bytes, with the checksum's own field taken as spaces. Eight at a time: even and
// odd bytes add up in lanes of 16 bits, which 64 words do not overflow.
std::uint32_t unsigned_sum(ConstTarBlock block) noexcept {
  constexpr std::uint64_t kEvenBytes = 0x00ff00ff00ff00ff;
  constexpr std::uint64_t kSpaces = 0x2020202020202020;
  static_assert(kChecksumBytes == sizeof kSpaces);
  std::uint64_t even = 0;
  std::uint64_t odd = 0;
  const auto add = [&](std::uint64_t word) {
    even += word & kEvenBytes;
    odd += word >> 8 & kEvenBytes;
  };
  std::uint64_t word = 0;
  for (std::size_t offset = 0; offset < kTarBlockBytes; offset += sizeof word) {
    std::memcpy(&word, block.data() + offset, sizeof word);
    add(word);
  }
  add(kSpaces);
  std::memcpy(&word, block.data() + kChecksumOffset, sizeof word);
  even -= word & kEvenBytes;  // each of its lanes is part of the sum, so none goes below 0
  odd -= word >> 8 & kEvenBytes;
  const auto lanes = [](std::uint64_t sums) {
    return (sums & 0xffff) + (sums >> 16 & 0xffff) + (sums >> 32 & 0xffff) + (sums >> 48);
  };
  return static_cast<std::uint32_t>(lanes(even) + lanes(odd));
}

std::int32_t signed_sum(ConstTarBlock block) noexcept {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < kTarBlockBytes; ++i) {
    const bool in_checksum = i >= kChecksumOffset && i < kChecksumOffset + kChecksumBytes;
    sum += in_checksum ? ' ' : static_cast<signed char>(block[i]);
  }
  return sum;
}

Status verify_checksum(ConstTarBlock block) {
  ASSIGN_OR_RETURN(const std::int64_t stored,
                   parse_octal(field(block, kChecksumOffset, kChecksumBytes), "checksum"));
  // The signed sum is the mistake of some old tars; it differs only for bytes over 127.
  if (stored == unsigned_sum(block) || stored == signed_sum(block)) return ok_status();
  return Error(ErrorCode::kCorrupted, "the checksum of a tar header is wrong");
}

TarFormat format_of(ConstTarBlock block) {
  const std::string_view magic = field(block, kMagicOffset, kSignificantMagicBytes);
  if (magic == kUstarMagic.substr(0, kSignificantMagicBytes)) return TarFormat::kUstar;
  if (magic == kGnuMagic.substr(0, kSignificantMagicBytes)) return TarFormat::kGnu;
  return TarFormat::kV7;
}

void put_text(TarBlock block, std::size_t offset, std::size_t length,
              std::string_view text) noexcept {
  if (!text.empty()) std::memcpy(block.data() + offset, text.data(), std::min(text.size(), length));
}

// Octal with a closing NUL when it fits, else base-256.
void put_number(TarBlock block, std::size_t offset, std::size_t length,
                std::int64_t value) noexcept {
  std::byte* const at = block.data() + offset;
  const std::size_t digits = length - 1;
  if (value >= 0 && (value >> (3 * digits)) == 0) {
    for (std::size_t i = digits; i-- > 0; value >>= 3) {
      at[i] = static_cast<std::byte>('0' + (value & 7));
    }
    at[digits] = std::byte{0};
    return;
  }
  for (std::size_t i = length; i-- > 0; value >>= 8) at[i] = static_cast<std::byte>(value & 0xff);
  at[0] |= std::byte{0x80};
}

}  // namespace

Result<TarHeader> parse_header(ConstTarBlock block) {
  RETURN_IF_ERROR(verify_checksum(block));
  TarHeader header;
  header.format = format_of(block);
  header.type = static_cast<TarType>(block[kTypeFlagOffset]);
  header.name = text_field(block, kNameOffset, kNameBytes);
  header.link_name = text_field(block, kLinkNameOffset, kLinkNameBytes);
  // GNU keeps times and the sparse map where ustar has the prefix.
  if (header.format == TarFormat::kUstar) {
    header.prefix = text_field(block, kPrefixOffset, kPrefixBytes);
  }
  ASSIGN_OR_RETURN(const std::int64_t size,
                   parse_number(field(block, kSizeOffset, kSizeBytes), "size"));
  if (size < 0) return Error(ErrorCode::kCorrupted, "the size of a tar header is negative");
  header.size_bytes = static_cast<std::uint64_t>(size);
  ASSIGN_OR_RETURN(header.mtime_s, parse_number(field(block, kMtimeOffset, kMtimeBytes), "mtime"));
  ASSIGN_OR_RETURN(const std::int64_t mode,
                   parse_number(field(block, kModeOffset, kModeBytes), "mode"));
  // Some tars store the file type as well.
  header.mode = static_cast<std::uint32_t>(mode) & 07777;
  header.user_id = parse_owner(field(block, kUserIdOffset, kUserIdBytes));
  header.group_id = parse_owner(field(block, kGroupIdOffset, kGroupIdBytes));
  return header;
}

void format_header(TarBlock block, const TarHeader& header) noexcept {
  CHECK(header.size_bytes <= INT64_MAX);
  std::memset(block.data(), 0, block.size());
  put_text(block, kNameOffset, kNameBytes, header.name);
  put_text(block, kLinkNameOffset, kLinkNameBytes, header.link_name);
  put_number(block, kModeOffset, kModeBytes, header.mode & 07777);
  put_number(block, kUserIdOffset, kUserIdBytes, header.user_id);
  put_number(block, kGroupIdOffset, kGroupIdBytes, header.group_id);
  put_number(block, kSizeOffset, kSizeBytes, static_cast<std::int64_t>(header.size_bytes));
  put_number(block, kMtimeOffset, kMtimeBytes, header.mtime_s);
  block[kTypeFlagOffset] = static_cast<std::byte>(header.type);
  if (header.format == TarFormat::kV7) return;
  put_text(block, kMagicOffset, kMagicBytes,
           header.format == TarFormat::kUstar ? kUstarMagic : kGnuMagic);
  if (header.format == TarFormat::kGnu) return;
  put_number(block, kDeviceMajorOffset, kDeviceMajorBytes, 0);
  put_number(block, kDeviceMinorOffset, kDeviceMinorBytes, 0);
  put_text(block, kPrefixOffset, kPrefixBytes, header.prefix);
}

void finish_checksum(TarBlock block) noexcept {
  // The traditional form: six digits, a NUL, a space. 512 * 255 needs six digits.
  constexpr std::size_t kDigits = 6;
  std::uint32_t sum = unsigned_sum(block);
  std::byte* const at = block.data() + kChecksumOffset;
  for (std::size_t i = kDigits; i-- > 0; sum >>= 3) at[i] = static_cast<std::byte>('0' + (sum & 7));
  at[kDigits] = std::byte{0};
  at[kDigits + 1] = std::byte{' '};
}

std::optional<SplitName> split_name(std::string_view name) noexcept {
  if (name.size() <= kNameBytes) return SplitName{{}, name};
  // The '/' at the split is not stored. The first one that leaves a short enough name gives the
  // shortest prefix; neither part may be empty.
  const std::size_t slash = name.find('/', name.size() - kNameBytes - 1);
  if (slash == std::string_view::npos || slash == 0 || slash > kPrefixBytes) return std::nullopt;
  if (slash + 1 == name.size()) return std::nullopt;
  return SplitName{name.substr(0, slash), name.substr(slash + 1)};
}

bool is_zero_block(ConstTarBlock block) noexcept {
  std::uint64_t any = 0;
  for (std::size_t offset = 0; offset < kTarBlockBytes; offset += sizeof any) {
    std::uint64_t word = 0;
    std::memcpy(&word, block.data() + offset, sizeof word);
    any |= word;
  }
  return any == 0;
}

bool has_data(TarType type) noexcept {
  switch (type) {
    case TarType::kHardLink:
    case TarType::kSymbolicLink:
    case TarType::kCharacterDevice:
    case TarType::kBlockDevice:
    case TarType::kDirectory:
    case TarType::kFifo:
      return false;
    default:
      return true;
  }
}

}  // namespace leat
