#include "leat/local/record.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/hash.h"
#include "leat/base/random.h"
#include "leat/local/path_escape.h"

namespace leat::local {
namespace {

constexpr std::uint64_t kPosition = 0x123456789abc;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

Record object(std::string key, std::string_view data) {
  Record record;
  record.key = std::move(key);
  record.mtime_ns = 1'700'000'000'123'456'789;
  record.size_bytes = data.size();
  record.crc32c = crc32c(0, bytes_of(data));
  return record;
}

Record rich_object(std::string key, std::string_view data) {
  Record record = object(std::move(key), data);
  record.metadata.headers = {{"content-type", "image/jpeg; q=\"1\""}, {"x", ""}};
  record.metadata.user = {{"", "empty key"}, {"a=b c\n", std::string("\0\xff%=", 4)}};
  record.metadata.checksums = {{"sha256", "00ff"}};
  record.options = {{"shared", "1"}};
  return record;
}

Record reference(std::string key) {
  Record record;
  record.kind = RecordKind::kReference;
  record.key = std::move(key);
  record.mtime_ns = -1;
  record.size_bytes = kChecksumBlockBytes + 5;
  record.crc32c = 77;
  record.extents = {{"objects/a b:c/d%", 3, kChecksumBlockBytes}, {"objects/\xff", 0, 5}};
  record.block_crcs = {1, 0xffffffff};
  return record;
}

Record control(RecordKind kind, std::string key) {
  Record record;
  record.kind = kind;
  record.key = std::move(key);
  record.mtime_ns = 5;
  return record;
}

std::vector<std::byte> written(EncodedRecord& encoded) {
  std::vector<iovec> pieces;
  encoded.append_pieces(pieces);
  EXPECT_GE(pieces.at(0).iov_len, kTarBlockBytes);
  std::vector<std::byte> bytes;
  for (const iovec& piece : pieces) {
    const auto* start = static_cast<const std::byte*>(piece.iov_base);
    bytes.insert(bytes.end(), start, start + piece.iov_len);
  }
  EXPECT_EQ(bytes.size(), encoded.length_bytes());
  return bytes;
}

std::vector<std::byte> encode(const Record& record, std::string_view data,
                              std::uint64_t position = kPosition) {
  EncodedRecord encoded(record, bytes_of(data));
  encoded.stamp(record.generation, 17, position);
  return written(encoded);
}

void expect_equal(const Record& a, const Record& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.generation, b.generation);
  EXPECT_EQ(a.mtime_ns, b.mtime_ns);
  EXPECT_EQ(a.size_bytes, b.size_bytes);
  EXPECT_EQ(a.crc32c, b.crc32c);
  EXPECT_EQ(a.etag, b.etag);
  EXPECT_EQ(a.metadata, b.metadata);
  EXPECT_EQ(a.extents, b.extents);
  EXPECT_EQ(a.block_crcs, b.block_crcs);
  EXPECT_EQ(a.options, b.options);
}

ConstTarBlock block_at(std::span<const std::byte> bytes, std::size_t offset) {
  return bytes.subspan(offset).first<kTarBlockBytes>();
}

void expect_round_trip(Record record, std::string_view data) {
  record.generation = 0xfedcba9876543210;
  const auto bytes = encode(record, data);
  const auto shape = parse_shape(block_at(bytes, 0), kPosition);
  ASSERT_TRUE(shape.ok()) << shape.error().message();
  EXPECT_EQ(shape->kind, record.kind);
  EXPECT_EQ(shape->durable_block, 17u);
  EXPECT_EQ(shape->head_bytes + padded_size(data.size()), bytes.size());
  if (shape->length_bytes != 0) {
    EXPECT_EQ(shape->length_bytes, bytes.size());
  }
  std::uint64_t length = 0;
  const auto head = std::span(bytes).first(shape->head_bytes);
  const auto parsed = parse_record(head, kPosition, &length);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message();
  EXPECT_EQ(length, bytes.size());
  expect_equal(*parsed, record);
  EXPECT_EQ(std::memcmp(bytes.data() + shape->head_bytes, data.data(), data.size()), 0);
  // Only the head is needed, and all of it.
  EXPECT_TRUE(parse_record(head.first(head.size() - 1), kPosition, &length)
                  .failed_with(ErrorCode::kCorrupted));
}

TEST(Record, EveryKindComesBackAsItWas) {
  for (const std::size_t size : {0u, 1u, 511u, 512u, 513u, 4096u}) {
    const std::string data(size, 'd');
    expect_round_trip(object("bucket/name", data), data);
    expect_round_trip(rich_object("bucket/name", data), data);
  }
  expect_round_trip(reference("b/large"), "");
  Record empty = reference("b/large");
  empty.size_bytes = 0;
  empty.extents.clear();
  empty.block_crcs.clear();
  expect_round_trip(empty, "");
  expect_round_trip(control(RecordKind::kDelete, "b/gone \n"), "");
  Record bucket = control(RecordKind::kBucket, "b/");
  bucket.options = {{"durability", "disk"}, {"note", "a b=c"}};
  expect_round_trip(bucket, "");
}

TEST(Record, TakesEveryName) {
  for (const std::size_t length : {1u, 99u, 100u, 101u, 155u, 200u, 201u, 256u, 1024u}) {
    expect_round_trip(object("b/" + std::string(length, 'x'), "data"), "data");
    expect_round_trip(object("b/" + std::string(length, '/'), "data"), "data");
    expect_round_trip(object("b/" + std::string(length, '%'), "data"), "data");
    expect_round_trip(control(RecordKind::kDelete, "b/" + std::string(length, '\xff')), "");
  }
  expect_round_trip(object("b/..", ""), "");
  expect_round_trip(object("b//", ""), "");
  expect_round_trip(object("b/~d", ""), "");
}

TEST(Record, TakesEveryEtag) {
  for (const std::size_t length : {0u, 1u, 37u, 38u, 39u, 300u}) {
    Record record = object("b/n", "data");
    record.etag = std::string(length, 'e');
    expect_round_trip(record, "data");
  }
  Record record = object("b/n", "data");
  record.etag = std::string("a\0b", 3);  // zeros end the etag in a stamp
  expect_round_trip(record, "data");
  EXPECT_EQ(record.visible_etag(), record.etag);
  record.etag.clear();
  record.generation = 10;
  EXPECT_EQ(record.visible_etag(), derived_etag(10, record.crc32c));
}

TEST(Record, AnOrdinaryObjectCostsOneHeader) {
  EXPECT_EQ(encode(object("bucket/train/00001.jpg", "x"), "x").size(), 2 * kTarBlockBytes);
  Record record = object("b/n", "");
  record.etag = std::string(38, 'e');
  EXPECT_EQ(encode(record, "").size(), kTarBlockBytes);
}

TEST(Record, IsKnownByItsPosition) {
  const auto bytes = encode(object("b/n", "data"), "data");
  EXPECT_TRUE(parse_stamp(block_at(bytes, 0), kPosition).ok());
  for (const std::uint64_t other :
       {kPosition + 1, kPosition - 1, kPosition << 1, std::uint64_t{0}}) {
    EXPECT_TRUE(parse_stamp(block_at(bytes, 0), other).failed_with(ErrorCode::kCorrupted));
  }
}

TEST(Record, ZerosAreNotARecordAndNotDamage) {
  const std::vector<std::byte> zeros(kTarBlockBytes);
  EXPECT_TRUE(parse_stamp(block_at(zeros, 0), kPosition).failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(parse_shape(block_at(zeros, 0), kPosition).failed_with(ErrorCode::kNotFound));
  // Zeros in the place of the second header are.
  auto bytes = encode(rich_object("b/n", ""), "");
  std::memset(bytes.data() + bytes.size() - kTarBlockBytes, 0, kTarBlockBytes);
  std::uint64_t length = 0;
  EXPECT_TRUE(parse_record(bytes, kPosition, &length).failed_with(ErrorCode::kCorrupted));
}

TEST(Record, TheSecondHeaderAloneIsNoRecord) {
  const std::string long_name(300, 'x');
  for (const Record& record : {rich_object("b/n", "data"), object("b/" + long_name, "data")}) {
    const auto bytes = encode(record, "data");
    const auto shape = parse_shape(block_at(bytes, 0), kPosition);
    ASSERT_TRUE(shape.ok());
    const std::size_t second = shape->head_bytes - kTarBlockBytes;
    const std::uint64_t position = kPosition + second / kTarBlockBytes;
    const auto stamp = parse_stamp(block_at(bytes, second), position);
    ASSERT_TRUE(stamp.ok());
    EXPECT_TRUE(stamp->is_extended);
    std::uint64_t length = 0;
    EXPECT_TRUE(parse_record(std::span(bytes).subspan(second), position, &length)
                    .failed_with(ErrorCode::kCorrupted));
  }
}

// A flipped bit is found, and is always called damage: on any other code recovery would give up.
TEST(Record, EveryFlippedBitOfAHeadIsFound) {
  Record long_etag = rich_object("b/n", "");
  long_etag.etag = std::string(60, 'e');
  for (const Record& record :
       {object("b/n", ""), rich_object("b/n", ""), reference("b/r"), long_etag,
        control(RecordKind::kDelete, "b/d"), control(RecordKind::kBucket, "b/")}) {
    auto bytes = encode(record, "");
    const auto header = parse_header(block_at(bytes, 0));
    ASSERT_TRUE(header.ok());
    const bool has_payload = header->type != TarType::kRegular;
    const std::size_t payload_end = kTarBlockBytes + (has_payload ? header->size_bytes : 0);
    const std::size_t padding_end = kTarBlockBytes + padded_size(header->size_bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (i >= payload_end && i < padding_end) continue;  // nobody reads the padding
      // Tar's own checksum may be written in several ways.
      const std::size_t in_block = i % kTarBlockBytes;
      if (in_block >= kChecksumOffset && in_block < kChecksumOffset + kChecksumBytes) continue;
      for (int bit = 0; bit < 8; ++bit) {
        bytes[i] ^= static_cast<std::byte>(1 << bit);
        std::uint64_t length = 0;
        const auto parsed = parse_record(bytes, kPosition, &length);
        ASSERT_TRUE(parsed.failed_with(ErrorCode::kCorrupted)) << i << " bit " << bit;
        bytes[i] ^= static_cast<std::byte>(1 << bit);
      }
    }
  }
}

TEST(Record, EveryCutIsFound) {
  for (const Record& record : {object("b/n", ""), rich_object("b/n", ""), reference("b/r")}) {
    const auto bytes = encode(record, "");
    for (std::size_t length = 0; length < bytes.size(); length += 7) {
      std::uint64_t ignored = 0;
      EXPECT_TRUE(parse_record(std::span(bytes).first(length), kPosition, &ignored)
                      .failed_with(ErrorCode::kCorrupted));
    }
  }
}

TEST(Record, ExtentsThatDoNotMakeUpTheObjectAreDamage) {
  std::uint64_t length = 0;
  const auto refuses = [&](const auto& change) {
    Record record = reference("b/r");
    change(record);
    return parse_record(encode(record, ""), kPosition, &length).failed_with(ErrorCode::kCorrupted);
  };
  EXPECT_TRUE(refuses([](Record& r) { r.size_bytes += 1; }));
  EXPECT_TRUE(refuses([](Record& r) { r.extents.pop_back(); }));
  EXPECT_TRUE(refuses([](Record& r) { r.block_crcs.pop_back(); }));
  EXPECT_TRUE(refuses([](Record& r) { r.block_crcs.push_back(0); }));
  EXPECT_TRUE(refuses([](Record& r) { r.extents[0].path.clear(); }));
  EXPECT_TRUE(refuses([](Record& r) { r.extents[0].offset = UINT64_MAX; }));
  EXPECT_TRUE(refuses([](Record& r) { r.extents[0].length = UINT64_MAX - 4; }));
  EXPECT_TRUE(refuses([](Record& r) { r.key = "no slash"; }));
}

TEST(Record, MovesToAnotherPlaceAsItIs) {
  for (Record record : {object("b/n", "data"), rich_object("b/" + std::string(300, 'x'), "data")}) {
    record.generation = 9;
    const auto bytes = encode(record, "data");
    const auto shape = parse_shape(block_at(bytes, 0), kPosition);
    ASSERT_TRUE(shape.ok());
    EncodedRecord moved(bytes, shape->head_bytes);
    moved.stamp(9, 3, kPosition + 1000);
    const auto again = written(moved);
    std::uint64_t length = 0;
    EXPECT_FALSE(parse_record(again, kPosition, &length).ok());
    const auto parsed = parse_record(again, kPosition + 1000, &length);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message();
    EXPECT_EQ(length, bytes.size());
    expect_equal(*parsed, record);
    EXPECT_EQ(std::memcmp(again.data() + shape->head_bytes, "data", 4), 0);
  }
}

TEST(Record, TheQuickLookKnowsTheNameOfAPlainObject) {
  const auto has = [](const std::string& key, std::string_view path) {
    return header_has_path(block_at(encode(object(key, ""), ""), 0), path);
  };
  const std::string split = std::string(90, 'p') + "/" + std::string(90, 'n');
  for (const std::string& key : {std::string("b/n"), "b/" + split, std::string("b/%~")}) {
    EXPECT_TRUE(has(key, escape_path(key)));
    EXPECT_FALSE(has(key, escape_path(key) + "x"));
    EXPECT_FALSE(has(key, escape_path(key).substr(1)));
    EXPECT_FALSE(has(key, ""));
  }
  EXPECT_FALSE(has("b/" + split, std::string(90, 'n')));
  const auto rich = encode(rich_object("b/n", ""), "");
  EXPECT_FALSE(header_has_path(block_at(rich, 0), "b/n"));
}

TEST(Record, RandomBytesAreNeverARecord) {
  Random random(1);
  std::vector<std::byte> bytes(2048);
  for (int i = 0; i < 2000; ++i) {
    for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
    std::uint64_t length = 0;
    EXPECT_TRUE(parse_record(bytes, kPosition, &length).failed_with(ErrorCode::kCorrupted));
  }
}

}  // namespace
}  // namespace leat::local
