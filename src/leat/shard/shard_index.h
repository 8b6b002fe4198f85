// ShardIndex: where each member of a tar shard lies, so that every sample is addressable alone.
//
// The index of a shard is one blob, made while the shard is written (ShardIndexBuilder is a
// TarVisitor) and kept with it. Decoding checks everything and then only looks at the blob: no
// member costs an allocation, and 38 bytes plus the name is all it takes in memory and on disk.
//
// The blob, little-endian:
//     0  "LEATSIDX"
//     8  u32 version (1)      12  u32 feature bits (0; an unknown bit is refused)
//    16  u64 bytes of the shard that is described
//    24  u64 number of members, n        32  u64 bytes of the names, m
//    40  u32 crc32c of the member table  44  u32 crc32c of the names
//    48  u32 crc32c of the hash table    52  8 bytes 0
//    60  u32 crc32c of the 60 bytes before: with the three above it covers the whole blob
//    64  n members of 32 bytes: u64 data offset, u64 size, i64 mtime in ns, u32 crc32c of the
//        data, u32 offset of the name among the names
//        n + n/2 + 1 slots of 4 bytes: the position of a member in the low 25 bits and 7 bits of
//        its name's hash above them, or all ones
//        m bytes of names, one after another, in the order of the members
//
// A member's slot is the first free one from place h on, with h the high half of the xxh3 of its
// name scaled to the number of slots; its 7 bits are the lowest of that hash. Members go in by
// position; one that meets 64 taken slots gets none, and is found by binary search.
//
// Invariants: names are not empty, hold no NUL, are strictly ascending in byte order and lie end to
// end, so a name ends where the next begins; data lies at a block boundary, after a header, within
// the shard.
//
// A ShardIndex is immutable, hence thread-safe. A builder is for one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/shard/tar_scanner.h"
#include "leat/store/object_store.h"

namespace leat {

// An archive beyond these is stored, but not as a shard: they bound what an upload can make us
// remember while it is scanned.
inline constexpr std::uint64_t kMaxShardMembers = (1 << 25) - 1;
inline constexpr std::uint64_t kMaxShardNameBytes = std::uint64_t{1} << 31;

struct ShardMember {
  std::string_view name;
  std::uint64_t data_offset = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  std::uint32_t crc32c = 0;
};

class ShardIndex {
 public:
  // kCorrupted for anything that a builder would not write, kUnsupported for a newer format.
  static Result<ShardIndex> decode(std::vector<std::byte> blob);

  std::size_t size() const noexcept { return count_; }
  std::uint64_t shard_bytes() const noexcept { return shard_bytes_; }
  std::span<const std::byte> blob() const noexcept { return blob_; }

  // Members are numbered in byte order of their names. REQUIRES: position < size().
  ShardMember member(std::size_t position) const noexcept;
  // The name alone. REQUIRES: position < size().
  std::string_view name(std::size_t position) const noexcept;
  // Position of the first member whose name is not less than `name`; size() if there is none.
  std::size_t seek(std::string_view name) const noexcept;
  // By hash: about three cache misses, however many members there are.
  std::optional<ShardMember> find(std::string_view name) const noexcept;

 private:
  explicit ShardIndex(std::vector<std::byte> blob) : blob_(std::move(blob)) {}
  Status read_header();
  Status check_checksums() const;
  Status check_members() const;
  Status check_slots() const;
  std::optional<ShardMember> find_by_search(std::string_view name) const noexcept;
  const std::byte* entry(std::size_t position) const noexcept;

  std::vector<std::byte> blob_;
  std::size_t count_ = 0;
  std::size_t slots_at_ = 0;
  std::size_t names_at_ = 0;
  std::uint64_t shard_bytes_ = 0;
};

// Collects the members of a shard in the order in which they come by.
class ShardIndexBuilder final : public TarVisitor {
 public:
  // kTooLarge beyond kMaxShardMembers and kMaxShardNameBytes.
  Status add(const ShardMember& member);
  Status end_member(const TarEntry& entry) override;

  std::size_t size() const noexcept { return entries_.size(); }
  // The blob. Of several members with one name the last wins, as when tar extracts them.
  std::vector<std::byte> finish(std::uint64_t shard_bytes) &&;

 private:
  struct Entry {
    std::uint64_t data_offset;
    std::uint64_t size_bytes;
    std::int64_t mtime_ns;
    std::uint32_t crc32c;
    std::uint32_t name_begin;
    std::uint32_t name_bytes;
  };
  std::string_view name_of(const Entry& entry) const noexcept;
  // Sorted, each name once.
  void settle_entries();
  void write_members(std::byte* table, std::byte* names) const;
  void write_slots(std::span<std::uint32_t> slots) const;

  std::vector<Entry> entries_;
  std::string names_;
};

// The index of a shard that is already somewhere, made by reading all of it.
struct IndexedShard {
  std::vector<std::byte> blob;
  TarSummary summary;
};
Result<IndexedShard> index_shard(ObjectReader& shard, const Context& context);

}  // namespace leat
