#include "leat/local/pack_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>
#include <unordered_set>

#include "leat/base/check.h"
#include "leat/base/hash.h"
#include "leat/local/layout.h"
#include "leat/local/path_escape.h"
#include "leat/local/run.h"

namespace leat::local {
namespace {

// Of the time that a sync takes, how much the next leader may wait for more changes.
constexpr int kGatherShare = 2;
// See make_room().
constexpr std::uint64_t kSmallGroupBytes = 16 << 10;
constexpr std::size_t kZeroBytes = 256 << 10;

CatalogueEntry entry_of(const Record& record) {
  CatalogueEntry entry;
  entry.generation = record.generation;
  entry.size_bytes = record.size_bytes;
  entry.mtime_ns = record.mtime_ns;
  entry.crc32c = record.crc32c;
  entry.etag = record.etag;
  if (record.kind == RecordKind::kBucket) entry.flags |= CatalogueEntry::kBucket;
  if (record.kind == RecordKind::kReference) entry.flags |= CatalogueEntry::kReference;
  return entry;
}

}  // namespace

Change::Change(Record change_record, std::span<const std::byte> data)
    : record(std::move(change_record)),
      encoded(record, data),
      hash(hash_key(record.key)),
      frees_space(record.kind == RecordKind::kDelete),
      entry(entry_of(record)) {}

Change::Change(Pack::Head head, std::vector<std::byte> bytes, Location from)
    : record(std::move(head.record)),
      encoded(std::move(bytes), head.head_bytes),
      hash(hash_key(record.key)),
      keeps_generation(true),
      moved_from(from),
      entry(entry_of(record)) {}

Place place_of(const Record& record, Location location, std::uint64_t length_bytes) {
  std::uint64_t flags = 0;
  if (record.kind == RecordKind::kDelete) flags |= Place::kTombstoneBit;
  if (record.options.contains(std::string(kSharedOption))) flags |= Place::kSharedBit;
  const bool has_one_header = record.kind == RecordKind::kObject &&
                              length_bytes == kBlockBytes + padded_size(record.size_bytes);
  if (has_one_header && is_whole_name(record.key)) flags |= Place::kPlainBit;
  return Place(location, length_bytes, flags);
}

CatalogueEntry catalogue_entry(const Record& record, Place place) {
  CatalogueEntry entry = entry_of(record);
  entry.place = place;
  return entry;
}

Status PackLog::commit(Change& change, const Context& context) {
  return commit(std::span(&change, 1), context);
}

Status PackLog::commit(std::span<Change> changes, const Context& context) {
  if (auto status = context.check(); !status.ok()) {
    for (Change& change : changes) change.result = status.error();
    return status;
  }
  std::atomic<std::size_t> pending = changes.size();
  std::uint32_t turn = turns_.value();
  {
    MutexLock lock(mutex_);
    for (Change& change : changes) queue_.push_back({&change, &pending});
    while (pending > 0 && !has_leader_) lead();
  }
  // Waits until every change is done, leading a group whenever nobody else does. A turn that ends
  // after `turn` was read is noticed at once.
  while (pending.load(std::memory_order_acquire) > 0) {
    const auto patience =
        std::min<std::chrono::nanoseconds>(context.remaining(), std::chrono::seconds(1));
    turns_.wait_for(turn, std::max(patience, std::chrono::nanoseconds(1'000'000)));
    turn = turns_.value();
    if (pending.load(std::memory_order_acquire) == 0) break;
    if (auto status = context.check(); !status.ok()) withdraw(pending, status.error());
    MutexLock lock(mutex_);
    while (pending > 0 && !has_leader_) lead();
  }
  for (const Change& change : changes) {
    if (!change.result.ok()) return change.result.error();
  }
  return ok_status();
}

void PackLog::lead() {
  has_leader_ = true;
  await_returning();
  const std::vector<Waiter> group = take_group();
  mutex_.unlock();
  run_group(group);
  mutex_.lock();
  expected_ = group.size() + queue_.size();
  has_leader_ = false;
  // The last touch of what belongs to the others: a caller goes on as soon as it sees zero.
  for (const Waiter& waiter : group) waiter.pending->fetch_sub(1, std::memory_order_release);
  turns_.notify_all();
}

// Writers that were just answered are likely to come again at once. A short wait for them makes
// one sync serve everybody, where two halves would take turns. The leader gives way and does not
// sleep: to be woken again would take longer than most of them need.
void PackLog::await_returning() {
  const auto end = std::chrono::steady_clock::now() + sync_time_ / kGatherShare;
  while (queue_.size() < std::min(expected_, options_.group_records) &&
         std::chrono::steady_clock::now() < end) {
    mutex_.unlock();
    std::this_thread::yield();
    mutex_.lock();
  }
}

// What a leader has taken is beyond recall; what is still queued is not.
void PackLog::withdraw(std::atomic<std::size_t>& pending, const Error& reason) {
  MutexLock lock(mutex_);
  std::erase_if(queue_, [&](const Waiter& waiter) {
    if (waiter.pending != &pending) return false;
    waiter.change->result = reason;
    pending.fetch_sub(1);
    return true;
  });
}

// Of several changes of one key only the first is taken: each must see what the one before it did.
std::vector<PackLog::Waiter> PackLog::take_group() {
  std::vector<Waiter> group;
  std::unordered_set<std::uint64_t> hashes;
  std::uint64_t bytes = 0;
  std::erase_if(queue_, [&](const Waiter& waiter) {
    // Also if it is not taken now: then a later change of its key must not overtake it.
    if (!hashes.insert(waiter.change->hash).second) return false;
    if (group.size() >= options_.group_records) return false;
    if (!group.empty() && bytes + waiter.change->encoded.length_bytes() > options_.group_bytes)
      return false;
    bytes += waiter.change->encoded.length_bytes();
    group.push_back(waiter);
    return true;
  });
  return group;
}

void PackLog::run_group(std::span<const Waiter> group) {
  std::vector<Change*> changes;
  for (const Waiter& waiter : group) {
    waiter.change->result = listener_.prepare(*waiter.change);
    if (waiter.change->result.ok()) changes.push_back(waiter.change);
  }
  if (reserve_.is_given_up() && !reserve_.keep()) {
    refuse_what_needs_space(
        changes, Error(ErrorCode::kNoSpace, "the disk is full; what is removed makes room again"));
  }
  if (changes.empty()) return;
  Status status = write_group(changes);
  if (status.failed_with(ErrorCode::kNoSpace)) {
    refuse_what_needs_space(changes, status.error());
    if (changes.empty()) return;
    if (reserve_.give_up()) status = write_group(changes);
  }
  if (!status.ok()) {
    for (Change* change : changes) change->result = status.error();
    return;
  }
  listener_.publish(changes);
  MutexLock lock(mutex_);
  end_ = {active_->id(), static_cast<std::uint32_t>(end_bytes_ / kBlockBytes)};
}

// Leaves those that give space back.
void PackLog::refuse_what_needs_space(std::vector<Change*>& changes, const Error& reason) {
  std::erase_if(changes, [&](Change* change) {
    if (change->frees_space) return false;
    change->result = reason;
    return true;
  });
}

Status PackLog::write_group(std::span<Change* const> changes) {
  std::uint64_t bytes = 0;
  bool wait_for_disk = false;
  for (const Change* change : changes) {
    bytes += change->encoded.length_bytes();
    wait_for_disk |= change->wait_for_disk;
  }
  RETURN_IF_ERROR(make_room(bytes));
  const std::uint64_t start = end_bytes_;
  std::uint64_t at = start;
  std::vector<iovec> pieces;
  for (Change* change : changes) {
    const Location location{active_->id(), static_cast<std::uint32_t>(at / kBlockBytes)};
    if (!change->keeps_generation) change->record.generation = listener_.next_generation();
    change->entry.generation = change->record.generation;
    change->entry.place = place_of(change->record, location, change->encoded.length_bytes());
    change->encoded.stamp(change->record.generation,
                          static_cast<std::uint32_t>(durable_bytes_ / kBlockBytes),
                          active_->position(at));
    change->encoded.append_pieces(pieces);
    at += change->encoded.length_bytes();
  }
  const iovec first{pieces[0].iov_base, kBlockBytes};
  pieces[0] = {static_cast<char*>(pieces[0].iov_base) + kBlockBytes,
               pieces[0].iov_len - kBlockBytes};
  Status status = active_->file().write_at(start + kBlockBytes, std::span<const iovec>(pieces));
  if (status.ok()) status = active_->file().write_at(start, std::span(&first, 1));
  const bool is_written = status.ok();
  const auto sync_start = std::chrono::steady_clock::now();
  if (is_written && wait_for_disk) status = active_->file().sync();
  sync_time_ = wait_for_disk ? std::chrono::steady_clock::now() - sync_start : sync_time_.zero();
  if (!status.ok()) {
    // After a failed sync nobody knows what the disk holds: nothing may follow it in this pack.
    // What cannot be taken back now stays unacknowledged, and recovery decides.
    if (is_written || !erase_after_end()) (void)seal();
    return std::move(status).error().within(fmt::format("append to {}", pack_path(last_pack_id_)));
  }
  end_bytes_ = at;
  active_->set_end_bytes(at);
  if (wait_for_disk) durable_bytes_ = at;
  return ok_status();
}

// Makes the active pack long enough for `bytes` more, with zeros after them; starts a new one when
// there is none or it would become too long.
Status PackLog::make_room(std::uint64_t bytes) {
  if (bytes + kTarEndBytes > kMaxPackBytes) {
    return Error(ErrorCode::kTooLarge,
                 "a record of " + std::to_string(bytes) + " bytes fits into no pack");
  }
  const std::uint64_t limit = std::min(options_.pack_bytes, kMaxPackBytes - kTarEndBytes);
  if (active_ && end_bytes_ > 0 && end_bytes_ + bytes > limit) RETURN_IF_ERROR(seal());
  if (!active_) RETURN_IF_ERROR(start_pack());
  const std::uint64_t needed = end_bytes_ + bytes + kTarEndBytes;
  if (needed > allocated_bytes_) {
    const std::uint64_t step = options_.preallocate_bytes;
    const std::uint64_t size = (needed + step - 1) / step * step;
    RETURN_IF_ERROR(active_->file().resize(size));
    allocated_bytes_ = size;
  }
  // Where a block was written before, a sync has no allocation to write to the file system's own
  // log. For groups of a few records that is a good part of its time, and zeros cost little.
  if (bytes <= kSmallGroupBytes && end_bytes_ + bytes > zeroed_bytes_) {
    static constexpr std::array<std::byte, kZeroBytes> kZeros{};
    const std::uint64_t room = allocated_bytes_ - end_bytes_;
    const auto zeros = std::span(kZeros).first(std::min<std::uint64_t>(room, kZeroBytes));
    RETURN_IF_ERROR(active_->file().write_at(end_bytes_, zeros));
    zeroed_bytes_ = end_bytes_ + zeros.size();
  }
  return ok_status();
}

Status PackLog::start_pack() {
  if (last_pack_id_ == kMaxPacks)
    return Error(ErrorCode::kTooLarge, "the drive has no pack numbers left");
  RETURN_IF_ERROR(finish_sealing());
  const std::uint32_t id = last_pack_id_ + 1;
  auto file = files_.open(pack_path(id), OpenMode::kCreate);
  if (!file.ok()) {
    // Perhaps an earlier attempt made the file and could not sync its directory.
    if (!file.failed_with(ErrorCode::kAlreadyExists)) return std::move(file).error();
    RETURN_IF_ERROR(files_.remove_file(pack_path(id)));
    file = files_.open(pack_path(id), OpenMode::kCreate);
    if (!file.ok()) return std::move(file).error();
  }
  RETURN_IF_ERROR(files_.sync_directory(kPackDirectory));
  active_ = std::make_shared<Pack>(id, options_.salt, *std::move(file));
  last_pack_id_ = id;
  end_bytes_ = allocated_bytes_ = zeroed_bytes_ = durable_bytes_ = 0;
  WriterLock lock(packs_mutex_);
  packs_[id] = active_;
  active_id_ = id;
  return ok_status();
}

// Ends the active pack: exactly its records and the end of a tar, durable.
Status PackLog::seal() {
  unsealed_ = std::move(active_);
  {
    WriterLock lock(packs_mutex_);
    active_id_ = 0;
  }
  return finish_sealing();
}

// Repeated before a new pack is started until it succeeds, so that every pack but the last is
// sealed: recovery relies on it.
Status PackLog::finish_sealing() {
  if (!unsealed_) return ok_status();
  File& file = unsealed_->file();
  const std::uint64_t end = unsealed_->end_bytes();
  if (end > 0) {
    // To the end first: what a failed group left after it becomes zeros.
    RETURN_IF_ERROR(file.resize(end));
    RETURN_IF_ERROR(file.resize(end + kTarEndBytes));
    RETURN_IF_ERROR(file.sync());
  } else {
    // A disk that fails every commit must not gather empty packs.
    RETURN_IF_ERROR(files_.remove_file(pack_path(unsealed_->id())));
    --last_pack_id_;
    WriterLock lock(packs_mutex_);
    packs_.erase(unsealed_->id());
  }
  unsealed_.reset();
  return ok_status();
}

// Takes back what a failed group has written; false when the file does not let us.
bool PackLog::erase_after_end() {
  File& file = active_->file();
  if (!file.resize(end_bytes_).ok()) return false;
  allocated_bytes_ = zeroed_bytes_ = end_bytes_;
  if (file.resize(end_bytes_ + kTarEndBytes).ok()) allocated_bytes_ += kTarEndBytes;
  return true;
}

std::shared_ptr<Pack> PackLog::pack(std::uint32_t id) const {
  ReaderLock lock(packs_mutex_);
  const auto it = packs_.find(id);
  return it == packs_.end() ? nullptr : it->second;
}

std::vector<std::shared_ptr<Pack>> PackLog::packs() const {
  ReaderLock lock(packs_mutex_);
  std::vector<std::shared_ptr<Pack>> all;
  all.reserve(packs_.size());
  for (const auto& [id, pack] : packs_) all.push_back(pack);
  return all;
}

Location PackLog::end() const {
  MutexLock lock(mutex_);
  return end_;
}

// Takes the leader's place for a moment.
Status PackLog::run_exclusively(Exclusive action) {
  for (;;) {
    const std::uint32_t turn = turns_.value();
    {
      MutexLock lock(mutex_);
      if (!std::exchange(has_leader_, true)) break;
    }
    turns_.wait_for(turn, std::chrono::seconds(1));
  }
  Status status = ok_status();
  if (active_ && action == Exclusive::kSeal && end_bytes_ > 0) status = seal();
  if (active_ && action == Exclusive::kSync && durable_bytes_ < end_bytes_) {
    status = active_->file().sync();
    if (status.ok()) {
      durable_bytes_ = end_bytes_;
    } else {
      (void)seal();  // see write_group()
    }
  }
  MutexLock lock(mutex_);
  has_leader_ = false;
  turns_.notify_all();
  return status;
}

Status PackLog::seal_active(const Context& context) {
  RETURN_IF_ERROR(context.check());
  return run_exclusively(Exclusive::kSeal);
}

Status PackLog::sync() {
  return run_exclusively(Exclusive::kSync);
}

Status PackLog::remove_pack(std::uint32_t id) {
  {
    ReaderLock lock(packs_mutex_);
    CHECK(id != active_id_);
  }
  RETURN_IF_ERROR(files_.remove_file(pack_path(id)));
  RETURN_IF_ERROR(files_.sync_directory(kPackDirectory));
  WriterLock lock(packs_mutex_);
  packs_.erase(id);
  return ok_status();
}

}  // namespace leat::local
