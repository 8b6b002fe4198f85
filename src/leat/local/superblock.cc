#include "leat/local/superblock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>

#include "leat/base/hex.h"
#include "leat/local/checked_text.h"
#include "leat/local/layout.h"

namespace leat::local {
namespace {

constexpr std::string_view kMagic = "leat-store";
constexpr std::uint64_t kMaxBytes = 64 << 10;

// "key value" lines.
Result<std::map<std::string, std::string, std::less<>>> parse_lines(std::string_view text) {
  const Error damaged(ErrorCode::kCorrupted, fmt::format("{} is damaged", kSuperblockFile));
  const auto checked = checked_lines(text);
  if (!checked) return damaged;
  std::map<std::string, std::string, std::less<>> lines;
  for (const std::string_view line : *checked) {
    const std::size_t space = line.find(' ');
    if (space == line.npos) return damaged;
    lines.emplace(line.substr(0, space), line.substr(space + 1));
  }
  return lines;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!word.empty()) words.emplace_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

}  // namespace

Result<Superblock> read_superblock(FileSystem& files) {
  ASSIGN_OR_RETURN(auto bytes, files.read_file(kSuperblockFile, kMaxBytes));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  ASSIGN_OR_RETURN(auto lines, parse_lines(text));
  Superblock block;
  const auto number = [&](std::string_view key) -> Result<std::uint64_t> {
    const auto value = parse_hex_u64(lines[std::string(key)]);
    if (value.ok()) return *value;
    return Error(ErrorCode::kCorrupted, fmt::format("{} does not say '{}'", kSuperblockFile, key));
  };
  ASSIGN_OR_RETURN(auto version, number(kMagic));
  block.format_version = static_cast<std::uint32_t>(version);
  // What a newer format says beyond its version is not known here.
  if (version == kFormatVersion) {
    ASSIGN_OR_RETURN(block.features, number("features"));
  }
  if (version != kFormatVersion || block.features != 0) {
    return Error(
        ErrorCode::kUnsupported,
        fmt::format("{}: format {} with features {:x}; this program knows format {} and no "
                    "features: use a newer leat",
                    files.root(), version, block.features, kFormatVersion));
  }
  ASSIGN_OR_RETURN(block.epoch, number("epoch"));
  ASSIGN_OR_RETURN(block.set_epoch, number("set-epoch"));
  block.store_id = lines["store"];
  block.drive_id = lines["drive"];
  block.drive_ids = split_words(lines["drives"]);
  block.is_settled = lines["settled"] == "yes";
  block.is_draining = lines["draining"] == "yes";
  block.is_clean = lines["clean"] == "yes";
  return block;
}

Status write_superblock(FileSystem& files, const Superblock& block) {
  std::string text = fmt::format(
      "{} {:016x}\nfeatures {:016x}\nstore {}\ndrive {}\nepoch {:016x}\nset-epoch {:016x}\n"
      "drives {}\nsettled {}\ndraining {}\nclean {}\n",
      kMagic, block.format_version, block.features, block.store_id, block.drive_id, block.epoch,
      block.set_epoch, fmt::join(block.drive_ids, " "), block.is_settled ? "yes" : "no",
      block.is_draining ? "yes" : "no", block.is_clean ? "yes" : "no");
  text = with_checksum(std::move(text));
  return files.replace_file(kSuperblockFile, std::as_bytes(std::span(text)));
}

Result<std::string> random_id() {
  std::array<std::byte, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return Error::from_errno(errno, "getrandom");
  }
  return to_hex(bytes);
}

}  // namespace leat::local
