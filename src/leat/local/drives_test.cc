// Drives that come, go, are lost or damaged while the store is used.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "leat/local/testing/local_fixture.h"
#include "leat/store/testing/contract.h"

namespace leat::local {
namespace {

using leat::testing::pattern_bytes;
using leat::testing::succeeds;
using testing::small_options;
using testing::TemporaryDirectory;

constexpr std::size_t kLargeBytes = 10'000;  // over the limit of small_options()

class DrivesTest : public ::testing::Test {
 protected:
  void create(int drives) {
    for (int i = 0; i < drives; ++i)
      directories_.push_back(directory_.make("drive" + std::to_string(i)));
    store_ = *LocalStore::create(directories_, small_options());
    ASSERT_TRUE(succeeds(store_->create_bucket("data", {}, context_)));
    bucket_ = *store_->bucket("data");
  }
  void close() {
    bucket_.reset();
    ASSERT_TRUE(succeeds(store_->close(context_)));
    store_.reset();
  }
  void reopen(const std::vector<std::string>& directories) {
    if (store_) close();
    auto opened = LocalStore::open(directories, small_options());
    ASSERT_TRUE(succeeds(opened));
    store_ = *std::move(opened);
    bucket_ = *store_->bucket("data");
  }
  static std::string name(int i) { return "object" + std::to_string(i); }
  static std::vector<std::byte> bytes(int i) {
    return pattern_bytes(i % 3 == 0 ? kLargeBytes : 300, 1000 + i);
  }
  void put(int i) {
    ASSERT_TRUE(succeeds(write_object(*bucket_, name(i), bytes(i), {}, context_)));
  }
  bool reads(int i) {
    const auto found = read_object(*bucket_, name(i), context_);
    return found.ok() && *found == bytes(i);
  }
  std::size_t listed() {
    ListRequest request;
    request.limit = 100'000;
    const auto page = bucket_->list(request, context_);
    return page.ok() ? page->entries.size() : 0;
  }
  // Begins to write objects first .. first+count.
  std::vector<std::unique_ptr<ObjectWriter>> begin(int first, int count) {
    std::vector<std::unique_ptr<ObjectWriter>> writers;
    for (int i = first; i < first + count; ++i) {
      writers.push_back(*bucket_->create(name(i), {}, context_));
      EXPECT_TRUE(succeeds(writers.back()->append(bytes(i), context_)));
    }
    return writers;
  }
  void finish(std::vector<std::unique_ptr<ObjectWriter>> writers) {
    for (const auto& writer : writers) ASSERT_TRUE(succeeds(writer->commit({}, context_)));
  }
  // Flips a byte of object i, wherever it is. REQUIRES: the store is closed.
  void damage(int i) {
    const auto wanted = bytes(i);
    const std::string text(reinterpret_cast<const char*>(wanted.data()), wanted.size());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.path())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      std::string content((std::istreambuf_iterator<char>(file)), {});
      const std::size_t at = content.find(text);
      if (at == content.npos) continue;
      content[at + 7] = static_cast<char>(content[at + 7] ^ 1);
      std::filesystem::permissions(entry.path(), std::filesystem::perms::owner_write,
                                   std::filesystem::perm_options::add);
      std::ofstream(entry.path(), std::ios::binary) << content;
      return;
    }
    FAIL() << name(i) << " is in no file";
  }
  std::size_t temporary_files() const {
    std::size_t count = 0;
    for (const auto& drive : std::filesystem::directory_iterator(directory_.path())) {
      const auto temporary = drive.path() / "temporary";
      count += static_cast<std::size_t>(std::distance(
          std::filesystem::directory_iterator(temporary), std::filesystem::directory_iterator()));
    }
    return count;
  }

  TemporaryDirectory directory_;
  std::vector<std::string> directories_;
  std::shared_ptr<LocalStore> store_;
  std::shared_ptr<ObjectStore> bucket_;
  Context context_;
};

TEST_F(DrivesTest, WhatIsBeingWrittenWhenADriveIsAddedIsFound) {
  create(1);
  auto before = begin(0, 40);
  ASSERT_TRUE(succeeds(store_->add_drive(directory_.make("new"), context_)));
  auto between = begin(40, 40);
  finish(std::move(before));
  ASSERT_TRUE(succeeds(store_->settle(context_)));
  finish(std::move(between));
  for (int i = 0; i < 80; ++i) EXPECT_TRUE(reads(i)) << i;
  EXPECT_EQ(listed(), 80u);
  reopen({directories_[0], (directory_.path() / "new").string()});
  for (int i = 0; i < 80; ++i) EXPECT_TRUE(reads(i)) << i;
  EXPECT_TRUE(store_->verify({}, context_)->ok());
  EXPECT_EQ(temporary_files(), 0u);
}

TEST_F(DrivesTest, WhatIsBeingWrittenWhenADriveIsRemovedIsFound) {
  create(2);
  auto writers = begin(0, 40);
  ASSERT_TRUE(succeeds(store_->remove_drive(directories_[1], context_)));
  finish(std::move(writers));
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(reads(i)) << i;
  reopen({directories_[0]});
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(reads(i)) << i;
  EXPECT_EQ(listed(), 40u);
}

TEST_F(DrivesTest, ADamagedObjectHoldsUpNoOther) {
  create(1);
  for (int i = 0; i < 60; ++i) put(i);
  close();
  for (int i = 0; i < 20; ++i) damage(i);
  reopen(directories_);
  ASSERT_TRUE(succeeds(store_->add_drive(directory_.make("new"), context_)));
  EXPECT_TRUE(store_->settle(context_).failed_with(ErrorCode::kCorrupted));
  EXPECT_EQ(temporary_files(), 0u);
  for (int i = 20; i < 60; ++i) EXPECT_TRUE(reads(i)) << i;
  EXPECT_GT((*store_->drives())[1].usage.objects, 10u);
  // They can be written again and removed, but not compared with.
  for (int i = 0; i < 10; ++i) put(i);
  for (int i = 10; i < 20; ++i) EXPECT_TRUE(succeeds(bucket_->remove(name(i), {}, context_))) << i;
  ASSERT_TRUE(succeeds(store_->settle(context_)));
  for (int i = 0; i < 60; ++i) EXPECT_EQ(reads(i), i < 10 || i >= 20) << i;
  EXPECT_EQ(listed(), 50u);
}

TEST_F(DrivesTest, ARemovalThatCannotSucceedIsCalledOff) {
  create(2);
  for (int i = 0; i < 30; ++i) put(i);
  close();
  for (int i = 0; i < 30; ++i) damage(i);
  reopen(directories_);
  EXPECT_TRUE(store_->remove_drive(directories_[1], context_).failed_with(ErrorCode::kCorrupted));
  const auto drives = *store_->drives();
  for (const DriveInfo& drive : drives) EXPECT_FALSE(drive.is_draining);
  for (int i = 100; i < 130; ++i) put(i);
  for (int i = 0; i < 30; ++i) put(i);
  ASSERT_TRUE(succeeds(store_->settle(context_)));
  ASSERT_TRUE(succeeds(store_->remove_drive(directories_[1], context_)));
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(reads(i)) << i;
}

TEST_F(DrivesTest, NothingThatAMissingDriveMayHoldIsTakenForAbsent) {
  create(2);
  for (int i = 0; i < 40; ++i) put(i);
  reopen({directories_[0]});
  EXPECT_TRUE(bucket_->list({}, context_).failed_with(ErrorCode::kUnavailable));
  ListRequest request;
  request.unreachable = ListRequest::Unreachable::kLeaveOut;
  const auto page = bucket_->list(request, context_);
  ASSERT_TRUE(succeeds(page));
  EXPECT_GT(page->entries.size(), 5u);
  EXPECT_LT(page->entries.size(), 35u);
  EXPECT_FALSE(store_->verify({}, context_)->ok());
  for (const auto& entry : page->entries)
    ASSERT_TRUE(succeeds(bucket_->remove(entry.name, {}, context_)));
  EXPECT_TRUE(store_->remove_bucket("data", context_).failed_with(ErrorCode::kUnavailable));
  reopen(directories_);
  EXPECT_EQ(listed(), 40 - page->entries.size());
}

TEST_F(DrivesTest, AStoreOpensWithoutADriveThatIsAway) {
  create(2);
  for (int i = 0; i < 10; ++i) put(i);
  close();
  std::filesystem::rename(directories_[0], directory_.path() / "away");
  reopen(directories_);
  EXPECT_TRUE((*store_->drives())[0].is_missing || (*store_->drives())[1].is_missing);
  close();
  std::filesystem::rename(directory_.path() / "away", directories_[0]);
  // A directory that never was a drive is a mistake.
  EXPECT_TRUE(LocalStore::open({directories_[0], directories_[1], directory_.make("empty")},
                               small_options())
                  .failed_with(ErrorCode::kNotFound));
  reopen(directories_);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(reads(i)) << i;
}

}  // namespace
}  // namespace leat::local
