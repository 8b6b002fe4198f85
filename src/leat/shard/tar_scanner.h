// TarScanner: finds the members of a tar stream while it passes by.
//
// A shard that is put is indexed as its bytes arrive, in whatever pieces they arrive: nothing is
// read twice and no member is held in memory. Feed every byte in order, then call finish().
//
// A member is a regular file whose bytes lie in the archive one after another; it is reported with
// its place and the crc32c of its data. Links, devices and directories are counted and skipped, and
// so are sparse files: their bytes are not addressable as one range.
//
// Understood: v7, ustar, pax (x and g: path, size, mtime, GNU.sparse.*; other keys are ignored),
// GNU long names (L, K), base-256 numbers, old GNU sparse headers. The end is two zero blocks, and
// what follows is ignored. As with GNU tar, one zero block is an end too, but is noted when
// something follows it, and an archive may lack its end when it stops between two members.
//
// Names: "./" and "/" are taken off the front, nothing else is changed. A name is only a key here:
// ".." and the like stay, and shard_extract.h refuses them.
//
// Hostile input gives an Error that says at which byte and why, the same for every chunking.
// Memory is bounded by kMaxExtendedHeaderBytes per pending header, whatever the input says.
// For one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/shard/tar_header.h"
#include "leat/store/object_store.h"

namespace leat {

// A longer pax header or GNU long name is refused.
inline constexpr std::size_t kMaxExtendedHeaderBytes = 1 << 20;

// One entry of an archive. The texts are valid during the visitor's call only.
struct TarEntry {
  std::string_view name;         // without "./" and "/" in front: the key of the member
  std::string_view stored_name;  // as the archive has it
  std::uint64_t data_offset = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  std::uint32_t mode = 0;
  TarType type = TarType::kRegular;
  std::uint32_t crc32c = 0;  // known in end_member()
};

// Receives what the scanner finds. An Error ends the scan and is handed to who feeds.
class TarVisitor {
 public:
  virtual ~TarVisitor() = default;

  // begin, data …, end; never nested.
  virtual Status begin_member(const TarEntry& entry);
  virtual Status member_data(std::span<const std::byte> bytes);
  virtual Status end_member(const TarEntry& entry) = 0;
  // A link, device, directory or sparse file.
  virtual Status skip_entry(const TarEntry& entry);
};

struct TarSummary {
  std::uint64_t members = 0;
  std::uint64_t links = 0;  // hard and symbolic
  std::uint64_t directories = 0;
  std::uint64_t sparse = 0;
  std::uint64_t others = 0;  // devices and types that we do not know
  std::uint64_t stream_bytes = 0;
  bool has_end = false;          // two zero blocks were seen
  bool lone_zero_block = false;  // one was, and something else or nothing after it

  bool operator==(const TarSummary&) const = default;
};

class TarScanner {
 public:
  // `visitor` must outlive the scanner.
  explicit TarScanner(TarVisitor& visitor) : visitor_(visitor) {}
  TarScanner(const TarScanner&) = delete;
  TarScanner& operator=(const TarScanner&) = delete;

  // After an Error every further call returns the same one.
  Status feed(std::span<const std::byte> bytes);
  // The stream ends here. kCorrupted when that is in the middle of something, or at its start.
  Result<TarSummary> finish();
  const TarSummary& summary() const noexcept { return summary_; }

 private:
  enum class State : std::uint8_t { kHeader, kExtended, kSparseMap, kData, kPassOver, kEnd };

  // What pax and GNU headers say about the next member, or about all that follow.
  struct Overrides {
    std::optional<std::string> path;
    std::optional<std::uint64_t> size_bytes;
    std::optional<std::int64_t> mtime_ns;
    bool sparse = false;

    Status apply(std::string_view key, std::string_view value);
  };

  enum class Skipped : std::uint8_t { kNo, kLink, kDirectory, kSparse, kOther };

  // Each takes bytes off the front of its argument.
  Status step(std::span<const std::byte>& bytes);
  Status take_block(std::span<const std::byte>& bytes);
  Status take_extended(std::span<const std::byte>& bytes);
  Status take_data(std::span<const std::byte>& bytes);
  void take_passed_over(std::span<const std::byte>& bytes);

  Status read_block(ConstTarBlock block);
  Status read_header(ConstTarBlock block);
  Status read_zero_block();
  void read_sparse_map(ConstTarBlock block);
  Status begin_extended(const TarHeader& header);
  Status apply_extended();
  Status apply_pax(Overrides& target);
  Status begin_entry(const TarHeader& header, ConstTarBlock block);
  Status describe_entry(const TarHeader& header);
  Status begin_member();
  Status end_member();
  Status skip_entry(Skipped skipped, ConstTarBlock block);
  Skipped skipped_kind() const;
  void forget_overrides();
  void pass_over(std::uint64_t bytes);

  TarVisitor& visitor_;
  TarSummary summary_;
  std::optional<Error> failure_;
  State state_ = State::kHeader;
  std::uint64_t offset_ = 0;         // bytes of the stream taken so far
  std::uint64_t header_offset_ = 0;  // of the header that is being dealt with
  std::uint64_t remaining_ = 0;      // bytes left in kExtended, kData and kPassOver; not 0 there

  // A block that arrives in pieces.
  std::array<std::byte, kTarBlockBytes> block_{};
  std::size_t block_fill_ = 0;

  TarType extended_type_ = TarType::kPaxHeader;
  std::string extended_;
  Overrides global_;
  Overrides next_;
  std::optional<std::string> gnu_long_name_;
  bool member_awaited_ = false;  // by an extended header
  bool zero_block_seen_ = false;

  std::string name_;
  TarEntry entry_;
};

// Reads a whole object through a scanner, in large pieces.
Result<TarSummary> scan_tar(ObjectReader& reader, TarVisitor& visitor, const Context& context);

}  // namespace leat
