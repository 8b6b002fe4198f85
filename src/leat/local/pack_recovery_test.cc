// Accidents: failed calls, power cuts, flipped bytes, and what recovery makes of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "leat/base/testing/simulated_file_system.h"
#include "leat/local/layout.h"
#include "leat/local/testing/pack_log_fixture.h"

namespace leat::local {
namespace {

using Fault = SimulatedFileSystem::Fault;
using Put = TestedLog::Put;

Metadata some_metadata() {
  Metadata metadata;
  metadata.user["note"] = "a b";
  return metadata;
}

std::string data_of(std::size_t size, char c) {
  return std::string(size, c);
}

// Groups of every kind, durable ones and others, over several packs. Errors are for the history.
void run_workload(TestedLog& log) {
  for (int round = 0; round < 3; ++round) {
    const char c = static_cast<char>('a' + round);
    (void)log.put("b/one", data_of(700, c));
    const std::vector<Put> group = {
        {"b/two", data_of(600, c)},
        {"b/" + data_of(300, c), data_of(1, c)},
        {"b/rich", data_of(512, c), RecordKind::kObject, some_metadata()},
        {"b/empty", ""},
        {"b/gone", "", RecordKind::kDelete},
    };
    (void)log.commit(group);
    const std::vector<Put> lazy = {{"b/lazy", data_of(900, c), RecordKind::kObject, {}, false},
                                   {"b/too", data_of(10, c), RecordKind::kObject, {}, false}};
    (void)log.commit(lazy);
    if (round == 1) (void)log.log().sync();
  }
}

TEST(PackRecovery, AFailedCallLosesNothingThatWasAcknowledged) {
  for (const Fault fault :
       {Fault{}, Fault{.lasts = Fault::Lasts::kForever}, Fault{.kind = Fault::Kind::kNoSpace},
        Fault{.kind = Fault::Kind::kNoSpace, .lasts = Fault::Lasts::kForever},
        Fault{.kind = Fault::Kind::kShortWrite},
        Fault{.kind = Fault::Kind::kShortWrite, .lasts = Fault::Lasts::kForever}}) {
    for (std::uint64_t n = 0;; ++n) {
      SimulatedFileSystem files;
      ASSERT_TRUE(make_pack_directory(files).ok());
      LogHistory history;
      files.fail_call(files.calls() + n, fault);
      {
        TestedLog log(files, history, small_packs());
        if (log.recover().ok()) run_workload(log);
        files.clear_faults();
        // The log goes on.
        if (log.log().end().pack > 0) {
          EXPECT_TRUE(log.put("b/after", "x").ok());
        }
      }
      TestedLog again(files, history, small_packs());
      ASSERT_TRUE(again.recover().ok());
      again.expect_nothing_torn();
      again.expect_visited(history.acknowledged);
      EXPECT_TRUE(again.recovered().damages.empty()) << "call " << n;
      if (files.failed_calls() == 0) break;
    }
  }
}

TEST(PackRecovery, AFailedCallDuringRecoveryLosesNothing) {
  for (std::uint64_t n = 0;; ++n) {
    SimulatedFileSystem files;
    ASSERT_TRUE(make_pack_directory(files).ok());
    LogHistory history;
    {
      TestedLog log(files, history, small_packs());
      ASSERT_TRUE(log.recover().ok());
      run_workload(log);
    }
    using Calls = SimulatedFileSystem::Calls;
    files.fail_call(files.calls(Calls::kAny) + n, {.counted = Calls::kAny});
    const bool is_open = TestedLog(files, history, small_packs()).recover().ok();
    EXPECT_EQ(is_open, files.failed_calls() == 0);
    files.clear_faults();
    TestedLog again(files, history, small_packs());
    ASSERT_TRUE(again.recover().ok());
    again.expect_nothing_torn();
    again.expect_visited(history.acknowledged);
    if (is_open) break;
  }
}

TEST(PackRecovery, APowerCutLosesNothingThatWasDurable) {
  for (std::uint64_t n = 0;; ++n) {
    bool finished = false;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SimulatedFileSystem files;
      ASSERT_TRUE(make_pack_directory(files).ok());
      LogHistory history;
      files.cut_at_call(files.calls() + n);
      {
        TestedLog log(files, history, small_packs());
        if (log.recover().ok()) run_workload(log);
        finished = log.put("b/last", "x").ok();
      }
      files.power_cut(seed);
      {
        TestedLog again(files, history, small_packs());
        ASSERT_TRUE(again.recover().ok());
        again.expect_nothing_torn();
        again.expect_visited(history.durable);
        EXPECT_TRUE(again.recovered().damages.empty()) << "call " << n << " seed " << seed;
        EXPECT_TRUE(again.put("b/after", data_of(2000, 'z')).ok());
      }
      // What recovery left is sound, and what it cut off does not come back.
      TestedLog last(files, history, small_packs());
      ASSERT_TRUE(last.recover().ok());
      last.expect_nothing_torn();
      last.expect_visited(history.durable);
      EXPECT_TRUE(last.recovered().damages.empty());
      EXPECT_EQ(last.recovered().torn_bytes, 0u);
    }
    if (finished) break;
  }
}

// The process dies first, so that recovery sees records which the disk does not hold yet.
TEST(PackRecovery, WhatADeadProcessLeftIsDurableOnceItWasRecovered) {
  for (std::uint64_t n = 0; n < 6; ++n) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SimulatedFileSystem files;
      ASSERT_TRUE(make_pack_directory(files).ok());
      LogHistory history;
      {
        TestedLog log(files, history, small_packs());
        ASSERT_TRUE(log.recover().ok());
        ASSERT_TRUE(log.put("b/durable", data_of(1000, 'd')).ok());
        for (const char c : {'a', 'b', 'c'}) {
          const Put lazy{"b/lazy", data_of(800, c), RecordKind::kObject, {}, false};
          ASSERT_TRUE(log.commit(std::span(&lazy, 1)).ok());
        }
      }
      {
        TestedLog log(files, history, small_packs());
        ASSERT_TRUE(log.recover().ok());
        EXPECT_EQ(log.visited_generations(), history.acknowledged);
        files.cut_at_call(files.calls() + n);
        (void)log.put("b/cut", data_of(1000, 'c'));
      }
      files.power_cut(seed);
      TestedLog last(files, history, small_packs());
      ASSERT_TRUE(last.recover().ok());
      last.expect_nothing_torn();
      last.expect_visited(history.acknowledged);
      EXPECT_TRUE(last.recovered().damages.empty());
    }
  }
}

// Two groups in one pack; the history says which generations belong to which.
class FlippedPack : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.pack_bytes = 1 << 20;
    ASSERT_TRUE(make_pack_directory(files_).ok());
    TestedLog log(files_, history_, options_);
    ASSERT_TRUE(log.recover().ok());
    for (int group = 0; group < 2; ++group) {
      const char c = static_cast<char>('a' + group);
      starts_.push_back(log.log().end().offset_bytes());
      const std::vector<Put> puts = {
          {"b/plain", data_of(100, c)},
          {"b/" + data_of(120, c), "x", RecordKind::kObject, some_metadata()},
          {"b/gone", "", RecordKind::kDelete},
      };
      ASSERT_TRUE(log.commit(puts).ok());
      ASSERT_EQ(log.published_groups(), static_cast<std::uint64_t>(group) + 1);
    }
    end_ = log.log().end().offset_bytes();
  }

  // The generations that stand before `offset`, by their groups.
  std::set<std::uint64_t> generations_before(std::uint64_t offset) const {
    std::set<std::uint64_t> generations;
    for (const auto& [generation, attempt] : history_.attempts) {
      const std::size_t group = (generation - 1) / 3;
      if (group < starts_.size() && starts_[group] < offset) generations.insert(generation);
    }
    return generations;
  }

  SimulatedFileSystem files_;
  LogHistory history_;
  PackLogOptions options_ = small_packs();
  std::vector<std::uint64_t> starts_;
  std::uint64_t end_ = 0;
};

TEST_F(FlippedPack, EveryFlippedByteCostsOneRecordAtMost) {
  const std::string path = pack_path(1);
  const auto whole = files_.disk_bytes(path);
  ASSERT_TRUE(whole.ok());
  for (std::size_t i = 0; i < end_ + 2 * kBlockBytes; ++i) {
    const std::byte flipped = (*whole)[i] ^ std::byte{0x11};
    ASSERT_TRUE(files_.overwrite_disk(path, i, std::span(&flipped, 1)).ok());
    TestedLog log(files_, history_, options_);
    ASSERT_TRUE(log.recover({}, PackLog::Access::kReadOnly).ok()) << i;
    log.expect_nothing_torn(TestedLog::Damage::kReported);
    const auto visited = log.visited_generations();
    const bool is_damaged = !log.recovered().damages.empty();
    if (i < starts_.back()) {
      // The record itself may be lost, loudly.
      EXPECT_GE(visited.size() + (is_damaged ? 1 : 0), history_.attempts.size()) << i;
    } else {
      // The last group may be torn, as far as anyone can tell.
      log.expect_visited(generations_before(starts_.back()));
      EXPECT_FALSE(is_damaged) << i;
    }
    if (i >= end_) log.expect_visited(history_.acknowledged);
    ASSERT_TRUE(files_.overwrite_disk(path, i, std::span(&(*whole)[i], 1)).ok());
    if (::testing::Test::HasFailure()) break;
  }
}

TEST_F(FlippedPack, EveryTruncationCostsWhatIsCutOff) {
  const std::string path = pack_path(1);
  for (std::uint64_t length = end_; length > 0; length -= 128) {
    ASSERT_TRUE(files_.truncate_disk(path, length).ok());
    TestedLog log(files_, history_, options_);
    ASSERT_TRUE(log.recover({}, PackLog::Access::kReadOnly).ok()) << length;
    log.expect_nothing_torn();
    for (std::size_t group = 1; group < starts_.size(); ++group) {
      if (starts_[group] <= length) log.expect_visited(generations_before(starts_[group]));
    }
  }
}

TEST_F(FlippedPack, ASealedPackThatWasCutIsNamed) {
  {
    TestedLog log(files_, history_, options_);
    ASSERT_TRUE(log.recover().ok());
    ASSERT_TRUE(log.log().seal_active(Context()).ok());
    ASSERT_TRUE(log.put("b/next", "in another pack").ok());
  }
  ASSERT_TRUE(files_.truncate_disk(pack_path(1), end_ - 700).ok());
  TestedLog log(files_, history_, options_);
  ASSERT_TRUE(log.recover().ok());
  EXPECT_FALSE(log.recovered().damages.empty());
  EXPECT_TRUE(log.log().pack(1)->is_damaged());
  log.expect_visited(generations_before(starts_.back()));
}

// People store packs in Leat. When the header of such an object is damaged, the walk looks for the
// next record, and must not find those in the object.
TEST(PackRecovery, RecordsInsideAnObjectStayThere) {
  SimulatedFileSystem files;
  ASSERT_TRUE(make_pack_directory(files).ok());
  LogHistory history;
  PackLogOptions options = small_packs();
  options.pack_bytes = 1 << 20;
  std::uint64_t outer = 0;
  {
    TestedLog log(files, history, options);
    ASSERT_TRUE(log.recover().ok());
    for (const char c : {'a', 'b', 'c'}) ASSERT_TRUE(log.put("b/inner", data_of(600, c)).ok());
    const auto pack = files.disk_bytes(pack_path(1));
    ASSERT_TRUE(pack.ok());
    outer = log.log().end().offset_bytes();
    const std::string copy(reinterpret_cast<const char*>(pack->data()), pack->size());
    ASSERT_TRUE(log.put("b/outer.tar", copy).ok());
    ASSERT_TRUE(log.put("b/after", "x").ok());
  }
  const std::byte garbage[] = {std::byte{'!'}};
  ASSERT_TRUE(files.overwrite_disk(pack_path(1), outer + 10, garbage).ok());
  TestedLog log(files, history, options);
  ASSERT_TRUE(log.recover().ok());
  log.expect_nothing_torn();
  EXPECT_EQ(log.visited_generations(), (std::set<std::uint64_t>{1, 2, 3, 5}));
  ASSERT_EQ(log.recovered().damages.size(), 1u);
  EXPECT_EQ(log.recovered().damages[0].location.offset_bytes(), outer);
}

TEST(PackRecovery, StartsAtTheCheckpoint) {
  SimulatedFileSystem files;
  ASSERT_TRUE(make_pack_directory(files).ok());
  LogHistory history;
  Location checkpoint;
  {
    TestedLog log(files, history, small_packs());
    ASSERT_TRUE(log.recover().ok());
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(log.put("b/before", data_of(2000, 'x')).ok());
    checkpoint = log.log().end();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(log.put("b/after", data_of(2000, 'y')).ok());
  }
  TestedLog log(files, history, small_packs());
  ASSERT_TRUE(log.recover(checkpoint).ok());
  EXPECT_EQ(log.visited().size(), 10u);
  for (const auto& [record, place] : log.visited()) EXPECT_EQ(record.key, "b/after");
}

// Compaction may remove the newest pack. What is written next must lie after the checkpoint all
// the same, or the next start would not replay it.
TEST(PackRecovery, ANewPackComesAfterTheCheckpointEvenIfThatPackIsGone) {
  SimulatedFileSystem files;
  ASSERT_TRUE(make_pack_directory(files).ok());
  LogHistory history;
  Location checkpoint;
  {
    TestedLog log(files, history, small_packs());
    ASSERT_TRUE(log.recover().ok());
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(log.put("b/x", data_of(3000, 'x')).ok());
    ASSERT_TRUE(log.log().seal_active(Context()).ok());
    checkpoint = log.log().end();
    ASSERT_GT(checkpoint.pack, 2u);
    for (const auto& pack : log.log().packs()) {
      if (pack->id() == 1) continue;
      ASSERT_TRUE(log.log().remove_pack(pack->id()).ok());
    }
  }
  {
    TestedLog log(files, history, small_packs());
    ASSERT_TRUE(log.recover(checkpoint).ok());
    EXPECT_GE(log.log().end(), checkpoint);
    ASSERT_TRUE(log.put("b/new", "new").ok());
    EXPECT_GT(log.log().end(), checkpoint);
  }
  TestedLog log(files, history, small_packs());
  ASSERT_TRUE(log.recover(checkpoint).ok());
  ASSERT_EQ(log.visited().size(), 1u);
  EXPECT_EQ(log.visited()[0].first.key, "b/new");
}

}  // namespace
}  // namespace leat::local
