#include "leat/local/pack_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "leat/base/hash.h"
#include "leat/base/testing/simulated_file_system.h"
#include "leat/local/layout.h"
#include "leat/local/testing/pack_log_fixture.h"
#include "leat/shard/testing/scratch_directory.h"

namespace leat::local {
namespace {

using Fault = SimulatedFileSystem::Fault;

Change change_of(const std::string& key, std::span<const std::byte> data) {
  Record record;
  record.key = key;
  record.size_bytes = data.size();
  record.crc32c = crc32c(0, data);
  return Change(std::move(record), data);
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

class PackLogTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(make_pack_directory(files_).ok()); }

  SimulatedFileSystem files_;
  LogHistory history_;
};

TEST_F(PackLogTest, StartsEmptyAndMakesNoFiles) {
  TestedLog log(files_, history_, small_packs());
  ASSERT_TRUE(log.recover().ok());
  EXPECT_EQ(log.log().end(), Location{});
  EXPECT_TRUE(log.log().packs().empty());
  EXPECT_TRUE(files_.paths().empty());
  EXPECT_TRUE(log.log().sync().ok());
  EXPECT_TRUE(log.log().seal_active(Context()).ok());
}

TEST_F(PackLogTest, EveryChangeHasItsOwnResult) {
  TestedLog log(files_, history_, small_packs());
  ASSERT_TRUE(log.recover().ok());
  const std::vector<TestedLog::Put> puts = {{"b/a", "1"}, {"refused/b", "2"}, {"b/c", "3"}};
  EXPECT_TRUE(log.commit(puts).failed_with(ErrorCode::kPreconditionFailed));
  EXPECT_EQ(history_.acknowledged, (std::set<std::uint64_t>{1, 2}));
  EXPECT_EQ(log.published_groups(), 1u);
}

TEST_F(PackLogTest, AnExpiredCallerChangesNothing) {
  TestedLog log(files_, history_, small_packs());
  ASSERT_TRUE(log.recover().ok());
  const Context late = Context().with_timeout(std::chrono::nanoseconds(0));
  Change change = change_of("b/late", {});
  EXPECT_TRUE(log.log().commit(change, late).failed_with(ErrorCode::kDeadlineExceeded));
  EXPECT_TRUE(change.result.failed_with(ErrorCode::kDeadlineExceeded));
  EXPECT_EQ(history_.generation, 0u);
}

TEST_F(PackLogTest, ChangesOfOneKeyKeepTheirOrder) {
  PackLogOptions options = small_packs();
  options.group_bytes = 2048;
  TestedLog log(files_, history_, options);
  ASSERT_TRUE(log.recover().ok());
  const std::string large(3000, 'x');
  std::vector<Change> changes;
  changes.push_back(change_of("b/first", {}));
  changes.push_back(change_of("b/key", bytes_of(large)));  // does not fit into the first group
  changes.push_back(change_of("b/key", {}));               // would fit, but must not overtake
  ASSERT_TRUE(log.log().commit(std::span(changes), Context()).ok());
  EXPECT_LT(changes[1].record.generation, changes[2].record.generation);
  EXPECT_LT(changes[1].entry.place.location(), changes[2].entry.place.location());
}

TEST_F(PackLogTest, RollsIntoNewPacksAndEndsOldOnes) {
  {
    TestedLog log(files_, history_, small_packs());
    ASSERT_TRUE(log.recover().ok());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(log.put("b/k", std::string(3000, 'x')).ok());
    const auto packs = log.log().packs();
    ASSERT_GT(packs.size(), 5u);
    for (const auto& pack : packs) {
      const auto status = pack->file().status();
      ASSERT_TRUE(status.ok());
      if (pack->id() == log.log().active_pack()) continue;
      EXPECT_LE(pack->end_bytes(), small_packs().pack_bytes);
      EXPECT_EQ(status->size_bytes, pack->end_bytes() + 2 * kBlockBytes);
    }
    // A record that is larger than a pack has one of its own.
    ASSERT_TRUE(log.put("b/large", std::string(50'000, 'x')).ok());
  }
  TestedLog again(files_, history_, small_packs());
  ASSERT_TRUE(again.recover().ok());
  again.expect_nothing_torn();
  again.expect_visited(history_.acknowledged);
}

TEST_F(PackLogTest, ARecordThatFitsIntoNoPackIsRefused) {
  TestedLog log(files_, history_, small_packs());
  ASSERT_TRUE(log.recover().ok());
  // The bytes are never looked at: their number alone decides.
  const std::byte some{};
  Record record;
  record.key = "b/huge";
  Change change(std::move(record), {&some, kMaxPackBytes});
  EXPECT_TRUE(log.log().commit(change, Context()).failed_with(ErrorCode::kTooLarge));
  EXPECT_TRUE(log.put("b/next", "x").ok());
}

TEST_F(PackLogTest, AFullOrBrokenDiskGathersNoPacks) {
  for (const Fault::Kind kind : {Fault::Kind::kNoSpace, Fault::Kind::kIoError}) {
    TestedLog log(files_, history_, small_packs());
    ASSERT_TRUE(log.recover().ok());
    ASSERT_TRUE(log.put("b/before", "x").ok());
    const std::size_t packs = log.log().packs().size();
    files_.fail_call(files_.calls(), {.kind = kind, .lasts = Fault::Lasts::kForever});
    for (int i = 0; i < 50; ++i) EXPECT_FALSE(log.put("b/full", "x").ok());
    files_.clear_faults();
    EXPECT_LE(log.log().packs().size(), packs + 1);
    EXPECT_TRUE(log.put("b/after", "x").ok());
    EXPECT_LE(log.log().packs().size(), packs + 1);
    EXPECT_LE(log.log().active_pack(), packs + 1);
  }
  TestedLog again(files_, history_, small_packs());
  ASSERT_TRUE(again.recover().ok());
  again.expect_visited(history_.acknowledged);
  EXPECT_TRUE(again.recovered().damages.empty());
}

TEST_F(PackLogTest, AFailedSyncEndsThePackWithoutFalseDamage) {
  {
    TestedLog log(files_, history_, small_packs());
    ASSERT_TRUE(log.recover().ok());
    const TestedLog::Put lazy{"b/lazy", "x", RecordKind::kObject, {}, false};
    ASSERT_TRUE(log.commit(std::span(&lazy, 1)).ok());
    files_.fail_call(files_.calls(), {});
    EXPECT_FALSE(log.log().sync().ok());
    ASSERT_TRUE(log.put("b/next", "x").ok());
    EXPECT_EQ(log.log().active_pack(), 2u);
  }
  TestedLog again(files_, history_, small_packs());
  ASSERT_TRUE(again.recover().ok());
  again.expect_nothing_torn();
  again.expect_visited(history_.acknowledged);
  EXPECT_TRUE(again.recovered().damages.empty());
}

// A listener that lets a test hold the leader in the middle of a group. Thread-safe.
class SlowListener final : public PackLog::Listener {
 public:
  std::uint64_t next_generation() override { return ++generation_; }
  Status prepare(Change& change) override {
    if (change.record.key == "b/slow") {
      is_leading_.set_value();
      release_.get_future().wait();
    }
    return ok_status();
  }
  void publish(std::span<Change* const> changes) override {
    ++groups_;
    published_ += changes.size();
  }

  std::promise<void> is_leading_;
  std::promise<void> release_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<std::uint64_t> groups_{0};
  std::atomic<std::uint64_t> published_{0};
};

Status ignore(const Record&, Place) {
  return ok_status();
}

TEST_F(PackLogTest, ACallerWhoseDeadlinePassesInTheQueueIsWithdrawn) {
  SlowListener listener;
  PackLog log(files_, small_packs(), listener);
  ASSERT_TRUE(log.recover({}, PackLog::Access::kReadWrite, ignore).ok());
  Change slow = change_of("b/slow", {});
  std::jthread leader([&] { EXPECT_TRUE(log.commit(slow, Context()).ok()); });
  listener.is_leading_.get_future().wait();
  Change late = change_of("b/late", {});
  const Context hurried = Context().with_timeout(std::chrono::milliseconds(5));
  EXPECT_TRUE(log.commit(late, hurried).failed_with(ErrorCode::kDeadlineExceeded));

  listener.release_.set_value();
  leader.join();
  EXPECT_EQ(listener.published_, 1u);
  EXPECT_EQ(late.entry.place.bits(), 0u);
}

TEST_F(PackLogTest, ThoseWhoWaitFormOneGroup) {
  SlowListener listener;
  PackLog log(files_, small_packs(), listener);
  ASSERT_TRUE(log.recover({}, PackLog::Access::kReadWrite, ignore).ok());
  constexpr std::size_t kOthers = 8;
  std::vector<Change> changes;
  changes.push_back(change_of("b/slow", {}));
  for (std::size_t i = 0; i < kOthers; ++i)
    changes.push_back(change_of(fmt::format("b/{}", i), {}));
  std::vector<std::jthread> threads;
  threads.emplace_back([&] { EXPECT_TRUE(log.commit(changes[0], Context()).ok()); });
  listener.is_leading_.get_future().wait();
  std::atomic<std::size_t> started{0};
  for (std::size_t i = 1; i <= kOthers; ++i) {
    threads.emplace_back([&, i] {
      ++started;
      EXPECT_TRUE(log.commit(changes[i], Context()).ok());
    });
  }
  while (started < kOthers) std::this_thread::yield();
  listener.release_.set_value();
  threads.clear();
  EXPECT_EQ(listener.published_, kOthers + 1);
  EXPECT_LE(listener.groups_, kOthers + 1);
}

TEST_F(PackLogTest, SixteenThreadsCommitWhilePacksComeAndGo) {
  constexpr int kThreads = 16;
  constexpr int kEach = 40;
  SlowListener listener;
  PackLog log(files_, small_packs(), listener);
  ASSERT_TRUE(log.recover({}, PackLog::Access::kReadWrite, ignore).ok());
  std::vector<std::jthread> threads;
  std::atomic<int> running{kThreads};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const std::string data(static_cast<std::size_t>(i) * 10, static_cast<char>('a' + t));
        Change change =
            change_of(i % 4 == 0 ? "b/shared" : fmt::format("b/{}-{}", t, i), bytes_of(data));
        change.wait_for_disk = i % 3 != 0;
        EXPECT_TRUE(log.commit(change, Context()).ok());
        // Whoever was told so can read it.
        const Location location = change.entry.place.location();
        const auto pack = log.pack(location.pack);
        if (!pack) continue;
        const auto head = pack->read_head(location.offset_bytes());
        ASSERT_TRUE(head.ok()) << head.error().message();
        EXPECT_EQ(head->record.generation, change.record.generation);
      }
      --running;
    });
  }
  std::uint32_t removed = 0;
  while (running > 0) {
    (void)log.sync();
    const auto packs = log.packs();
    if (packs.size() > 4 && packs[0]->id() < log.active_pack()) {
      ASSERT_TRUE(log.remove_pack(packs[0]->id()).ok());
      ++removed;
    }
    std::this_thread::yield();
  }
  threads.clear();
  EXPECT_EQ(listener.published_, static_cast<std::uint64_t>(kThreads * kEach));
  SlowListener other;
  PackLog again(files_, small_packs(), other);
  std::set<std::uint64_t> generations;
  ASSERT_TRUE(again
                  .recover({}, PackLog::Access::kReadWrite,
                           [&](const Record& record, Place) {
                             EXPECT_TRUE(generations.insert(record.generation).second);
                             return ok_status();
                           })
                  .ok());
  if (removed == 0) {
    EXPECT_EQ(generations.size(), static_cast<std::size_t>(kThreads * kEach));
  }
}

TEST(PackLogTar, APackIsATarFileAfterEveryCommit) {
  const leat::testing::ScratchDirectory directory;
  const auto files = FileSystem::posix(directory.path().string());
  ASSERT_TRUE(files.ok());
  ASSERT_TRUE(make_pack_directory(**files).ok());
  LogHistory history;
  PackLogOptions options = small_packs();
  options.pack_bytes = 1 << 20;
  TestedLog log(**files, history, options);
  ASSERT_TRUE(log.recover().ok());
  Metadata metadata;
  metadata.user["note"] = "a b";
  const std::string deep(150, 'd');
  const std::vector<TestedLog::Put> puts = {
      {"b/plain", "plain bytes"},
      {"b/" + deep + "/" + deep, std::string(1500, 'x')},
      {"b/rich", "rich", RecordKind::kObject, metadata},
      {"b/empty", ""},
      {"b/plain", "", RecordKind::kDelete},
  };
  std::string names;
  for (const auto& put : puts) {
    ASSERT_TRUE(log.commit(std::span(&put, 1)).ok());
    if (put.kind == RecordKind::kObject) names += put.key + "\n";
    const auto listed = directory.run("tar tf packs/00000001.tar");
    EXPECT_EQ(listed.exit_code, 0);
    EXPECT_EQ(listed.output, names);
    if (put.kind != RecordKind::kObject) continue;
    const auto read = directory.run("tar xOf packs/00000001.tar " + put.key);
    EXPECT_EQ(read.exit_code, 0);
    EXPECT_EQ(read.output, put.data);
  }
  ASSERT_TRUE(log.log().seal_active(Context()).ok());
  EXPECT_EQ(directory.run("tar tf packs/00000001.tar").output, names);
  TestedLog again(**files, history, options);
  ASSERT_TRUE(again.recover().ok());
  again.expect_nothing_torn();
  again.expect_visited(history.acknowledged);
}

}  // namespace
}  // namespace leat::local
