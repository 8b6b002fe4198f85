// A full disk: nothing can be put, everything can be read and removed, and what is removed makes
// room again.
#include <gtest/gtest.h>

#include <algorithm>

#include "leat/local/layout.h"
#include "leat/local/local_store.h"
#include "leat/local/testing/local_fixture.h"
#include "leat/store/testing/contract.h"

namespace leat::local {
namespace {

using leat::testing::pattern_bytes;
using leat::testing::succeeds;
using testing::simulated_options;

constexpr std::uint64_t kDiskBytes = 4 << 20;
constexpr std::size_t kObjectBytes = 3000;

// A store on a small disk, and the objects that it has to have.
class FullDisk {
 public:
  FullDisk() {
    disk_.set_capacity(kDiskBytes);
    store_ = *LocalStore::create({"drive0"}, options());
    EXPECT_TRUE(succeeds(store_->create_bucket("data", {}, {})));
    Status status = ok_status();
    for (next_ = 0; status.ok(); ++next_) status = put(next_);
    EXPECT_TRUE(status.failed_with(ErrorCode::kNoSpace)) << status.error().message();
    --next_;
    EXPECT_GT(next_, 100);
  }

  SimulatedFileSystem& disk() { return disk_; }
  LocalStore& store() { return *store_; }
  int count() const { return next_; }
  Status put(int i) { return put(i, kObjectBytes); }
  Status put(int i, std::size_t size_bytes) {
    RETURN_IF_ERROR(
        write_object(**store_->bucket("data"), name(i), pattern_bytes(size_bytes, i), {}, {}));
    return ok_status();
  }
  Status remove(int i) { return (*store_->bucket("data"))->remove(name(i), {}, {}); }
  void reopen() {
    store_.reset();
    auto opened = LocalStore::open({"drive0"}, options());
    ASSERT_TRUE(succeeds(opened));
    store_ = *opened;
  }
  // The objects from `first` on are there, whole, and those before it are not.
  void expect_removed_before(int first) {
    for (int i = 0; i < next_; ++i) {
      const auto bytes = read_object(**store_->bucket("data"), name(i), {});
      if (i < first) {
        EXPECT_TRUE(bytes.failed_with(ErrorCode::kNotFound)) << i;
      } else {
        ASSERT_TRUE(succeeds(bytes)) << i;
        EXPECT_EQ(*bytes, pattern_bytes(kObjectBytes, i)) << i;
      }
    }
  }
  void stop() { store_.reset(); }

 private:
  StoreOptions options() {
    StoreOptions options = simulated_options(disk_);
    options.drive.log.reserve_bytes = 64 << 10;
    return options;
  }
  static std::string name(int i) { return "n" + std::to_string(i); }

  SimulatedFileSystem disk_;
  std::shared_ptr<LocalStore> store_;
  int next_ = 0;
};

// However often it is tried before: what could not be put does not take the room of removing.
TEST(FullDiskTest, ObjectsCanBeRemoved) {
  FullDisk full;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(full.put(1000 + i).failed_with(ErrorCode::kNoSpace));
    EXPECT_TRUE(full.put(1000 + i, 100'000).failed_with(ErrorCode::kNoSpace));
    ASSERT_TRUE(succeeds(full.remove(i))) << i;
  }
  full.disk().power_cut(PowerCut::Unsynced::kLost);
  full.reopen();
  full.expect_removed_before(10);
}

TEST(FullDiskTest, WhatIsRemovedMakesRoomAgain) {
  FullDisk full;
  for (int i = 0; i < full.count(); ++i) {
    ASSERT_TRUE(succeeds(full.remove(i))) << i;
    for (bool worked = true; worked;) {
      const auto result = full.store().maintain({});
      worked = result.ok() && *result;
    }
  }
  full.expect_removed_before(full.count());
  ASSERT_TRUE(succeeds(full.store().compact({})));
  for (int i = 0; i < full.count() / 2; ++i) ASSERT_TRUE(succeeds(full.put(i))) << i;
  ASSERT_TRUE(succeeds(full.store().close({})));
  const auto paths = full.disk().paths();
  const std::string reserve = "drive0/" + std::string(kReserveFile);
  EXPECT_NE(std::find(paths.begin(), paths.end(), reserve), paths.end()) << "it was made again";
}

TEST(FullDiskTest, AProcessThatBeginsOnAFullDiskCanRemove) {
  FullDisk full;
  for (int round = 0; round < 3; ++round) {
    full.reopen();
    ASSERT_TRUE(succeeds(full.remove(round)));
    EXPECT_TRUE(full.put(1000).failed_with(ErrorCode::kNoSpace));
    full.expect_removed_before(round + 1);
  }
}

// The machine stops at every call of a few removals.
TEST(FullDiskTest, ARemovalThatWasAcknowledgedOutlivesAPowerCut) {
  constexpr int kRemovals = 4;
  for (std::uint64_t n = 0;; ++n) {
    FullDisk full;
    full.disk().cut_at_call(full.disk().calls() + n);
    int removed = 0;
    while (removed < kRemovals && full.remove(removed).ok()) ++removed;
    full.stop();
    if (n % 3 == 0) full.disk().power_cut(n);
    if (n % 3 == 1) full.disk().power_cut(PowerCut::Unsynced::kLost);
    if (n % 3 == 2) full.disk().power_cut(PowerCut::Unsynced::kKept);
    full.reopen();
    // The one under way may be gone, too.
    const Status again = full.remove(removed);
    ASSERT_TRUE(again.ok() || again.failed_with(ErrorCode::kNotFound))
        << n << ": " << again.error().message();
    full.expect_removed_before(removed + 1);
    if (::testing::Test::HasFailure()) FAIL() << "cut at call " << n;
    if (removed == kRemovals) break;
  }
}

}  // namespace
}  // namespace leat::local
