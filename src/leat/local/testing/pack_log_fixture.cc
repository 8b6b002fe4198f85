#include "leat/local/testing/pack_log_fixture.h"

#include <gtest/gtest.h>

#include "leat/base/hash.h"
#include "leat/local/layout.h"

namespace leat::local {

Status TestedLog::recover(Location checkpoint, PackLog::Access access) {
  ASSIGN_OR_RETURN(recovered_,
                   log_.recover(checkpoint, access, [&](const Record& record, Place place) {
                     visited_.emplace_back(record, place);
                     return ok_status();
                   }));
  return ok_status();
}

Status TestedLog::commit(std::span<const Put> puts) {
  std::vector<Change> changes;
  for (const Put& put : puts) {
    Record record;
    record.kind = put.kind;
    record.key = put.key;
    record.metadata = put.metadata;
    record.size_bytes = put.data.size();
    const auto data = std::as_bytes(std::span(put.data));
    record.crc32c = crc32c(0, data);
    changes.emplace_back(std::move(record), data);
    changes.back().wait_for_disk = put.wait_for_disk;
  }
  auto status = log_.commit(std::span(changes), Context());
  for (std::size_t i = 0; i < puts.size(); ++i) {
    const std::uint64_t generation = changes[i].record.generation;
    if (generation == 0) continue;  // refused before it was written
    history_.attempts[generation] = {puts[i].kind, puts[i].key, puts[i].data, puts[i].metadata};
    if (!changes[i].result.ok()) continue;
    history_.acknowledged.insert(generation);
    if (puts[i].wait_for_disk) history_.durable.insert(generation);
  }
  return status;
}

Status TestedLog::put(std::string key, std::string data) {
  const Put one{std::move(key), std::move(data)};
  return commit(std::span(&one, 1));
}

Status TestedLog::prepare(Change& change) {
  if (change.record.key.starts_with("refused/")) return ErrorCode::kPreconditionFailed;
  return ok_status();
}

void TestedLog::publish(std::span<Change* const> changes) {
  ++published_groups_;
  for (const Change* change : changes) {
    EXPECT_TRUE(change->result.ok());
    EXPECT_NE(change->entry.place.bits(), 0u);
  }
}

std::set<std::uint64_t> TestedLog::visited_generations() const {
  std::set<std::uint64_t> generations;
  for (const auto& [record, place] : visited_) generations.insert(record.generation);
  return generations;
}

void TestedLog::expect_nothing_torn(Damage damage) {
  std::set<std::uint64_t> seen;
  for (const auto& [record, place] : visited_) {
    EXPECT_TRUE(seen.insert(record.generation).second) << record.generation << " comes twice";
    const auto attempt = history_.attempts.find(record.generation);
    ASSERT_NE(attempt, history_.attempts.end()) << record.key;
    EXPECT_EQ(record.key, attempt->second.key);
    EXPECT_EQ(record.kind, attempt->second.kind);
    EXPECT_EQ(record.metadata, attempt->second.metadata);
    const auto pack = log_.pack(place.location().pack);
    ASSERT_NE(pack, nullptr);
    const auto head = pack->read_head(place.location().offset_bytes());
    ASSERT_TRUE(head.ok()) << head.error().message();
    const auto whole = pack->read_whole(place.location().offset_bytes(), *head);
    if (!whole.ok() && damage == Damage::kReported) continue;
    ASSERT_TRUE(whole.ok()) << record.key << ": " << whole.error().message();
    if (record.kind != RecordKind::kObject) continue;
    const std::string_view data(reinterpret_cast<const char*>(whole->data()) + head->head_bytes,
                                record.size_bytes);
    EXPECT_EQ(data, attempt->second.data);
  }
}

void TestedLog::expect_visited(const std::set<std::uint64_t>& generations) const {
  const auto visited = visited_generations();
  for (const std::uint64_t generation : generations) {
    EXPECT_TRUE(visited.contains(generation)) << "generation " << generation << " is lost";
  }
}

PackLogOptions small_packs() {
  PackLogOptions options;
  options.salt = 0x5a17;
  options.pack_bytes = 8 << 10;
  options.preallocate_bytes = 4 << 10;
  return options;
}

Status make_pack_directory(FileSystem& files) {
  RETURN_IF_ERROR(files.make_directories(kPackDirectory));
  return ok_status();
}

}  // namespace leat::local
