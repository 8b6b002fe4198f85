// The contract suite: what is written is read again, with what was attached to it.
#include <algorithm>
#include <string>
#include <utility>

#include "leat/store/testing/contract.h"

namespace leat::testing {
namespace {

// Writes in appends of 1, 2, 4 … bytes around odd sizes, so that buffers are crossed everywhere.
Status append_oddly(ObjectWriter& writer, std::span<const std::byte> bytes,
                    const Context& context) {
  std::size_t step = 1;
  while (!bytes.empty()) {
    const std::size_t count = std::min(step, bytes.size());
    RETURN_IF_ERROR(writer.append(bytes.first(count), context));
    bytes = bytes.subspan(count);
    step = step < 300'000 ? step * 3 + 1 : 7;
  }
  return ok_status();
}

void expect_same_info(const ObjectInfo& left, const ObjectInfo& right) {
  EXPECT_EQ(left.size_bytes, right.size_bytes);
  EXPECT_EQ(left.mtime_ns, right.mtime_ns);
  EXPECT_EQ(left.generation, right.generation);
  EXPECT_EQ(left.etag, right.etag);
}

TEST_P(StoreContract, KeepsObjectsOfEverySize) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  constexpr std::size_t kMebibyte = 1 << 20;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{511}, std::size_t{512}, std::size_t{513},
        std::size_t{4095}, std::size_t{4096}, std::size_t{4097}, kMebibyte - 1, kMebibyte,
        kMebibyte + 1, 3 * kMebibyte}) {
    const std::string name = "size-" + std::to_string(size);
    const Bytes bytes = pattern_bytes(size, 1);
    auto writer = store().create(name, with_durability(Durability::kMemory), context_);
    ASSERT_TRUE(succeeds(writer)) << name;
    ASSERT_TRUE(succeeds(append_oddly(**writer, bytes, context_))) << name;
    const auto info = (*writer)->commit({}, context_);
    ASSERT_TRUE(succeeds(info)) << name;
    EXPECT_EQ(info->size_bytes, size);
    expect_holds(name, bytes);
  }
}

TEST_P(StoreContract, KeepsObjectsOfEveryDurability) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  int number = 0;
  for (const Durability durability :
       {Durability::kDefault, Durability::kMemory, Durability::kDisk}) {
    const std::string name = "durable/" + std::to_string(++number);
    const Bytes bytes = pattern_bytes(1000, 1);
    ASSERT_TRUE(
        succeeds(write_object(store(), name, bytes, with_durability(durability), context_)));
    expect_holds(name, bytes);
    RemoveOptions remove_options;
    remove_options.durability = durability;
    ASSERT_TRUE(succeeds(store().remove(name, remove_options, context_)));
    expect_absent(name);
  }
}

TEST_P(StoreContract, ReplacesAnObjectAsAWhole) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  for (const std::size_t size : {100'000, 10, 0, 2'000'000, 1}) {
    const Bytes bytes = pattern_bytes(size, 2);
    put("replaced", bytes);
    expect_holds("replaced", bytes);
  }
}

TEST_P(StoreContract, StatOpenCommitAndListAgree) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  const auto committed = try_put("agreed", pattern_bytes(777, 3));
  ASSERT_TRUE(succeeds(committed));
  const auto seen = store().stat("agreed", context_);
  ASSERT_TRUE(succeeds(seen));
  expect_same_info(*committed, *seen);
  const auto reader = store().open("agreed", {}, context_);
  ASSERT_TRUE(succeeds(reader));
  expect_same_info(*committed, (*reader)->info());
  EXPECT_GT(seen->mtime_ns, 0);
  EXPECT_FALSE(seen->etag.empty());
  EXPECT_EQ(seen->etag.find('"'), std::string::npos);
  if (!capabilities().listable) return;
  const auto page = store().list({}, context_);
  ASSERT_TRUE(succeeds(page));
  ASSERT_EQ(page->entries.size(), 1u);
  EXPECT_EQ(page->entries[0].name, "agreed");
  expect_same_info(*committed, page->entries[0].info);
}

TEST_P(StoreContract, EtagDiffersWhenBytesDo) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  std::set<std::string> etags;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto info = try_put("changing", pattern_bytes(64, seed));
    ASSERT_TRUE(succeeds(info));
    EXPECT_TRUE(etags.insert(info->etag).second) << info->etag << " a second time";
  }
}

TEST_P(StoreContract, GenerationGrows) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  std::uint64_t last = 0;
  for (int round = 0; round < 6; ++round) {
    const auto info = try_put("growing", pattern_bytes(8, 1));
    ASSERT_TRUE(succeeds(info));
    if (!capabilities().generations) {
      EXPECT_EQ(info->generation, 0u);
      continue;
    }
    EXPECT_GT(info->generation, last);
    last = info->generation;
    // A name that comes back goes on where it was, or a pinned reader could meet a stranger.
    if (round % 2 == 1) {
      ASSERT_TRUE(succeeds(store().remove("growing", {}, context_)));
    }
  }
}

TEST_P(StoreContract, RemoveMakesAbsent) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  EXPECT_TRUE(fails_with(store().remove("gone", {}, context_), ErrorCode::kNotFound));
  put("gone", bytes_of("x"));
  ASSERT_TRUE(succeeds(store().remove("gone", {}, context_)));
  expect_absent("gone");
  EXPECT_TRUE(fails_with(store().remove("gone", {}, context_), ErrorCode::kNotFound));
  put("gone", bytes_of("back"));
  expect_holds("gone", bytes_of("back"));
}

TEST_P(StoreContract, RefusesChangesWhenNotWritable) {
  if (capabilities().writable) GTEST_SKIP() << "writable";
  EXPECT_TRUE(is_refused(store().create("name", {}, context_)));
  EXPECT_TRUE(is_refused(store().remove("name", {}, context_)));
}

TEST_P(StoreContract, AbandonedWritersAreInvisible) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  put("dir/kept", bytes_of("old"));
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{2} << 20}) {
    for (const char* name : {"dir/kept", "dir/new", "other/new"}) {
      auto writer = store().create(name, {}, context_);
      ASSERT_TRUE(succeeds(writer));
      ASSERT_TRUE(succeeds((*writer)->append(pattern_bytes(size, 1), context_)));
      expect_holds("dir/kept", bytes_of("old"));
    }
  }
  expect_absent("dir/new");
  expect_absent("other/new");
  if (capabilities().listable) {
    EXPECT_EQ(list_names(), std::vector<std::string>{"dir/kept"});
  }
}

TEST_P(StoreContract, InsistsOnTheExpectedSize) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  put("sized", bytes_of("old"));
  for (const std::uint64_t expected : {0, 9, 11, 1'000'000}) {
    auto writer = store().create("sized", with_expected_size(expected), context_);
    ASSERT_TRUE(succeeds(writer));
    // A store may notice as early as in append().
    const auto appended = (*writer)->append(pattern_bytes(10, 1), context_);
    if (appended.ok()) {
      EXPECT_TRUE(fails_with((*writer)->commit({}, context_), ErrorCode::kInvalidArgument));
    } else {
      EXPECT_TRUE(fails_with(appended, ErrorCode::kInvalidArgument));
    }
    expect_holds("sized", bytes_of("old"));
  }
  auto writer = store().create("sized", with_expected_size(10), context_);
  ASSERT_TRUE(succeeds(writer));
  ASSERT_TRUE(succeeds((*writer)->append(pattern_bytes(10, 1), context_)));
  EXPECT_TRUE(succeeds((*writer)->commit({}, context_)));
  expect_holds("sized", pattern_bytes(10, 1));
}

Metadata odd_metadata() {
  Metadata metadata;
  metadata.headers = {{"content-type", "image/jpeg"}, {"cache-control", "max-age=1, public"}};
  metadata.user = {{"plain", "value"},
                   {"empty", ""},
                   {"spaces", "  a  b  "},
                   {"unicode", "\xc3\xa9\xe2\x82\xac"},
                   {"odd", "line\nbreak\t=;\"quoted\" 100% \\ \xff\xfe"},
                   {"long", std::string(1500, 'l')}};
  metadata.checksums = {{"sha256", std::string(64, 'a')}};
  return metadata;
}

TEST_P(StoreContract, KeepsMetadata) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  const Metadata metadata = odd_metadata();
  const auto info = try_put("described", bytes_of("bytes"), with_metadata(metadata));
  if (!capabilities().metadata) {
    EXPECT_TRUE(fails_with(info, ErrorCode::kUnsupported));
    expect_absent("described");
    return;
  }
  ASSERT_TRUE(succeeds(info));
  ASSERT_NE(info->metadata, nullptr);
  EXPECT_EQ(*info->metadata, metadata);
  const auto seen = store().stat("described", context_);
  ASSERT_TRUE(succeeds(seen));
  ASSERT_NE(seen->metadata, nullptr);
  EXPECT_EQ(*seen->metadata, metadata);
  const auto reader = store().open("described", {}, context_);
  ASSERT_TRUE(succeeds(reader));
  ASSERT_NE((*reader)->info().metadata, nullptr);
  EXPECT_EQ(*(*reader)->info().metadata, metadata);

  put("described", bytes_of("again"));
  const auto bare = store().stat("described", context_);
  ASSERT_TRUE(succeeds(bare));
  EXPECT_TRUE(bare->metadata == nullptr || bare->metadata->empty())
      << "metadata of the version before";
}

TEST_P(StoreContract, CommitSetsEtagAndChecksums) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  put("chosen", bytes_of("old"));
  CreateOptions options;
  if (capabilities().metadata) options.metadata = odd_metadata();
  auto writer = store().create("chosen", options, context_);
  ASSERT_TRUE(succeeds(writer));
  ASSERT_TRUE(succeeds((*writer)->append(bytes_of("new"), context_)));
  const CommitOptions commit{.etag = "0123456789abcdef0123456789abcdef-3",
                             .checksums = {{"md5", std::string(32, 'b')}}};
  const auto info = (*writer)->commit(commit, context_);
  if (!capabilities().metadata) {
    EXPECT_TRUE(fails_with(info, ErrorCode::kUnsupported));
    expect_holds("chosen", bytes_of("old"));
    return;
  }
  ASSERT_TRUE(succeeds(info));
  Metadata expected = odd_metadata();
  expected.checksums["md5"] = std::string(32, 'b');
  for (const auto& seen : {info, store().stat("chosen", context_)}) {
    ASSERT_TRUE(succeeds(seen));
    EXPECT_EQ(seen->etag, commit.etag);
    ASSERT_NE(seen->metadata, nullptr);
    EXPECT_EQ(*seen->metadata, expected);
  }
}

TEST_P(StoreContract, CopiesBytesAndMetadata) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  const Bytes bytes = pattern_bytes((1 << 20) + 17, 4);
  CreateOptions options;
  if (capabilities().metadata) options.metadata = odd_metadata();
  ASSERT_TRUE(succeeds(try_put("source", bytes, options)));
  put("target", bytes_of("replaced by the copy"));
  for (const char* target : {"target", "fresh", "source"}) {
    const auto info = store().copy("source", target, {}, context_);
    ASSERT_TRUE(succeeds(info)) << target;
    EXPECT_EQ(info->size_bytes, bytes.size());
    expect_holds(target, bytes);
    if (!capabilities().metadata) continue;
    const auto seen = store().stat(target, context_);
    ASSERT_TRUE(succeeds(seen));
    ASSERT_NE(seen->metadata, nullptr);
    EXPECT_EQ(*seen->metadata, options.metadata);
  }
  put("source", bytes_of("changed"));
  expect_holds("fresh", bytes);
  ASSERT_TRUE(succeeds(store().remove("source", {}, context_)));
  expect_holds("target", bytes);
}

TEST_P(StoreContract, CopyTakesGivenMetadataInstead) {
  if (!keeps_objects() || !capabilities().metadata) GTEST_SKIP() << "keeps no metadata";
  ASSERT_TRUE(succeeds(try_put("source", bytes_of("bytes"), with_metadata(odd_metadata()))));
  CreateOptions options;
  options.metadata.headers["content-type"] = "text/plain";
  ASSERT_TRUE(succeeds(store().copy("source", "target", options, context_)));
  const auto seen = store().stat("target", context_);
  ASSERT_TRUE(succeeds(seen));
  ASSERT_NE(seen->metadata, nullptr);
  EXPECT_EQ(*seen->metadata, options.metadata);
}

TEST_P(StoreContract, CopyOfWhatIsMissingFails) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  put("target", bytes_of("old"));
  EXPECT_TRUE(fails_with(store().copy("missing", "target", {}, context_), ErrorCode::kNotFound));
  EXPECT_TRUE(fails_with(store().copy("missing", "missing", {}, context_), ErrorCode::kNotFound));
  expect_holds("target", bytes_of("old"));
}

}  // namespace
}  // namespace leat::testing
