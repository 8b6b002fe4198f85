// ShardMembers: the members of tar shards as objects.
//
// A shard's record names the number of its index, which is an object of the store's own next to
// it; no two indexes have one number. An index is made before its shard, and dropped after the
// shard was replaced or removed: a crash leaves at most an index that nobody names. One that is
// damaged or lost is made anew in memory from the shard itself, which costs a reading of the shard;
// rebuild_index() makes it anew in the store. Indexes that were used lately are kept in memory,
// within a budget. Thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "leat/base/mutex.h"
#include "leat/local/engine.h"
#include "leat/local/object_bytes.h"
#include "leat/shard/shard_index.h"
#include "leat/store/object_store.h"

namespace leat::local {

// Options of a shard's record.
inline constexpr std::string_view kShardOption = "shard";            // the index's number
inline constexpr std::string_view kNotAShardOption = "not-a-shard";  // why

std::string shard_index_key(std::string_view shard_key, std::uint64_t number);
// Which index a record names; nothing when the object is not a shard.
std::optional<std::uint64_t> index_number(const Record& shard);
// The key of the shard that an index was made for.
inline std::string_view shard_of_index(std::string_view index_key) noexcept {
  return index_key.substr(0, index_key.find('\0'));
}
// Whether a key is the store's own, such as an index: never listed, never opened by a user.
inline bool is_internal_key(std::string_view key) noexcept {
  return key.find('\0') != std::string_view::npos;
}

// A shard that is open: what its members need stays for as long as this is held.
struct OpenShard {
  std::string key;
  std::uint64_t generation = 0;
  std::shared_ptr<const ShardIndex> index;
  std::unique_ptr<ObjectBytes> bytes;
};

class ShardMembers {
 public:
  explicit ShardMembers(std::uint64_t cache_bytes) : cache_bytes_(cache_bytes) {}

  // The member that `key` ("bucket/shard.tar/member") names, if there is one.
  Result<std::optional<ObjectInfo>> stat(Engine& engine, std::string_view key,
                                         const Context& context) EXCLUDES(mutex_);
  // Null when there is no shard by this key.
  Result<std::shared_ptr<const OpenShard>> open_shard(Engine& engine, std::string_view shard_key,
                                                      const Context& context) EXCLUDES(mutex_);
  // The index that is in the store; null when the object is not a shard. kCorrupted when it is
  // damaged or lost.
  Result<std::shared_ptr<const ShardIndex>> stored_index(Engine& engine, std::string_view shard_key,
                                                         const Record& shard,
                                                         const Context& context);
  // Writes the index of a shard anew, by reading the shard.
  Status rebuild_index(Engine& engine, std::string_view shard_key, const Context& context);
  // The index of a shard; null when it is not one.
  Result<std::shared_ptr<const ShardIndex>> index_of(Engine& engine, std::string_view shard_key,
                                                     const Record& shard, const Context& context)
      EXCLUDES(mutex_);

 private:
  struct Cached {
    std::uint64_t number = 0;
    std::shared_ptr<const ShardIndex> index;
  };
  void keep(std::uint64_t number, std::shared_ptr<const ShardIndex> index) EXCLUDES(mutex_);

  const std::uint64_t cache_bytes_;
  Mutex mutex_;
  std::list<Cached> recent_ GUARDED_BY(mutex_);  // latest first
  std::map<std::uint64_t, std::list<Cached>::iterator> by_number_ GUARDED_BY(mutex_);
  std::uint64_t used_bytes_ GUARDED_BY(mutex_) = 0;
};

// Commits an index for a shard that will name it; returns its number.
Result<std::uint64_t> write_index(Engine& engine, std::string_view shard_key,
                                  std::span<const std::byte> blob, Durability durability,
                                  const Context& context);

// The index of what a change replaces or removes, to be dropped afterwards.
class OldIndex {
 public:
  static Result<OldIndex> of(Engine& engine, std::string_view key, const Context& context);
  // If this does not succeed, nobody names the index all the same.
  void drop(Engine& engine, const Context& context) const;

 private:
  std::string key_;  // empty when there is none
};

// Of a record that is to be committed on `drive` and whose files are there: if they are a shard,
// commits the index of it, and notes in the record which; if not, notes why. Reads all of it.
Status index_new_shard(Engine& engine, std::shared_ptr<Drive> drive, Record& record,
                       const Context& context);

// A member whose shard is open.
struct OpenMember {
  std::shared_ptr<const OpenShard> shard;
  ShardMember member;  // its name views the index

  // The bytes of the whole member, compared with its checksum. REQUIRES: it is small.
  Status check(std::span<const std::byte> bytes) const;
  // Small members are read whole and compared with their own checksum; larger ones block by block
  // with those of the shard.
  bool is_small() const noexcept { return member.size_bytes <= kChecksumBlockBytes; }
};

// Finds members by their keys, and opens each shard once however many of its members are asked
// for. For one thread, and for one call: a shard that was replaced meanwhile stays the old one.
class MemberFinder {
 public:
  MemberFinder(Engine& engine, ShardMembers& members) : engine_(engine), members_(members) {}

  // The member that `key` ("bucket/shard.tar/member") names, if there is one.
  Result<std::optional<OpenMember>> find(std::string_view key, const Context& context);

 private:
  Engine& engine_;
  ShardMembers& members_;
  std::map<std::string, std::shared_ptr<const OpenShard>, std::less<>> shards_;
};

// One read of a batch that wants a member.
struct MemberRead {
  BatchRead* read = nullptr;
  OpenMember member;
};
// Reads the small ones together. What it cannot read is left as it was.
void read_members(std::span<MemberRead> reads, PieceReader& reader, const Context& context);

// What a member looks like to a user.
ObjectInfo member_info(std::uint64_t shard_generation, const ShardMember& member);
std::unique_ptr<ObjectReader> make_member_reader(OpenMember member);

}  // namespace leat::local
