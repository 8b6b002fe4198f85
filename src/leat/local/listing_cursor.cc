#include "leat/local/listing_cursor.h"

#include "leat/local/object_writer.h"

namespace leat::local {

ListingCursor::ListingCursor(const Engine& engine, std::string_view bucket)
    : prefix_(std::string(bucket) + "/"), cursor_(engine.cursor()) {}

Status ListingCursor::seek(std::string_view at_or_after) {
  RETURN_IF_ERROR(cursor_->seek(prefix_ + std::string(at_or_after)));
  return settle();
}

Status ListingCursor::next() {
  RETURN_IF_ERROR(cursor_->next());
  return settle();
}

Status ListingCursor::settle() {
  while (cursor_->valid() && cursor_->key().starts_with(prefix_)) {
    valid_ = true;
    const bool is_bucket = cursor_->key().size() == prefix_.size();
    if (!is_bucket && !is_internal_key(cursor_->key())) return ok_status();
    RETURN_IF_ERROR(cursor_->next());
  }
  valid_ = false;
  return ok_status();
}

Result<ObjectInfo> ListingCursor::info() const {
  return info_of(cursor_->entry());
}

MemberListingCursor::MemberListingCursor(Engine& engine, ShardMembers& members,
                                         std::string_view bucket, const Context& context)
    : engine_(engine),
      members_(members),
      bucket_(bucket),
      context_(context),
      objects_(engine, bucket) {}

Status MemberListingCursor::seek(std::string_view at_or_after) {
  const std::string position(at_or_after);
  shards_.clear();
  // Only a shard whose name the position starts with can lie before it and have members after it.
  for (std::size_t length = 1; length < position.size(); ++length) {
    const std::string_view name = std::string_view(position).substr(0, length);
    if (may_be_shard(name)) RETURN_IF_ERROR(open_shard(name, position));
  }
  RETURN_IF_ERROR(objects_.seek(position));
  return pick();
}

Status MemberListingCursor::open_shard(std::string_view name, std::string_view at_or_after) {
  const std::string key = bucket_ + "/" + std::string(name);
  ASSIGN_OR_RETURN(const auto located, engine_.find(key, ReadAlong::kNothing, context_));
  if (!located) return ok_status();
  ASSIGN_OR_RETURN(const auto index,
                   members_.index_of(engine_, key, located->found.record, context_));
  if (!index) return ok_status();
  Walk shard{located->found.record.generation, index, std::string(name) + "/", 0};
  if (at_or_after.starts_with(shard.prefix)) {
    shard.at = index->seek(at_or_after.substr(shard.prefix.size()));
  } else if (at_or_after > shard.prefix) {
    return ok_status();
  }
  if (shard.at < index->size()) shards_.push_back(std::move(shard));
  return ok_status();
}

Status MemberListingCursor::next() {
  if (!is_object_) {
    Walk& shard = shards_[shard_];
    if (++shard.at == shard.index->size())
      shards_.erase(shards_.begin() + static_cast<std::ptrdiff_t>(shard_));
    return pick();
  }
  const std::string passed = name_;
  RETURN_IF_ERROR(objects_.next());
  if (may_be_shard(passed)) RETURN_IF_ERROR(open_shard(passed, passed));
  // A member of the same name is hidden by the object.
  for (std::size_t i = 0; i < shards_.size();) {
    Walk& shard = shards_[i];
    if (shard.name() == passed && ++shard.at == shard.index->size()) {
      shards_.erase(shards_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return pick();
}

Status MemberListingCursor::pick() {
  is_object_ = objects_.valid();
  if (is_object_) name_ = objects_.name();
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    std::string candidate = shards_[i].name();
    const bool is_first = !is_object_ && i == 0;
    if (is_first || candidate < name_) {
      name_ = std::move(candidate);
      is_object_ = false;
      shard_ = i;
    }
  }
  return ok_status();
}

Result<ObjectInfo> MemberListingCursor::info() const {
  if (is_object_) return objects_.info();
  const Walk& shard = shards_[shard_];
  return member_info(shard.generation, shard.index->member(shard.at));
}

}  // namespace leat::local
