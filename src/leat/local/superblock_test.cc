#include "leat/local/superblock.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "leat/base/hash.h"
#include "leat/base/testing/simulated_file_system.h"
#include "leat/local/layout.h"

namespace leat::local {
namespace {

Superblock sample() {
  Superblock block;
  block.store_id = "00112233445566778899aabbccddeeff";
  block.drive_id = "ffeeddccbbaa99887766554433221100";
  block.epoch = 7;
  block.set_epoch = UINT64_MAX;
  block.drive_ids = {block.drive_id, "0123456789abcdef0123456789abcdef"};
  block.is_settled = false;
  return block;
}

void expect_equal(const Superblock& a, const Superblock& b) {
  EXPECT_EQ(a.format_version, b.format_version);
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(a.store_id, b.store_id);
  EXPECT_EQ(a.drive_id, b.drive_id);
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.set_epoch, b.set_epoch);
  EXPECT_EQ(a.drive_ids, b.drive_ids);
  EXPECT_EQ(a.is_settled, b.is_settled);
  EXPECT_EQ(a.is_clean, b.is_clean);
}

// A superblock of any text, with the checksum that belongs to it.
void write_text(FileSystem& files, std::string text) {
  text += fmt::format("crc {:08x}\n", crc32c(0, std::as_bytes(std::span(text))));
  ASSERT_TRUE(files.replace_file(kSuperblockFile, std::as_bytes(std::span(text))).ok());
}

TEST(Superblock, ReadsWhatWasWritten) {
  SimulatedFileSystem files;
  EXPECT_TRUE(read_superblock(files).failed_with(ErrorCode::kNotFound));
  for (const bool flag : {false, true}) {
    Superblock block = sample();
    block.is_clean = flag;
    block.is_settled = !flag;
    if (flag) block.drive_ids.clear();
    ASSERT_TRUE(write_superblock(files, block).ok());
    const auto read = read_superblock(files);
    ASSERT_TRUE(read.ok()) << read.error().message();
    expect_equal(*read, block);
  }
}

TEST(Superblock, RefusesNewerFormatsAndFeatures) {
  SimulatedFileSystem files;
  Superblock block = sample();
  block.format_version = kFormatVersion + 1;
  ASSERT_TRUE(write_superblock(files, block).ok());
  EXPECT_TRUE(read_superblock(files).failed_with(ErrorCode::kUnsupported));
  block = sample();
  block.features = std::uint64_t{1} << 63;
  ASSERT_TRUE(write_superblock(files, block).ok());
  EXPECT_TRUE(read_superblock(files).failed_with(ErrorCode::kUnsupported));
  // Of a newer format only the first line and the checksum are known.
  write_text(files, "leat-store 0000000000000002\nsomething else\n");
  EXPECT_TRUE(read_superblock(files).failed_with(ErrorCode::kUnsupported));
}

TEST(Superblock, EveryFlippedOrMissingByteIsFound) {
  SimulatedFileSystem files;
  ASSERT_TRUE(write_superblock(files, sample()).ok());
  const auto whole = files.disk_bytes(kSuperblockFile);
  ASSERT_TRUE(whole.ok());
  for (std::size_t i = 0; i < whole->size(); ++i) {
    for (const int mask : {0x01, 0x20, 0x80}) {
      const std::byte flipped = (*whole)[i] ^ static_cast<std::byte>(mask);
      ASSERT_TRUE(files.overwrite_disk(kSuperblockFile, i, std::span(&flipped, 1)).ok());
      EXPECT_TRUE(read_superblock(files).failed_with(ErrorCode::kCorrupted)) << i;
    }
    ASSERT_TRUE(files.overwrite_disk(kSuperblockFile, 0, *whole).ok());
  }
  for (std::size_t length = whole->size(); length-- > 0;) {
    ASSERT_TRUE(files.truncate_disk(kSuperblockFile, length).ok());
    EXPECT_TRUE(read_superblock(files).failed_with(ErrorCode::kCorrupted)) << length;
  }
}

TEST(Superblock, WhatItMustSayIsMissed) {
  SimulatedFileSystem files;
  for (const std::string_view text :
       {"", "leat-store 1\n", "leat-store 0000000000000001\n", "features 0000000000000000\n",
        "leat-store 0000000000000001\nfeatures 0000000000000000\nepoch x\n", "nonsense\n"}) {
    write_text(files, std::string(text));
    EXPECT_TRUE(read_superblock(files).failed_with(ErrorCode::kCorrupted)) << text;
  }
}

TEST(Superblock, APowerCutLeavesTheOldOrTheNewOne) {
  for (std::uint64_t n = 0;; ++n) {
    bool finished = false;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SimulatedFileSystem files;
      ASSERT_TRUE(write_superblock(files, sample()).ok());
      files.cut_at_call(files.calls() + n);
      Superblock next = sample();
      next.epoch = 8;
      finished = write_superblock(files, next).ok();
      files.power_cut(seed);
      const auto read = read_superblock(files);
      ASSERT_TRUE(read.ok()) << read.error().message();
      if (finished) {
        EXPECT_EQ(read->epoch, 8u);
      } else {
        EXPECT_TRUE(read->epoch == 7 || read->epoch == 8);
      }
    }
    if (finished) break;
  }
}

TEST(Superblock, IdsAreRandom) {
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) {
    const auto id = random_id();
    ASSERT_TRUE(id.ok());
    EXPECT_EQ(id->size(), 32u);
    EXPECT_EQ(id->find_first_not_of("0123456789abcdef"), std::string::npos);
    ids.insert(*id);
  }
  EXPECT_EQ(ids.size(), 100u);
}

}  // namespace
}  // namespace leat::local
