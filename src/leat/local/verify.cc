#include "leat/local/verify.h"

#include <fmt/format.h>

#include "leat/local/object_bytes.h"

namespace leat::local {
namespace {

class Verifier {
 public:
  Verifier(Engine& engine, ShardMembers& members, const VerifyOptions& options, const Context& context)
      : engine_(engine), members_(members), options_(options), context_(context),
        start_(context.clock().now()), buffer_(kChecksumBlockBytes) {}

  Result<VerifyReport> run() {
    RETURN_IF_ERROR(check_objects());
    for (const auto& drive : engine_.drives()) RETURN_IF_ERROR(check_drive(*drive));
    return std::move(report_);
  }

 private:
  Status check_objects() {
    const auto walk = engine_.cursor();
    RETURN_IF_ERROR(walk->seek(""));
    while (walk->valid()) {
      RETURN_IF_ERROR(context_.check());
      if (!walk->entry().has(CatalogueEntry::kBucket)) {
        RETURN_IF_ERROR(note(std::string(walk->key()), check_object(walk->key(), walk->entry())));
        ++report_.objects;
      }
      if (options_.progress && report_.objects % 256 == 0) options_.progress(report_);
      RETURN_IF_ERROR(walk->next());
    }
    return ok_status();
  }

  Status check_object(std::string_view key, const CatalogueEntry& listed) {
    ASSIGN_OR_RETURN(auto located, engine_.find(key, ReadAlong::kNothing, context_));
    if (!located) {
      // Removed meanwhile, or listed without a record.
      ASSIGN_OR_RETURN(const bool still_listed, is_listed(key, listed.generation));
      if (still_listed) return Error(ErrorCode::kCorrupted, "listed, but its record is not found");
      return ok_status();
    }
    const Record record = located->found.record;
    located->found.place = located->found.place.unverified();  // compared now, whatever was before
    ASSIGN_OR_RETURN(auto bytes, ObjectBytes::open(located->drive, key, std::move(located->found),
                                                   std::make_shared<BlockMarks>(record.block_crcs.size())));
    for (std::uint64_t offset = 0; offset < record.size_bytes;) {
      RETURN_IF_ERROR(context_.check());
      ASSIGN_OR_RETURN(const auto count, bytes->read_at(offset, buffer_));
      if (count == 0) return Error(ErrorCode::kCorrupted, "cut short");
      offset += count;
      report_.bytes += count;
      pace();
    }
    ASSIGN_OR_RETURN(const auto index, members_.index_of(engine_, key, record, context_));
    if (index && index->shard_bytes() != record.size_bytes) {
      return Error(ErrorCode::kCorrupted, "the index of the shard is of another one");
    }
    return ok_status();
  }

  Result<bool> is_listed(std::string_view key, std::uint64_t generation) {
    const auto walk = engine_.cursor();
    RETURN_IF_ERROR(walk->seek(key));
    return walk->valid() && walk->key() == key && walk->entry().generation == generation;
  }

  // What belongs to no object: stretches of packs that cannot be read, files that nothing needs.
  Status check_drive(Drive& drive) {
    for (const auto& pack : drive.log().packs()) {
      PackWalk walk;
      walk.record = [&](std::uint64_t, Pack::Head&) { return context_.check(); };
      walk.damage = [&](std::uint64_t offset, std::uint64_t length, const std::string& what) {
        report_.damaged.push_back({"", fmt::format("{}/{} at byte {} ({} bytes): {}", drive.files().root(),
                                                   pack_path(pack->id()), offset, length, what), false});
        return ok_status();
      };
      RETURN_IF_ERROR(walk_pack(*pack, 0, pack->end_bytes(), walk));
    }
    if (!options_.repair) return ok_status();
    ASSIGN_OR_RETURN(const auto orphan_bytes, drive.remove_orphans(context_));
    report_.orphan_bytes += orphan_bytes;
    return ok_status();
  }

  Status note(std::string key, const Status& status) {
    if (status.ok()) return ok_status();
    const ErrorCode code = status.error().code();
    if (code == ErrorCode::kCancelled || code == ErrorCode::kDeadlineExceeded) return status.error();
    report_.damaged.push_back({std::move(key), std::string(status.error().message()), false});
    return ok_status();
  }

  void pace() {
    if (options_.bytes_per_second == 0) return;
    const auto due = start_ + std::chrono::nanoseconds(report_.bytes * 1'000 / options_.bytes_per_second * 1'000'000);
    if (const auto now = context_.clock().now(); now < due) context_.clock().sleep_for(due - now);
  }

  Engine& engine_;
  ShardMembers& members_;
  const VerifyOptions& options_;
  const Context& context_;
  const MonotonicTime start_;
  std::vector<std::byte> buffer_;
  VerifyReport report_;
};

}  // namespace

Result<VerifyReport> verify_store(Engine& engine, ShardMembers& members, const VerifyOptions& options,
                                  const Context& context) {
  return Verifier(engine, members, options, context).run();
}

}  // namespace leat::local
