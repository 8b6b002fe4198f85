// What the tests of the log share: a log whose every commit is remembered, so that after any
// accident what recovery finds can be compared with what was promised.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/file.h"
#include "leat/local/pack_log.h"

namespace leat::local {

// Every record that was ever given a generation, and which of them were acknowledged. Lives
// longer than the log: it is what the users know.
struct LogHistory {
  struct Attempt {
    RecordKind kind = RecordKind::kObject;
    std::string key;
    std::string data;
    Metadata metadata;
  };
  std::uint64_t generation = 0;
  std::map<std::uint64_t, Attempt> attempts;
  std::set<std::uint64_t> acknowledged;  // in the log
  std::set<std::uint64_t> durable;       // of these, on the disk
};

// One life of a log, from recovery to the death of its process.
class TestedLog final : public PackLog::Listener {
 public:
  TestedLog(FileSystem& files, LogHistory& history, const PackLogOptions& options)
      : history_(history), log_(files, options, *this) {}

  // Opens the log; keeps what it visits.
  Status recover(Location checkpoint = {}, PackLog::Access access = PackLog::Access::kReadWrite);
  PackLog& log() { return log_; }
  const PackLog::Recovered& recovered() const { return recovered_; }
  const std::vector<std::pair<Record, Place>>& visited() const { return visited_; }

  // Commits a group, in one call and as one group, and enters it into the history.
  struct Put {
    std::string key;
    std::string data;
    RecordKind kind = RecordKind::kObject;
    Metadata metadata = {};
    bool wait_for_disk = true;
  };
  Status commit(std::span<const Put> puts);
  Status put(std::string key, std::string data);

  // Every visited record is one that was written, whole, and none comes twice. Damaged ones are
  // excepted when `damaged` says that there may be some.
  enum class Damage : std::uint8_t { kNone, kReported };
  void expect_nothing_torn(Damage damage = Damage::kNone);
  // Every one of these generations was visited.
  void expect_visited(const std::set<std::uint64_t>& generations) const;
  std::set<std::uint64_t> visited_generations() const;

  std::uint64_t published_groups() const { return published_groups_; }

  std::uint64_t next_generation() override { return ++history_.generation; }
  Status prepare(Change& change) override;
  void publish(std::span<Change* const> changes) override;

 private:
  LogHistory& history_;
  PackLog log_;
  PackLog::Recovered recovered_;
  std::vector<std::pair<Record, Place>> visited_;
  std::uint64_t published_groups_ = 0;
};

// Small packs, so that a short workload fills several.
PackLogOptions small_packs();

// A drive's directory for packs.
Status make_pack_directory(FileSystem& files);

}  // namespace leat::local
