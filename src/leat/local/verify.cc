#include "leat/local/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "leat/local/object_bytes.h"
#include "leat/local/pace.h"
#include "leat/local/upload_keys.h"

namespace leat::local {
namespace {

constexpr std::chrono::nanoseconds kYoung = std::chrono::hours(1);

class Verifier {
 public:
  Verifier(Engine& engine, ShardMembers& members, const VerifyOptions& options,
           const Context& context)
      : engine_(engine),
        members_(members),
        options_(options),
        context_(context),
        start_(context.clock().now()),
        buffer_(kChecksumBlockBytes) {}

  Result<VerifyReport> run() {
    Status listed = check_listed();
    if (listed.failed_with(ErrorCode::kCorrupted)) {
      // The packs know every object, in another order.
      report_ = VerifyReport();
      RETURN_IF_ERROR(check_catalogues());
      for (const auto& drive : engine_.drives()) RETURN_IF_ERROR(check_recorded(*drive));
    } else if (!listed.ok()) {
      return std::move(listed).error();
    }
    for (const auto& drive : engine_.drives()) RETURN_IF_ERROR(check_drive(*drive));
    if (const auto whole = engine_.check_whole(); !whole.ok()) {
      report_.damaged.push_back({"", std::string(whole.error().message()), false});
    }
    return std::move(report_);
  }

 private:
  // All objects, by the catalogue.
  Status check_listed() {
    const auto walk = engine_.cursor();
    RETURN_IF_ERROR(walk->seek(""));
    while (walk->valid()) {
      RETURN_IF_ERROR(check_entry(walk->key(), walk->entry().generation));
      RETURN_IF_ERROR(walk->next());
    }
    return ok_status();
  }

  // All objects, by their records.
  Status check_recorded(Drive& drive) {
    PackWalk walk;
    walk.damage = [](std::uint64_t, std::uint64_t, const std::string&) { return ok_status(); };
    for (const auto& pack : drive.log().packs()) {
      walk.record = [&](std::uint64_t offset, Pack::Head& head) -> Status {
        const auto found = drive.find(head.record.key, ReadAlong::kNothing, context_);
        const Location here{pack->id(), static_cast<std::uint32_t>(offset / kBlockBytes)};
        const bool is_newest = !found.ok() || (*found && (*found)->place.location() == here);
        if (!is_newest || head.record.kind == RecordKind::kDelete) return ok_status();
        return check_entry(head.record.key, head.record.generation);
      };
      RETURN_IF_ERROR(walk_pack(*pack, 0, pack->end_bytes(), walk));
    }
    return ok_status();
  }

  Status check_entry(std::string_view key, std::uint64_t generation) {
    RETURN_IF_ERROR(context_.check());
    Status checked = check_object(key, generation);
    if (checked.failed_with(ErrorCode::kCorrupted)) {
      // Replaced, removed or moved to another drive while it was read, perhaps.
      ASSIGN_OR_RETURN(const bool still_listed, is_listed(key, generation));
      checked = still_listed ? check_object(key, generation) : ok_status();
    }
    RETURN_IF_ERROR(note(key, checked));
    if (options_.repair && is_internal_key(key)) {
      RETURN_IF_ERROR(is_upload_or_part(key) ? drop_lost_part(key) : drop_unnamed_index(key));
    }
    if (!is_internal_key(key) && !key.ends_with('/')) ++report_.objects;
    if (options_.progress && report_.objects % 256 == 0) options_.progress(report_);
    return ok_status();
  }

  // Which catalogues are damaged, and what can be done about it.
  Status check_catalogues() {
    for (const auto& drive : engine_.drives()) {
      Status status = drive->check_catalogue(context_);
      if (status.ok()) continue;
      if (!status.failed_with(ErrorCode::kCorrupted)) return status;
      if (options_.repair) RETURN_IF_ERROR(drive->discard_catalogue());
      const std::string_view advice =
          options_.repair ? "the next start makes it anew" : "'leat verify --repair' makes it anew";
      report_.damaged.push_back(
          {"", fmt::format("{}: {}; {}", drive->files().root(), status.error().message(), advice),
           options_.repair});
    }
    return ok_status();
  }

  Status check_object(std::string_view key, std::uint64_t generation) {
    ASSIGN_OR_RETURN(auto located, engine_.find(key, ReadAlong::kNothing, context_));
    if (!located) {
      // Removed meanwhile, or listed without a record.
      ASSIGN_OR_RETURN(const bool still_listed, is_listed(key, generation));
      if (still_listed) return Error(ErrorCode::kCorrupted, "listed, but its record is not found");
      return ok_status();
    }
    const Record record = located->found.record;
    located->found.place = located->found.place.unverified();  // compared now, whatever was before
    ASSIGN_OR_RETURN(auto bytes,
                     ObjectBytes::open(located->drive, key, std::move(located->found),
                                       std::make_shared<BlockMarks>(record.block_crcs.size())));
    for (std::uint64_t offset = 0; offset < record.size_bytes;) {
      RETURN_IF_ERROR(context_.check());
      ASSIGN_OR_RETURN(const auto count, bytes->read_at(offset, buffer_));
      if (count == 0) return Error(ErrorCode::kCorrupted, "cut short");
      offset += count;
      report_.bytes += count;
      RETURN_IF_ERROR(keep_pace(report_.bytes, start_, options_.bytes_per_second, context_));
    }
    return check_index(key, record);
  }

  // An index is made anew when the shard itself is whole.
  Status check_index(std::string_view key, const Record& shard) {
    const auto index = members_.stored_index(engine_, key, shard, context_);
    if (index.ok()) return ok_status();
    if (!index.failed_with(ErrorCode::kCorrupted)) return index.error();
    if (options_.repair) RETURN_IF_ERROR(members_.rebuild_index(engine_, key, context_));
    report_.damaged.push_back(
        {std::string(key), std::string(index.error().message()), options_.repair});
    return ok_status();
  }

  // An index that no shard names, left by a crash. A young one may be that of a PUT under way.
  Status drop_unnamed_index(std::string_view key) {
    const auto index = engine_.find(key, ReadAlong::kNothing, context_);
    const auto shard = engine_.find(shard_of_index(key), ReadAlong::kNothing, context_);
    if (!index.ok() || !shard.ok() || !*index) return ok_status();
    const Record& record = (*index)->found.record;
    const auto named = *shard ? index_number((*shard)->found.record) : std::nullopt;
    const bool is_young = record.mtime_ns + kYoung.count() > engine_.options().clock->wall_ns();
    if (is_young || (named && shard_index_key(shard_of_index(key), *named) == key))
      return ok_status();
    RETURN_IF_ERROR(engine_.remove(key, Precondition::has_generation(record.generation),
                                   Durability::kMemory, context_));
    report_.orphan_bytes += record.size_bytes;
    return ok_status();
  }

  // A part whose upload ended while it came.
  Status drop_lost_part(std::string_view key) {
    const auto upload = upload_of_part(key);
    if (!upload) return ok_status();
    const auto part = engine_.find(key, ReadAlong::kNothing, context_);
    const auto found = engine_.find(*upload, ReadAlong::kNothing, context_);
    if (!part.ok() || !found.ok() || !*part || *found) return ok_status();
    const Record& record = (*part)->found.record;
    RETURN_IF_ERROR(engine_.remove(key, Precondition::has_generation(record.generation),
                                   Durability::kMemory, context_));
    report_.orphan_bytes += record.size_bytes;
    return ok_status();
  }

  Result<bool> is_listed(std::string_view key, std::uint64_t generation) {
    const auto walk = engine_.cursor();
    RETURN_IF_ERROR(walk->seek(key));
    return walk->valid() && walk->key() == key && walk->entry().generation == generation;
  }

  // What belongs to no object: stretches of packs that cannot be read, files that nothing needs.
  Status check_drive(Drive& drive) {
    bool is_readable = true;
    for (const auto& pack : drive.log().packs()) {
      PackWalk walk;
      const std::uint64_t end = pack->end_bytes();
      walk.record = [&](std::uint64_t, Pack::Head&) { return context_.check(); };
      walk.damage = [&](std::uint64_t offset, std::uint64_t length, const std::string& what) {
        if (offset >= end) return ok_status();  // is being written now
        is_readable = false;
        report_.damaged.push_back(
            {"",
             fmt::format("{}/{} at byte {} ({} bytes): {}", drive.files().root(),
                         pack_path(pack->id()), offset, length, what),
             false});
        return ok_status();
      };
      RETURN_IF_ERROR(walk_pack(*pack, 0, end, walk));
    }
    // What cannot be read may be the record of a file that seems to be nobody's.
    if (!options_.repair || !is_readable) return ok_status();
    ASSIGN_OR_RETURN(const auto orphan_bytes, drive.remove_orphans(context_));
    report_.orphan_bytes += orphan_bytes;
    return ok_status();
  }

  Status note(std::string_view key, const Status& status) {
    // An index is told of with its shard, by which it can be made anew.
    if (status.ok() || is_internal_key(key)) return ok_status();
    const ErrorCode code = status.error().code();
    if (code == ErrorCode::kCancelled || code == ErrorCode::kDeadlineExceeded)
      return status.error();
    report_.damaged.push_back({std::string(key), std::string(status.error().message()), false});
    return ok_status();
  }

  // Waits until the bytes so far are due, in steps, so that it can be called off.

  Engine& engine_;
  ShardMembers& members_;
  const VerifyOptions& options_;
  const Context& context_;
  const MonotonicTime start_;
  std::vector<std::byte> buffer_;
  VerifyReport report_;
};

}  // namespace

Result<VerifyReport> verify_store(Engine& engine, ShardMembers& members,
                                  const VerifyOptions& options, const Context& context) {
  return Verifier(engine, members, options, context).run();
}

}  // namespace leat::local
