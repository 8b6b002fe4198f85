// The contract suite: ranges, batches and local extents.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "leat/store/testing/contract.h"

namespace leat::testing {
namespace {

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

// The part of `bytes` that `range` asks for.
std::span<const std::byte> part_of(const Bytes& bytes, ByteRange range) {
  const ByteRange inner = range.within(bytes.size());
  return std::span(bytes).subspan(inner.offset, inner.length);
}

bool same_bytes(std::span<const std::byte> left, std::span<const std::byte> right) {
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0);
}

// Offsets and lengths around every edge of an object, and where sums overflow.
std::vector<ByteRange> edge_ranges(std::uint64_t size) {
  const std::uint64_t half = size / 2;
  std::vector<ByteRange> ranges;
  for (const std::uint64_t offset :
       {std::uint64_t{0}, std::uint64_t{1}, half, size - 1, size, size + 1, std::uint64_t{1} << 62,
        std::uint64_t{1} << 63, kHuge - 1, kHuge}) {
    for (const std::uint64_t length :
         {std::uint64_t{0}, std::uint64_t{1}, half, size - 1, size, size + 1}) {
      ranges.push_back({offset, length});
    }
  }
  return ranges;
}

TEST_P(StoreContract, ReadsEveryRange) {
  if (!capabilities().writable) GTEST_SKIP() << "not writable";
  for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, (std::size_t{1} << 20) + 3}) {
    const std::string name = "ranges-" + std::to_string(size);
    const Bytes bytes = put(name, pattern_bytes(size, 1));
    const auto reader = store().open(name, {}, context_);
    ASSERT_TRUE(succeeds(reader));
    for (const ByteRange range : edge_ranges(bytes.size())) {
      Bytes target(range.length + 1, std::byte{0xAA});
      const auto count =
          (*reader)->read_at(range.offset, std::span(target).first(range.length), context_);
      ASSERT_TRUE(succeeds(count)) << range.offset << "+" << range.length;
      const auto expected = part_of(bytes, range);
      ASSERT_EQ(*count, expected.size()) << range.offset << "+" << range.length;
      EXPECT_TRUE(same_bytes(std::span(target).first(*count), expected)) << range.offset;
      EXPECT_EQ(target.back(), std::byte{0xAA}) << "wrote past the end of the target";
    }
  }
}

TEST_P(StoreContract, ReadsNothingFromAnEmptyObject) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  put("empty", {});
  const auto reader = store().open("empty", {}, context_);
  ASSERT_TRUE(succeeds(reader));
  Bytes target(10);
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, kHuge}) {
    const auto count = (*reader)->read_at(offset, target, context_);
    ASSERT_TRUE(succeeds(count));
    EXPECT_EQ(*count, 0u);
  }
  BatchRead reads[] = {{.name = "empty", .range = {}, .target = {}},
                       {.name = "empty", .range = {}, .target = target}};
  store().read_batch(reads, context_);
  for (const BatchRead& read : reads) {
    ASSERT_TRUE(succeeds(read.result));
    EXPECT_TRUE(read.result->bytes.empty());
  }
}

TEST_P(StoreContract, ReadsRandomRangesOfAReaderAgain) {
  if (!capabilities().writable) GTEST_SKIP() << "not writable";
  const Bytes bytes = put("random", pattern_bytes(2'500'000, 2));
  const auto reader = store().open("random", {}, context_);
  ASSERT_TRUE(succeeds(reader));
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const ByteRange range{random() % (bytes.size() + 10), random() % 100'000};
    Bytes target(range.length);
    const auto count = (*reader)->read_at(range.offset, target, context_);
    ASSERT_TRUE(succeeds(count));
    ASSERT_TRUE(same_bytes(std::span(target).first(*count), part_of(bytes, range)));
  }
}

TEST_P(StoreContract, OpenOfWhatIsMissingFails) {
  if (!capabilities().stores_bytes) GTEST_SKIP() << "every name exists";
  expect_absent("missing");
  expect_absent("missing/beneath");
}

TEST_P(StoreContract, BatchAnswersInOrder) {
  if (!capabilities().writable) GTEST_SKIP() << "not writable";
  std::vector<Bytes> objects;
  std::vector<std::string> names;
  for (int index = 0; index < 20; ++index) {
    names.push_back("batch/" + std::to_string(index));
    objects.push_back(put(names.back(), pattern_bytes(100 + 997 * index, index)));
  }
  // Duplicates, ranges, slices of the store and spans of ours, a thousand items.
  std::mt19937_64 random(3);
  std::vector<Bytes> targets(1000);
  std::vector<std::size_t> chosen(1000);
  std::vector<BatchRead> reads(1000);
  for (std::size_t index = 0; index < reads.size(); ++index) {
    chosen[index] = random() % names.size();
    reads[index].name = names[chosen[index]];
    if (random() % 2 == 0) reads[index].range = {random() % 12'000, random() % 5'000};
    if (random() % 2 == 0) {
      targets[index].resize(1 + random() % 4'000);
      reads[index].target = targets[index];
    }
  }
  store().read_batch(reads, context_);
  for (std::size_t index = 0; index < reads.size(); ++index) {
    const BatchRead& read = reads[index];
    ASSERT_TRUE(succeeds(read.result)) << index;
    auto expected = part_of(objects[chosen[index]], read.range);
    if (!read.target.empty()) {
      expected = expected.first(std::min(expected.size(), read.target.size()));
      EXPECT_EQ(read.result->bytes.data(), read.target.data()) << index;
    }
    EXPECT_TRUE(same_bytes(read.result->bytes, expected)) << index;
  }
}

TEST_P(StoreContract, BatchReadsEveryRange) {
  if (!capabilities().writable) GTEST_SKIP() << "not writable";
  const Bytes bytes = put("ranged", pattern_bytes(1000, 5));
  auto ranges = edge_ranges(bytes.size());
  ranges.push_back({0, kToEnd});
  ranges.push_back({7, kToEnd});
  ranges.push_back({bytes.size(), kToEnd});
  ranges.push_back({kHuge, kToEnd});
  std::vector<BatchRead> reads(ranges.size());
  for (std::size_t index = 0; index < ranges.size(); ++index) {
    reads[index].name = "ranged";
    reads[index].range = ranges[index];
  }
  store().read_batch(reads, context_);
  for (std::size_t index = 0; index < ranges.size(); ++index) {
    ASSERT_TRUE(succeeds(reads[index].result)) << index;
    EXPECT_TRUE(same_bytes(reads[index].result->bytes, part_of(bytes, ranges[index]))) << index;
  }
}

TEST_P(StoreContract, BatchGoesOnAfterAMissingObject) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  const Bytes bytes = put("there", pattern_bytes(500, 6));
  std::vector<BatchRead> reads(7);
  for (std::size_t index = 0; index < reads.size(); ++index) {
    reads[index].name = index % 2 == 0 ? "not there" : "there";
  }
  store().read_batch(reads, context_);
  for (std::size_t index = 0; index < reads.size(); ++index) {
    if (index % 2 == 0) {
      EXPECT_TRUE(fails_with(reads[index].result, ErrorCode::kNotFound)) << index;
    } else {
      ASSERT_TRUE(succeeds(reads[index].result)) << index;
      EXPECT_TRUE(same_bytes(reads[index].result->bytes, bytes)) << index;
    }
  }
}

TEST_P(StoreContract, EmptyBatchIsFine) {
  store().read_batch({}, context_);
}

TEST_P(StoreContract, SlicesOutliveTheObject) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  const Bytes bytes = put("sliced", pattern_bytes(300'000, 8));
  BatchRead reads[] = {{.name = "sliced", .range = {1000, 200'000}, .target = {}}};
  store().read_batch(reads, context_);
  ASSERT_TRUE(succeeds(reads[0].result));
  put("sliced", pattern_bytes(300'000, 9));
  ASSERT_TRUE(succeeds(store().remove("sliced", {}, context_)));
  EXPECT_TRUE(same_bytes(reads[0].result->bytes, part_of(bytes, {1000, 200'000})));
}

// Reads the extents as sendfile would.
Bytes read_extents(const std::vector<LocalExtent>& extents) {
  Bytes bytes;
  for (const LocalExtent& extent : extents) {
    const std::size_t start = bytes.size();
    bytes.resize(start + extent.length);
    for (std::size_t done = 0; done < extent.length;) {
      const ssize_t count = pread(extent.descriptor, bytes.data() + start + done,
                                  extent.length - done, static_cast<off_t>(extent.offset + done));
      if (count <= 0) {
        ADD_FAILURE() << "the extent ends early";
        return bytes;
      }
      done += static_cast<std::size_t>(count);
    }
  }
  return bytes;
}

// What a store answers without waiting, if anything, is what it answers otherwise.
TEST_P(StoreContract, WhatIsReadNowIsWhatIsThere) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps nothing";
  Bytes space(64 << 10);
  const auto expect_agreement = [&](const std::string& name) {
    ObjectInfo info;
    const auto bytes = store().read_now(name, space, info);
    if (!bytes) return;
    const auto stored = get(name);
    const auto known = store().stat(name, context_);
    ASSERT_TRUE(succeeds(stored)) << name;
    EXPECT_TRUE(same_bytes(*bytes, *stored)) << name;
    EXPECT_EQ(info.etag, known->etag);
    EXPECT_EQ(info.mtime_ns, known->mtime_ns);
    EXPECT_EQ(info.size_bytes, known->size_bytes);
    EXPECT_EQ(info.metadata ? *info.metadata : Metadata(),
              known->metadata ? *known->metadata : Metadata());
  };
  CreateOptions described;
  if (capabilities().metadata) described.metadata.headers["content-type"] = "image/jpeg";
  for (int round = 0; round < 2; ++round) {
    for (const std::size_t size : {0, 1, 4096, 70'000}) {
      const std::string name = "now-" + std::to_string(size);
      expect_agreement(name);
      put(name, pattern_bytes(size, static_cast<std::uint64_t>(round)));
      expect_agreement(name);
      (void)get(name);
      expect_agreement(name);
    }
    ASSERT_TRUE(succeeds(try_put("now-described", pattern_bytes(500, 7), described)));
    (void)get("now-described");
    expect_agreement("now-described");
  }
  ASSERT_TRUE(succeeds(store().remove("now-4096", {}, context_)));
  ObjectInfo info;
  EXPECT_FALSE(store().read_now("now-4096", space, info));
  EXPECT_FALSE(store().read_now("now-none", space, info));
  EXPECT_FALSE(store().read_now("", space, info));
}

TEST_P(StoreContract, WhatABatchReadsNowIsWhatIsThere) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps nothing";
  const std::vector<std::string> names{"batch-a", "batch-b", "batch-c"};
  std::vector<Bytes> bytes(names.size());
  Bytes space((names.size() + 1) * 1000);
  const auto reads_of = [&](const std::vector<std::string>& wanted) {
    std::vector<BatchRead> reads(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      reads[i].name = wanted[i];
      reads[i].range = {1, 600};
      reads[i].target = std::span(space).subspan(i * 1000, 1000);
    }
    return reads;
  };
  const auto expect_agreement = [&] {
    auto reads = reads_of(names);
    bool has_all = true;
    const bool said_all = store().read_batch_now(reads);
    for (std::size_t i = 0; i < names.size(); ++i) {
      has_all &= reads[i].result.ok();
      if (!reads[i].result.ok()) {
        EXPECT_TRUE(fails_with(reads[i].result, ErrorCode::kCancelled));
      } else {
        EXPECT_TRUE(same_bytes(reads[i].result->bytes, part_of(bytes[i], {1, 600}))) << names[i];
      }
    }
    EXPECT_EQ(said_all, has_all);
  };
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      bytes[i] = put(names[i], pattern_bytes(700 - 300 * i, 3 * round + i));
      if (round > 0) expect_agreement();
    }
    for (int times = 0; times < 3; ++times) {  // stores keep at hand what batches have read
      expect_agreement();
      auto reads = reads_of(names);
      store().read_batch(reads, context_);
    }
  }
  ASSERT_TRUE(succeeds(store().remove("batch-b", {}, context_)));
  const std::vector<std::string> others{"batch-a", "batch-b", "none", ""};
  auto reads = reads_of(others);
  EXPECT_FALSE(store().read_batch_now(reads));
  for (std::size_t i = 1; i < reads.size(); ++i) {
    EXPECT_TRUE(fails_with(reads[i].result, ErrorCode::kCancelled));
  }
}

TEST_P(StoreContract, WhatIsOpenedNowIsWhatIsThere) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps nothing";
  std::vector<LocalExtent> extents;
  for (const std::size_t size : {std::size_t{100'000}, (std::size_t{2} << 20) + 1}) {
    const std::string name = "now-" + std::to_string(size);
    for (std::uint64_t round = 0; round < 2; ++round) {
      const Bytes bytes = put(name, pattern_bytes(size, round));
      for (int times = 0; times < 2; ++times) {
        if (const auto reader = store().open_now(name)) {
          Bytes read(size + 1);
          const auto count = reader->read_at(0, read, context_);
          ASSERT_TRUE(succeeds(count));
          EXPECT_TRUE(same_bytes(std::span(read).first(*count), bytes));
          EXPECT_EQ(reader->info().etag, store().stat(name, context_)->etag);
          if (reader->local_extents_now({10, 1000}, extents)) {
            const auto others = reader->local_extents({10, 1000}, context_);
            ASSERT_TRUE(succeeds(others));
            ASSERT_EQ(extents.size(), others->size());
            EXPECT_EQ(extents.front().offset, others->front().offset);
          }
        }
        const auto stored = get(name);
        ASSERT_TRUE(succeeds(stored));
        EXPECT_TRUE(same_bytes(*stored, bytes));
      }
    }
    ASSERT_TRUE(succeeds(store().remove(name, {}, context_)));
    EXPECT_EQ(store().open_now(name), nullptr);
  }
  EXPECT_EQ(store().open_now(""), nullptr);
}

TEST_P(StoreContract, LocalExtentsHoldTheBytes) {
  if (!capabilities().writable) GTEST_SKIP() << "not writable";
  for (const std::size_t size : {std::size_t{1}, std::size_t{5000}, (std::size_t{2} << 20) + 1}) {
    const Bytes bytes = put("extents", pattern_bytes(size, 10));
    const auto reader = store().open("extents", {}, context_);
    ASSERT_TRUE(succeeds(reader));
    auto ranges = edge_ranges(bytes.size());
    ranges.push_back({0, kToEnd});
    for (const ByteRange range : ranges) {
      const auto extents = (*reader)->local_extents(range, context_);
      if (!extents.ok()) {
        EXPECT_TRUE(fails_with(extents, ErrorCode::kUnsupported));
        continue;
      }
      EXPECT_TRUE(same_bytes(read_extents(*extents), part_of(bytes, range))) << range.offset;
    }
  }
}

TEST_P(StoreContract, LocalExtentsStayWithTheirReader) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  const Bytes bytes = put("kept", pattern_bytes(70'000, 11));
  const auto reader = store().open("kept", {}, context_);
  ASSERT_TRUE(succeeds(reader));
  const auto extents = (*reader)->local_extents({}, context_);
  if (!extents.ok()) GTEST_SKIP() << "no local extents";
  put("kept", pattern_bytes(70'000, 12));
  ASSERT_TRUE(succeeds(store().remove("kept", {}, context_)));
  EXPECT_TRUE(read_extents(*extents) == bytes);
}

}  // namespace
}  // namespace leat::testing
