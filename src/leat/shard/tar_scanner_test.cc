#include "leat/shard/tar_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "leat/base/hash.h"
#include "leat/shard/pax.h"
#include "leat/shard/testing/tar_fixture.h"

namespace leat {
namespace {

using testing::bytes_of;
using testing::edited_header;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Scan;
using testing::scan;
using testing::ScannedMember;
using testing::TarBuilder;
using namespace std::string_view_literals;

constexpr std::int64_t kSecond = 1'000'000'000;

// One of everything that the scanner understands.
std::string varied_archive() {
  TarHeader sparse;
  sparse.name = "holes";
  sparse.type = TarType::kGnuSparse;
  sparse.format = TarFormat::kGnu;
  sparse.size_bytes = 3;
  std::string more_of_the_map(kTarBlockBytes, '\0');
  return TarBuilder()
      .entry(TarType::kPaxGlobalHeader, "g", "17 comment=hello\n")
      .entry(TarType::kDirectory, "folder/", "")
      .file("folder/a.txt", "alpha")
      .pax("path", std::string(300, 'p'))
      .file("short", std::string(700, 'q'))
      .entry(TarType::kGnuLongName, "././@LongLink", std::string(200, 'l') + '\0')
      .file("cut", "long")
      .entry(TarType::kHardLink, "hard", "")
      .entry(TarType::kSymbolicLink, "soft", "")
      .raw(edited_header(sparse, kSparseExtendedOffset, "\x01"))
      .raw(more_of_the_map)
      .data("xyz")
      .file("empty", "")
      .end()
      .bytes();
}

TEST(TarScanner, FindsMembersWithTheirPlaceAndChecksum) {
  const std::string stream = TarBuilder().file("a", "alpha").file("b", "").end().bytes();
  const Scan found = scan(stream);
  ASSERT_TRUE(found.summary.ok()) << found.summary.error().message();
  ASSERT_EQ(found.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(found.members[0].data_offset, 512u);
  EXPECT_EQ(found.members[0].size_bytes, 5u);
  EXPECT_EQ(found.members[0].mode, 0644u);
  EXPECT_EQ(found.members[0].crc32c, crc32c(0, bytes_of("alpha")));
  EXPECT_EQ(found.members[0].data, "alpha");
  EXPECT_EQ(found.members[1].data_offset, 1536u);
  EXPECT_EQ(found.members[1].crc32c, 0u);
  EXPECT_EQ(found.summary->members, 2u);
  EXPECT_EQ(found.summary->stream_bytes, stream.size());
  EXPECT_TRUE(found.summary->has_end);
  EXPECT_FALSE(found.summary->lone_zero_block);
}

TEST(TarScanner, CountsAndPassesOverWhatIsNoMember) {
  const Scan found = scan(varied_archive());
  ASSERT_TRUE(found.summary.ok()) << found.summary.error().message();
  EXPECT_THAT(found.names(),
              ElementsAre("folder/a.txt", std::string(300, 'p'), std::string(200, 'l'), "empty"));
  EXPECT_THAT(found.skipped, ElementsAre("folder/", "hard", "soft", "holes"));
  EXPECT_EQ(found.summary->directories, 1u);
  EXPECT_EQ(found.summary->links, 2u);
  EXPECT_EQ(found.summary->sparse, 1u);
  EXPECT_EQ(found.summary->others, 0u);
}

TEST(TarScanner, AnyChunkingFindsTheSame) {
  const std::string stream = varied_archive();
  const Scan whole = scan(stream);
  ASSERT_TRUE(whole.summary.ok());
  for (std::size_t piece = 1; piece < 1100; piece += piece < 20 ? 1 : 61) {
    EXPECT_TRUE(scan(stream, std::array{piece}).same_as(whole)) << piece;
  }
  EXPECT_TRUE(scan(stream, std::array<std::size_t, 3>{511, 1, 1000}).same_as(whole));
}

TEST(TarScanner, EveryTruncationIsFoundUnlessItFallsBetweenMembers) {
  const std::string stream = varied_archive();
  const Scan whole = scan(stream);
  for (std::size_t length = 0; length < stream.size(); ++length) {
    const Scan found = scan(std::string_view(stream).substr(0, length));
    ASSERT_LE(found.members.size(), whole.members.size());
    if (found.summary.ok()) {
      EXPECT_TRUE(length % kTarBlockBytes == 0 || found.summary->lone_zero_block) << length;
      EXPECT_FALSE(found.summary->has_end);
      // Nothing but whole members, each as it is in the whole archive.
      for (std::size_t i = 0; i < found.members.size(); ++i) {
        EXPECT_EQ(found.members[i], whole.members[i]) << length;
      }
    } else {
      EXPECT_EQ(found.summary.error().code(), ErrorCode::kCorrupted);
    }
    EXPECT_TRUE(scan(stream.substr(0, length), std::array<std::size_t, 1>{37}).same_as(found));
  }
}

TEST(TarScanner, EveryFlippedByteIsAnErrorOrChangesNoName) {
  const std::string stream = varied_archive();
  const Scan whole = scan(stream);
  // The one byte outside of headers that says how long something is: without protection.
  const std::size_t flag_of_the_map =
      stream.find("holes") + kTarBlockBytes + kSparseMapExtendedOffset;
  for (std::size_t offset = 0; offset < stream.size(); ++offset) {
    if (offset == flag_of_the_map) continue;
    for (const int change : {0x01, 0x80}) {
      std::string damaged = stream;
      damaged[offset] = static_cast<char>(damaged[offset] ^ change);
      const Scan found = scan(damaged);
      // Tar protects its headers alone: names that live in data blocks (pax, GNU) can change
      // unseen.
      if (!found.summary.ok() || found.summary->lone_zero_block) continue;
      ASSERT_EQ(found.members.size(), whole.members.size()) << offset;
      for (std::size_t i = 0; i < found.members.size(); ++i) {
        EXPECT_EQ(found.members[i].data_offset, whole.members[i].data_offset) << offset;
        EXPECT_EQ(found.members[i].size_bytes, whole.members[i].size_bytes) << offset;
      }
    }
  }
}

TEST(TarScanner, NamesLoseWhatPointsToTheRootAndNothingElse) {
  const std::string stream = TarBuilder()
                                 .file("./a", "")
                                 .file("/b", "")
                                 .file(".//././/c", "")
                                 .file("../d", "")
                                 .file("x/../e", "")
                                 .file(".hidden", "")
                                 .file(".", "")
                                 .end()
                                 .bytes();
  const Scan found = scan(stream);
  EXPECT_THAT(found.names(), ElementsAre("a", "b", "c", "../d", "x/../e", ".hidden", "."));
  EXPECT_EQ(found.members[1].stored_name, "/b");
}

TEST(TarScanner, PrefixAndNameAreJoined) {
  TarHeader header;
  header.name = "name";
  header.prefix = "pre/fix";
  EXPECT_THAT(scan(TarBuilder().header(header).end().bytes()).names(), ElementsAre("pre/fix/name"));
}

TEST(TarScanner, PaxOverridesTheHeaderOfTheNextMemberOnly) {
  std::string records;
  append_pax_record(records, "path", "long/name");
  append_pax_record(records, "size", "5");
  append_pax_record(records, "mtime", "12.5");
  append_pax_record(records, "linkpath", "nowhere");
  append_pax_record(records, "SCHILY.xattr.user.x", "\x00\xff\n"sv);
  TarHeader header;
  header.name = "short";
  header.mtime_s = 3;
  const std::string stream = TarBuilder()
                                 .entry(TarType::kPaxHeader, "x", records)
                                 .header(header)
                                 .data("hello")
                                 .header(header)
                                 .end()
                                 .bytes();
  const Scan found = scan(stream);
  ASSERT_TRUE(found.summary.ok()) << found.summary.error().message();
  ASSERT_THAT(found.names(), ElementsAre("long/name", "short"));
  EXPECT_EQ(found.members[0].data, "hello");
  EXPECT_EQ(found.members[0].mtime_ns, 12 * kSecond + kSecond / 2);
  EXPECT_EQ(found.members[1].size_bytes, 0u);
  EXPECT_EQ(found.members[1].mtime_ns, 3 * kSecond);
}

TEST(TarScanner, GlobalPaxHoldsUntilItIsWithdrawn) {
  const std::string stream = TarBuilder()
                                 .entry(TarType::kPaxGlobalHeader, "g", "11 mtime=7\n")
                                 .file("a", "")
                                 .pax("mtime", "8")
                                 .file("b", "")
                                 .file("c", "")
                                 .entry(TarType::kPaxGlobalHeader, "g", "9 mtime=\n")
                                 .file("d", "")
                                 .end()
                                 .bytes();
  const Scan found = scan(stream);
  ASSERT_EQ(found.members.size(), 4u);
  EXPECT_EQ(found.members[0].mtime_ns, 7 * kSecond);
  EXPECT_EQ(found.members[1].mtime_ns, 8 * kSecond);
  EXPECT_EQ(found.members[2].mtime_ns, 7 * kSecond);
  EXPECT_EQ(found.members[3].mtime_ns, 0);
}

TEST(TarScanner, OldTarsWriteFoldersAsFilesWithASlash) {
  TarHeader header;
  header.name = "folder/";
  header.type = TarType::kRegularV7;
  header.format = TarFormat::kV7;
  const Scan found = scan(TarBuilder().header(header).file("x", "y").end().bytes());
  EXPECT_THAT(found.names(), ElementsAre("x"));
  EXPECT_EQ(found.summary->directories, 1u);
}

TEST(TarScanner, SizesOfLinksAndFoldersAreNotBytes) {
  TarHeader link;
  link.name = "link";
  link.type = TarType::kHardLink;
  link.size_bytes = 1 << 30;
  TarHeader folder;
  folder.name = "folder/";
  folder.type = TarType::kDirectory;
  folder.size_bytes = 4096;
  const Scan found = scan(TarBuilder().header(link).header(folder).file("x", "y").end().bytes());
  EXPECT_THAT(found.names(), ElementsAre("x"));
}

TEST(TarScanner, UnknownTypesArePassedOverWithTheirData) {
  const std::string stream = TarBuilder()
                                 .entry(static_cast<TarType>('V'), "volume", "label")
                                 .entry(TarType::kFifo, "pipe", "")
                                 .entry(TarType::kContiguous, "x", "y")
                                 .end()
                                 .bytes();
  const Scan found = scan(stream);
  EXPECT_THAT(found.names(), ElementsAre("x"));
  EXPECT_EQ(found.summary->others, 2u);
}

TEST(TarScanner, SparseFilesInPaxFormAreNotMembers) {
  std::string records;
  append_pax_record(records, "GNU.sparse.major", "1");
  append_pax_record(records, "GNU.sparse.name", "holes");
  const std::string stream = TarBuilder()
                                 .entry(TarType::kPaxHeader, "x", records)
                                 .file("GNUSparseFile.0/holes", "map and data")
                                 .file("x", "y")
                                 .end()
                                 .bytes();
  const Scan found = scan(stream);
  EXPECT_THAT(found.names(), ElementsAre("x"));
  EXPECT_EQ(found.summary->sparse, 1u);
}

TEST(TarScanner, WhatFollowsTheEndIsIgnored) {
  const std::string stream = TarBuilder().file("a", "1").end().raw("garbage").bytes();
  const Scan found = scan(stream);
  ASSERT_TRUE(found.summary.ok());
  EXPECT_THAT(found.names(), ElementsAre("a"));
  EXPECT_EQ(found.summary->stream_bytes, stream.size());
}

TEST(TarScanner, ALoneZeroBlockIsAnEndThatIsNoted) {
  const std::string zero(kTarBlockBytes, '\0');
  for (const std::string& after :
       {std::string(), std::string("torn"), TarBuilder().file("b", "2").end().bytes()}) {
    const Scan found = scan(TarBuilder().file("a", "1").raw(zero).raw(after).bytes());
    ASSERT_TRUE(found.summary.ok()) << found.summary.error().message();
    EXPECT_THAT(found.names(), ElementsAre("a"));
    EXPECT_TRUE(found.summary->lone_zero_block);
    EXPECT_FALSE(found.summary->has_end);
  }
}

TEST(TarScanner, AnArchiveMayLackItsEnd) {
  const Scan found = scan(TarBuilder().file("a", "1").bytes());
  ASSERT_TRUE(found.summary.ok());
  EXPECT_FALSE(found.summary->has_end);
}

void expect_error(const std::string& stream, ErrorCode code, std::string_view where) {
  const Scan found = scan(stream);
  ASSERT_FALSE(found.summary.ok()) << where;
  EXPECT_EQ(found.summary.error().code(), code) << found.summary.error().message();
  EXPECT_THAT(std::string(found.summary.error().message()), HasSubstr(std::string(where)));
  for (const std::size_t piece : {1, 100, 513}) {
    EXPECT_TRUE(scan(stream, std::array{piece}).same_as(found)) << where;
  }
}

TEST(TarScanner, HostileHeadersAreErrorsThatSayWhere) {
  const std::string good = TarBuilder().file("a", "1").bytes();
  TarHeader huge;
  huge.name = "huge";
  huge.size_bytes = INT64_MAX;
  TarHeader bomb;
  bomb.name = "././@LongLink";
  bomb.size_bytes = kMaxExtendedHeaderBytes + 1;
  const auto bomb_of = [&](TarType type) {
    bomb.type = type;
    return TarBuilder().raw(good).header(bomb).bytes();
  };
  const std::string_view second = "byte 1024";
  expect_error("", ErrorCode::kCorrupted, "empty");
  expect_error("PK\x03\x04 this is a zip" + std::string(600, 'z'), ErrorCode::kCorrupted, "byte 0");
  expect_error(good + std::string(512, 'x'), ErrorCode::kCorrupted, second);
  expect_error(TarBuilder().raw(good).header(huge).bytes(), ErrorCode::kTooLarge, second);
  expect_error(bomb_of(TarType::kGnuLongName), ErrorCode::kTooLarge, second);
  expect_error(bomb_of(TarType::kGnuLongLink), ErrorCode::kTooLarge, second);
  expect_error(bomb_of(TarType::kPaxHeader), ErrorCode::kTooLarge, second);
  expect_error(bomb_of(TarType::kPaxGlobalHeader), ErrorCode::kTooLarge, second);
  expect_error(TarBuilder().raw(good).file("", "x").bytes(), ErrorCode::kCorrupted, second);
  expect_error(TarBuilder().raw(good).pax("path", "a\0b"sv).bytes(), ErrorCode::kCorrupted, second);
  expect_error(TarBuilder().raw(good).pax("size", "-1").bytes(), ErrorCode::kCorrupted, second);
  expect_error(TarBuilder().raw(good).pax("mtime", "now").bytes(), ErrorCode::kCorrupted, second);
  expect_error(TarBuilder().raw(good).entry(TarType::kPaxHeader, "x", "99 a=b\n").bytes(),
               ErrorCode::kCorrupted, second);
  expect_error(TarBuilder().raw(good).pax("path", "b").end().bytes(), ErrorCode::kCorrupted,
               "byte 2048");
  expect_error(TarBuilder().raw(good).pax("size", "9223372036854775807").file("b", "").bytes(),
               ErrorCode::kTooLarge, "byte 2048");
}

TEST(TarScanner, HugeSizesNeedNoMemory) {
  TarHeader huge;
  huge.name = "huge";
  huge.size_bytes = std::uint64_t{1} << 50;
  const Scan found = scan(TarBuilder().header(huge).data("just the beginning").bytes());
  EXPECT_TRUE(found.summary.failed_with(ErrorCode::kCorrupted));
}

class Refusing final : public TarVisitor {
 public:
  Status end_member(const TarEntry&) override { return ErrorCode::kNoSpace; }
};

TEST(TarScanner, AnErrorOfTheVisitorEndsTheScanForGood) {
  const std::string stream = TarBuilder().file("a", "1").file("b", "2").end().bytes();
  Refusing visitor;
  TarScanner scanner(visitor);
  EXPECT_TRUE(scanner.feed(bytes_of(stream)).failed_with(ErrorCode::kNoSpace));
  EXPECT_TRUE(scanner.feed(bytes_of(stream)).failed_with(ErrorCode::kNoSpace));
  EXPECT_TRUE(scanner.finish().failed_with(ErrorCode::kNoSpace));
}

}  // namespace
}  // namespace leat
