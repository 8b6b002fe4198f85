#include "leat/shard/shard_index.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "leat/base/hash.h"
#include "leat/base/random.h"
#include "leat/shard/testing/tar_fixture.h"
#include "leat/store/testing/plain_store.h"

namespace leat {
namespace {

using testing::bytes_of;
using testing::PlainStore;
using testing::TarBuilder;

using Blob = std::vector<std::byte>;

constexpr std::uint64_t kShardBytes = 1 << 20;
constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kEntryBytes = 32;

std::size_t slots_bytes(std::size_t count) {
  return (count + count / 2 + 1) * 4;
}

ShardMember member_at(std::string_view name, std::uint64_t block) {
  return {name, block * 512, 100, -5, 0xdeadbeef};
}

Blob blob_of(const std::vector<std::string>& names) {
  ShardIndexBuilder builder;
  std::uint64_t block = 1;
  for (const std::string& name : names) EXPECT_TRUE(builder.add(member_at(name, block++)).ok());
  return std::move(builder).finish(kShardBytes);
}

template <typename T>
void put(Blob& blob, std::size_t offset, T value) {
  std::memcpy(blob.data() + offset, &value, sizeof value);
}

// Makes the checksums right again after a change, as an attacker would.
void seal(Blob& blob, std::size_t count) {
  const std::span<const std::byte> all(blob);
  const std::size_t slots_at = kHeaderBytes + count * kEntryBytes;
  put(blob, 40, crc32c(0, all.subspan(kHeaderBytes, count * kEntryBytes)));
  put(blob, 48, crc32c(0, all.subspan(slots_at, slots_bytes(count))));
  put(blob, 44, crc32c(0, all.subspan(slots_at + slots_bytes(count))));
  put(blob, 60, crc32c(0, std::span(blob).first(60)));
}

TEST(ShardIndex, FindsMembersByName) {
  const auto index = ShardIndex::decode(blob_of({"b/2", "a", "c", "b/1", "b"}));
  ASSERT_TRUE(index.ok()) << index.error().message();
  EXPECT_EQ(index->size(), 5u);
  EXPECT_EQ(index->shard_bytes(), kShardBytes);
  const auto found = index->find("b/1");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "b/1");
  EXPECT_EQ(found->data_offset, 4u * 512);
  EXPECT_EQ(found->size_bytes, 100u);
  EXPECT_EQ(found->mtime_ns, -5);
  EXPECT_EQ(found->crc32c, 0xdeadbeef);
  for (const std::string_view absent : {"", "B", "a/", "b/", "b/11", "d", "\xff"}) {
    EXPECT_FALSE(index->find(absent)) << absent;
  }
}

TEST(ShardIndex, IteratesInByteOrderFromAnywhere) {
  const auto index = ShardIndex::decode(blob_of({"b/2", "a", "\xff", "b/1", "b", "b0"}));
  ASSERT_TRUE(index.ok());
  const std::vector<std::string> sorted = {"a", "b", "b/1", "b/2", "b0", "\xff"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    EXPECT_EQ(index->name(i), sorted[i]);
    EXPECT_EQ(index->member(i).name, sorted[i]);
  }
  EXPECT_EQ(index->seek(""), 0u);
  EXPECT_EQ(index->seek("b"), 1u);
  EXPECT_EQ(index->seek("b/"), 2u);
  EXPECT_EQ(index->seek("b/1"), 2u);
  EXPECT_EQ(index->seek("b/3"), 4u);
  EXPECT_EQ(index->seek("c"), 5u);
  EXPECT_EQ(index->seek("\xff\xff"), 6u);
}

TEST(ShardIndex, OfSeveralMembersWithOneNameTheLastWins) {
  const auto index = ShardIndex::decode(blob_of({"x", "a", "x", "b", "x"}));
  ASSERT_TRUE(index.ok());
  EXPECT_EQ(index->size(), 3u);
  EXPECT_EQ(index->find("x")->data_offset, 5u * 512);
}

TEST(ShardIndex, AnEmptyShardHasAnIndex) {
  const auto index = ShardIndex::decode(blob_of({}));
  ASSERT_TRUE(index.ok());
  EXPECT_EQ(index->size(), 0u);
  EXPECT_EQ(index->seek("x"), 0u);
  EXPECT_FALSE(index->find("x"));
}

TEST(ShardIndex, AMemberCosts38BytesAndItsName) {
  const std::size_t small = blob_of({"a", "b"}).size();
  EXPECT_EQ(blob_of({"a", "b", "cc", "dd"}).size() - small, 2 * 38u + 4);
}

// The format is on disks: this changes only together with the version.
TEST(ShardIndex, BlobIsPinned) {
  const Blob blob = blob_of({"train/1.jpg", "train/1.cls"});
  EXPECT_EQ(xxh3_64(blob), 15086018926796426456u);
}

TEST(ShardIndex, AgreesWithAMapOnRandomNames) {
  Random random(7);
  std::map<std::string, std::uint64_t> expected;
  ShardIndexBuilder builder;
  for (std::uint64_t block = 1; block <= 2000; ++block) {
    std::string name;
    for (std::uint64_t i = 0; i <= random.uniform(6); ++i) {
      name += static_cast<char>('a' + random.uniform(4));
    }
    expected[name] = block * 512;
    ASSERT_TRUE(builder.add(member_at(name, block)).ok());
  }
  const auto index = ShardIndex::decode(std::move(builder).finish(2001 * 512));
  ASSERT_TRUE(index.ok()) << index.error().message();
  ASSERT_EQ(index->size(), expected.size());
  std::size_t position = 0;
  for (const auto& [name, offset] : expected) {
    EXPECT_EQ(index->name(position++), name);
    EXPECT_EQ(index->find(name)->data_offset, offset);
    EXPECT_EQ(index->seek(name + '\x01'), position);
  }
}

TEST(ShardIndex, EveryChangedByteAndEveryTruncationIsRefused) {
  const Blob good = blob_of({"train/1.jpg", "train/1.cls", "val/2.jpg"});
  for (std::size_t offset = 0; offset < good.size(); ++offset) {
    Blob bad = good;
    bad[offset] ^= std::byte{0x10};
    EXPECT_FALSE(ShardIndex::decode(std::move(bad)).ok()) << offset;
    EXPECT_FALSE(ShardIndex::decode(Blob(good.begin(), good.begin() + offset)).ok()) << offset;
  }
  Blob longer = good;
  longer.push_back(std::byte{0});
  EXPECT_TRUE(ShardIndex::decode(std::move(longer)).failed_with(ErrorCode::kCorrupted));
}

TEST(ShardIndex, HostileBlobsWithRightChecksumsAreRefused) {
  constexpr std::size_t kCount = 3;
  const auto refused = [](std::size_t offset, auto value) {
    Blob blob = blob_of({"aa", "bb", "cc"});
    put(blob, offset, value);
    seal(blob, kCount);
    return ShardIndex::decode(std::move(blob)).failed_with(ErrorCode::kCorrupted);
  };
  const std::size_t second = kHeaderBytes + kEntryBytes;
  EXPECT_TRUE(refused(24, std::uint64_t{2}));                    // fewer members
  EXPECT_TRUE(refused(24, UINT64_MAX));                          // more than there are
  EXPECT_TRUE(refused(24, (UINT64_MAX / kEntryBytes) + 2));      // whose bytes overflow
  EXPECT_TRUE(refused(32, UINT64_MAX - 100));                    // names
  EXPECT_TRUE(refused(52, std::uint8_t{1}));                     // reserved
  EXPECT_TRUE(refused(second, std::uint64_t{0}));                // data where a header must be
  EXPECT_TRUE(refused(second, std::uint64_t{513}));              // not at a block
  EXPECT_TRUE(refused(second, std::uint64_t{2 * kShardBytes}));  // behind the end
  EXPECT_TRUE(refused(second + 8, kShardBytes));                 // reaching behind it
  EXPECT_TRUE(refused(second + 8, UINT64_MAX));                  // or around 64 bits
  EXPECT_TRUE(refused(second + 28, std::uint32_t{0}));           // an empty name before it
  EXPECT_TRUE(refused(second + 28, std::uint32_t{5}));        // a name that ends before it begins
  EXPECT_TRUE(refused(second + 28, UINT32_MAX));              // out of bounds
  EXPECT_TRUE(refused(kHeaderBytes + 28, std::uint32_t{1}));  // a gap
  const std::size_t slots = kHeaderBytes + kCount * kEntryBytes;
  EXPECT_TRUE(refused(slots, std::uint32_t{kCount}));  // leads to no member
  const std::size_t names = slots + slots_bytes(kCount);
  EXPECT_TRUE(refused(names, 'd'));                    // out of order
  EXPECT_TRUE(refused(names + 1, '\0'));               // a NUL
  EXPECT_TRUE(refused(names, std::uint16_t{0x6262}));  // twice "bb"
}

TEST(ShardIndex, SlotsThatLeadAstrayDoNotLoopOrLie) {
  Blob blob = blob_of({"aa", "bb", "cc"});
  const std::size_t slots = kHeaderBytes + 3 * kEntryBytes;
  std::memset(blob.data() + slots, 0, slots_bytes(3));  // all lead to the first member
  seal(blob, 3);
  const auto index = ShardIndex::decode(std::move(blob));
  ASSERT_TRUE(index.ok()) << index.error().message();
  EXPECT_EQ(index->find("aa")->name, "aa");
  EXPECT_EQ(index->find("cc")->name, "cc");
  EXPECT_FALSE(index->find("dd"));
}

TEST(ShardIndex, NewerFormatsAreRefusedAsSuch) {
  for (const std::size_t offset : {8, 12}) {
    Blob blob = blob_of({"aa", "bb", "cc"});
    put(blob, offset, std::uint32_t{2});
    seal(blob, 3);
    EXPECT_TRUE(ShardIndex::decode(std::move(blob)).failed_with(ErrorCode::kUnsupported));
  }
}

TEST(ShardIndex, IndexesAShardThatIsSomewhere) {
  PlainStore store;
  const Context context;
  const std::string stream = TarBuilder().file("b.txt", "beta").file("./a", "1").end().bytes();
  ASSERT_TRUE(write_object(store, "s.tar", bytes_of(stream), {}, context).ok());
  auto reader = store.open("s.tar", {}, context);
  ASSERT_TRUE(reader.ok());
  auto indexed = index_shard(**reader, context);
  ASSERT_TRUE(indexed.ok()) << indexed.error().message();
  EXPECT_EQ(indexed->summary.members, 2u);
  const auto index = ShardIndex::decode(std::move(indexed->blob));
  ASSERT_TRUE(index.ok());
  EXPECT_EQ(index->shard_bytes(), stream.size());
  const auto member = index->find("b.txt");
  ASSERT_TRUE(member);
  EXPECT_EQ(stream.substr(member->data_offset, member->size_bytes), "beta");
  EXPECT_EQ(member->crc32c, crc32c(0, bytes_of("beta")));
  EXPECT_TRUE(index->find("a"));
}

}  // namespace
}  // namespace leat
