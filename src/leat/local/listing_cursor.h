// The names of a bucket in order, for list_ordered(): objects alone, or with the members of shards
// between them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leat/local/engine.h"
#include "leat/local/shard_members.h"
#include "leat/store/listing.h"

namespace leat::local {

// Objects. For one thread.
class ListingCursor final : public OrderedCursor {
 public:
  ListingCursor(const Engine& engine, std::string_view bucket);

  Status seek(std::string_view at_or_after) override;
  bool valid() const override { return valid_; }
  std::string_view name() const override { return cursor_->key().substr(prefix_.size()); }
  Status next() override;
  Result<ObjectInfo> info() const override;

 private:
  // Passes over what users do not see; notes the end of the bucket.
  Status settle();

  const std::string prefix_;  // of the bucket's keys
  const std::unique_ptr<Engine::Cursor> cursor_;
  bool valid_ = false;
};

// Objects, and after each shard, in byte order, its members; a real object of the same name wins.
class MemberListingCursor final : public OrderedCursor {
 public:
  MemberListingCursor(Engine& engine, ShardMembers& members, std::string_view bucket,
                      const Context& context);

  Status seek(std::string_view at_or_after) override;
  bool valid() const override { return objects_.valid() || !shards_.empty(); }
  std::string_view name() const override { return name_; }
  Status next() override;
  Result<ObjectInfo> info() const override;

 private:
  // A shard whose members are not all passed yet.
  struct Walk {
    std::uint64_t generation = 0;  // of the shard
    std::shared_ptr<const ShardIndex> index;
    std::string prefix;  // "shard.tar/"
    std::size_t at = 0;
    std::string name() const { return prefix + std::string(index->name(at)); }
  };
  Status open_shard(std::string_view name, std::string_view at_or_after);
  Status pick();

  Engine& engine_;
  ShardMembers& members_;
  const std::string bucket_;
  const Context& context_;
  ListingCursor objects_;
  std::vector<Walk> shards_;
  std::string name_;
  bool is_object_ = false;
  std::size_t shard_ = 0;
};

}  // namespace leat::local
