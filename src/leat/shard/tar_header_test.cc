#include "leat/shard/tar_header.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "leat/shard/testing/tar_fixture.h"

namespace leat {
namespace {

using testing::edited_header;
using testing::header_block;

ConstTarBlock block_of(const std::string& bytes) {
  return testing::bytes_of(bytes).first<kTarBlockBytes>();
}

// Writes the sum of all bytes over the checksum, as `Byte` would be added up.
template <typename Byte>
void set_checksum(std::string& block) {
  block.replace(kChecksumOffset, kChecksumBytes, kChecksumBytes, ' ');
  int sum = 0;
  for (const char character : block) sum += static_cast<Byte>(character);
  std::string digits;
  for (; sum > 0; sum /= 8) digits.insert(digits.begin(), static_cast<char>('0' + sum % 8));
  block.replace(kChecksumOffset, digits.size() + 1, digits + '\0');
}

TEST(TarHeader, FormatIsUstarToTheByte) {
  TarHeader header;
  header.name = "a.txt";
  header.prefix = "train";
  header.size_bytes = 0x1234;
  header.mtime_s = 1'700'000'000;
  header.mode = 0640;
  header.user_id = 1000;
  header.group_id = 100;
  std::string expected(kTarBlockBytes, '\0');
  const auto put = [&](std::size_t offset, std::string_view text) {
    expected.replace(offset, text.size(), text);
  };
  put(0, "a.txt");
  put(100, "0000640");
  put(108, "0001750");
  put(116, "0000144");
  put(124, "00000011064");
  put(136, "14524770400");
  put(156, "0");
  put(257, std::string_view("ustar\00000", 8));
  put(329, "0000000");
  put(337, "0000000");
  put(345, "train");
  set_checksum<unsigned char>(expected);
  expected.insert(kChecksumOffset, "0").erase(kChecksumOffset + kChecksumBytes, 1);
  expected[kChecksumOffset + 7] = ' ';
  EXPECT_EQ(header_block(header), expected);
}

TEST(TarHeader, EveryFormatSurvivesTheRoundTrip) {
  for (const TarFormat format : {TarFormat::kV7, TarFormat::kUstar, TarFormat::kGnu}) {
    TarHeader header;
    header.name = "some/name";
    header.prefix = format == TarFormat::kUstar ? "a/prefix" : "";
    header.link_name = "where it leads";
    header.size_bytes = 4711;
    header.mtime_s = 12345;
    header.mode = 04755;
    header.user_id = 3'000'000'000;  // octal cannot hold it
    header.type = TarType::kSymbolicLink;
    header.format = format;
    const std::string bytes = header_block(header);
    const auto parsed = parse_header(block_of(bytes));
    ASSERT_TRUE(parsed.ok()) << parsed.error().message();
    EXPECT_EQ(parsed->name, header.name);
    EXPECT_EQ(parsed->prefix, header.prefix);
    EXPECT_EQ(parsed->link_name, header.link_name);
    EXPECT_EQ(parsed->size_bytes, header.size_bytes);
    EXPECT_EQ(parsed->mtime_s, header.mtime_s);
    EXPECT_EQ(parsed->mode, header.mode);
    EXPECT_EQ(parsed->user_id, header.user_id);
    EXPECT_EQ(parsed->type, header.type);
    EXPECT_EQ(parsed->format, header.format);
  }
}

TEST(TarHeader, SizesAndTimesAtTheirLimitsSurviveTheRoundTrip) {
  constexpr std::uint64_t kOctalLimit = std::uint64_t{1} << 33;
  for (const std::uint64_t size :
       {std::uint64_t{0}, kOctalLimit - 1, kOctalLimit, std::uint64_t{INT64_MAX}}) {
    for (const std::int64_t mtime : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, INT64_MAX}) {
      TarHeader header;
      header.size_bytes = size;
      header.mtime_s = mtime;
      const std::string bytes = header_block(header);
      EXPECT_EQ(bytes[kSizeOffset] == '\x80', size >= kOctalLimit);
      const auto parsed = parse_header(block_of(bytes));
      ASSERT_TRUE(parsed.ok()) << parsed.error().message();
      EXPECT_EQ(parsed->size_bytes, size);
      EXPECT_EQ(parsed->mtime_s, mtime);
    }
  }
}

TEST(TarHeader, FullTextFieldsHaveNoNul) {
  const std::string name(kNameBytes, 'n');
  const std::string prefix(kPrefixBytes, 'p');
  TarHeader header;
  header.name = name;
  header.prefix = prefix;
  const std::string bytes = header_block(header);
  const auto parsed = parse_header(block_of(bytes));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->name, name);
  EXPECT_EQ(parsed->prefix, prefix);
}

TEST(TarHeader, OverlongTextsAreCutAndSpoilNothing) {
  const std::string name(300, 'n');
  TarHeader header;
  header.name = name;
  header.prefix = name;
  header.link_name = name;
  const std::string bytes = header_block(header);
  const auto parsed = parse_header(block_of(bytes));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->name, name.substr(0, kNameBytes));
  EXPECT_EQ(parsed->prefix, name.substr(0, kPrefixBytes));
  EXPECT_EQ(parsed->mode, 0644u);
}

TEST(TarHeader, ForeignBytesInTheLinkNameAreCoveredByTheChecksum) {
  std::string bytes = edited_header({}, kLinkNameOffset, "\xff\x01 our own");
  EXPECT_TRUE(parse_header(block_of(bytes)).ok());
  bytes[kLinkNameOffset] = '\xfe';
  EXPECT_TRUE(parse_header(block_of(bytes)).failed_with(ErrorCode::kCorrupted));
}

TEST(TarHeader, SignedChecksumsOfOldTarsAreAccepted) {
  TarHeader header;
  header.name = "\xc3\xa4\xc3\xb6\xc3\xbc";
  std::string bytes = header_block(header);
  set_checksum<signed char>(bytes);
  EXPECT_TRUE(parse_header(block_of(bytes)).ok());
  set_checksum<unsigned char>(bytes);
  EXPECT_TRUE(parse_header(block_of(bytes)).ok());
}

TEST(TarHeader, EveryChangedByteIsNoticed) {
  TarHeader header;
  header.name = "name-\xc3\xa4";
  header.size_bytes = 77;
  const std::string good = header_block(header);
  const auto before = parse_header(block_of(good));
  for (std::size_t offset = 0; offset < good.size(); ++offset) {
    for (int change = 1; change < 256; ++change) {
      std::string bad = good;
      bad[offset] = static_cast<char>(bad[offset] ^ change);
      const auto after = parse_header(block_of(bad));
      // Only the padding of the checksum itself may differ unnoticed: it says nothing.
      const bool in_checksum =
          offset >= kChecksumOffset && offset < kChecksumOffset + kChecksumBytes;
      EXPECT_TRUE(!after.ok() || in_checksum) << "byte " << offset;
      if (after.ok()) {
        EXPECT_EQ(after->size_bytes, before->size_bytes);
      }
    }
  }
}

TEST(TarHeader, NumbersAreReadAsOldTarsWroteThem) {
  const auto size_of = [](std::string_view digits) {
    const std::string bytes = edited_header({}, kSizeOffset, digits);
    return parse_header(block_of(bytes));
  };
  using namespace std::string_view_literals;
  EXPECT_EQ(size_of("        17 \0"sv)->size_bytes, 15u);
  EXPECT_EQ(size_of("\0         17"sv)->size_bytes, 15u);
  EXPECT_EQ(size_of("777777777777"sv)->size_bytes, (std::uint64_t{1} << 36) - 1);
  EXPECT_EQ(size_of("            "sv)->size_bytes, 0u);
  EXPECT_EQ(size_of("\x80\0\0\0\0\0\0\0\0\0\1\2"sv)->size_bytes, 258u);
}

TEST(TarHeader, NumbersThatAreNoneAreRefused) {
  const auto error_of = [](std::size_t offset, std::string_view digits) {
    const std::string bytes = edited_header({}, offset, digits);
    const auto parsed = parse_header(block_of(bytes));
    return parsed.ok() ? ErrorCode::kNotFound : parsed.error().code();
  };
  using namespace std::string_view_literals;
  EXPECT_EQ(error_of(kSizeOffset, "00000000008"), ErrorCode::kCorrupted);
  EXPECT_EQ(error_of(kSizeOffset, "-0000000001"), ErrorCode::kCorrupted);
  EXPECT_EQ(error_of(kSizeOffset, "0x000000010"), ErrorCode::kCorrupted);
  EXPECT_EQ(error_of(kSizeOffset, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
            ErrorCode::kCorrupted);  // -1
  EXPECT_EQ(error_of(kSizeOffset, "\x80\0\0\0\x80\0\0\0\0\0\0\0"sv), ErrorCode::kTooLarge);
  EXPECT_EQ(error_of(kSizeOffset, "\x81\0\0\0\0\0\0\0\0\0\0\0"sv), ErrorCode::kTooLarge);
  EXPECT_EQ(error_of(kMtimeOffset, "\xc0\0\0\0\0\0\0\0\0\0\0\0"sv), ErrorCode::kTooLarge);
  EXPECT_EQ(error_of(kMtimeOffset, "yesterday"), ErrorCode::kCorrupted);
  EXPECT_EQ(error_of(kModeOffset, "rw-r--"), ErrorCode::kCorrupted);
}

TEST(TarHeader, GarbageForAnOwnerIsNobody) {
  const std::string bytes = edited_header({}, kUserIdOffset, "nobody!");
  const auto parsed = parse_header(block_of(bytes));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->user_id, 0u);
}

TEST(TarHeader, GnuKeepsOtherThingsWhereThePrefixIs) {
  TarHeader header;
  header.name = "x";
  header.format = TarFormat::kGnu;
  const std::string bytes = edited_header(header, kPrefixOffset, "14524770400");
  EXPECT_EQ(parse_header(block_of(bytes))->prefix, "");
}

TEST(TarHeader, NamesSplitAtTheFirstSlashThatLeavesAShortEnoughName) {
  const auto split = [](std::size_t prefix_bytes, std::size_t name_bytes) {
    return split_name(std::string(prefix_bytes, 'p') + '/' + std::string(name_bytes, 'n'));
  };
  EXPECT_EQ(split_name(std::string(100, 'n'))->name.size(), 100u);
  EXPECT_FALSE(split_name(std::string(101, 'n')));
  EXPECT_TRUE(split(155, 100));
  EXPECT_FALSE(split(156, 100));
  EXPECT_FALSE(split(1, 101));
  EXPECT_FALSE(split(0, 100));  // an empty prefix would lose the '/'
  EXPECT_TRUE(split(50, 49));   // fits as a whole

  const std::string folders = std::string(90, 'a') + '/' + std::string(60, 'b') + '/' + "file.jpg";
  const auto chosen = split_name(folders);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->prefix, std::string(90, 'a'));
  EXPECT_EQ(std::string(chosen->prefix) + '/' + std::string(chosen->name), folders);
  EXPECT_FALSE(split_name(std::string(140, 'a') + '/'));
}

TEST(TarHeader, ZeroBlocksAreZeroAllOver) {
  std::string bytes(kTarBlockBytes, '\0');
  EXPECT_TRUE(is_zero_block(block_of(bytes)));
  for (std::size_t offset = 0; offset < bytes.size(); ++offset) {
    bytes[offset] = '\x01';
    EXPECT_FALSE(is_zero_block(block_of(bytes)));
    bytes[offset] = '\0';
  }
}

TEST(TarHeader, DataIsPaddedToWholeBlocks) {
  EXPECT_EQ(padded_size(0), 0u);
  EXPECT_EQ(padded_size(1), 512u);
  EXPECT_EQ(padded_size(512), 512u);
  EXPECT_EQ(padded_size(INT64_MAX), std::uint64_t{1} << 63);
}

}  // namespace
}  // namespace leat
