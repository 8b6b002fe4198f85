// Any bytes where a record should be: damage, or a record that is written again as the same one.
//
// Random bytes hardly ever have the right checksums, so the fuzzer's bytes are taken three ways: as
// they are, as the attributes of a record whose checksums are made right, and as the key and
// metadata of a record that must come back as it was.
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/check.h"
#include "leat/base/hash.h"
#include "leat/base/hex.h"
#include "leat/local/record.h"
#include "leat/shard/tar_header.h"

namespace leat::local {
namespace {

constexpr std::uint64_t kPosition = 1000;
constexpr std::uint32_t kDurableBlock = 7;

std::vector<std::byte> written(const EncodedRecord& encoded) {
  std::vector<iovec> pieces;
  encoded.append_pieces(pieces);
  std::vector<std::byte> bytes;
  for (const iovec& piece : pieces) {
    const auto* start = static_cast<const std::byte*>(piece.iov_base);
    bytes.insert(bytes.end(), start, start + piece.iov_len);
  }
  CHECK(bytes.size() == encoded.length_bytes());
  return bytes;
}

void check_same(const Record& a, const Record& b) {
  CHECK(a.kind == b.kind && a.key == b.key && a.generation == b.generation);
  CHECK(a.mtime_ns == b.mtime_ns && a.size_bytes == b.size_bytes && a.crc32c == b.crc32c);
  CHECK(a.etag == b.etag && a.metadata == b.metadata && a.options == b.options);
  CHECK(a.extents == b.extents && a.block_crcs == b.block_crcs);
}

void check_parse(std::span<const std::byte> bytes) {
  std::uint64_t length = 0;
  const auto parsed = parse_record(bytes, kPosition, &length);
  if (!parsed.ok()) {
    CHECK(parsed.failed_with(ErrorCode::kCorrupted) || parsed.failed_with(ErrorCode::kNotFound));
    return;
  }
  CHECK(length >= kTarBlockBytes && length % kTarBlockBytes == 0);
  // The bytes of an object need not be there, so write it without.
  Record empty = *parsed;
  if (empty.kind == RecordKind::kObject) empty.size_bytes = 0;
  EncodedRecord again(empty, {});
  again.stamp(empty.generation, kDurableBlock, kPosition);
  const auto reparsed = parse_record(written(again), kPosition, &length);
  CHECK(reparsed.ok());
  check_same(*reparsed, empty);
}

// The bytes as the payload of a tombstone's header.
void check_attributes(std::span<const std::byte> payload) {
  Record record;
  record.kind = RecordKind::kDelete;
  record.key = "b/n";
  EncodedRecord encoded(record, {});
  encoded.stamp(1, kDurableBlock, kPosition);
  std::vector<std::byte> bytes = written(encoded);
  bytes.resize(kTarBlockBytes);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  bytes.resize(kTarBlockBytes + padded_size(payload.size()));
  // Size and checksum of the payload; the checksum of the header follows with the stamp.
  char octal[12] = {};
  std::uint64_t rest = payload.size();
  for (std::size_t i = 11; i-- > 0; rest /= 8) octal[i] = static_cast<char>('0' + rest % 8);
  std::memcpy(bytes.data() + kSizeOffset, octal, sizeof octal);
  constexpr std::size_t kPayloadCrcOffset = kLinkNameOffset + 5 + 1 + 16 + 16;
  const std::string crc = to_hex(crc32c(0, payload));
  std::memcpy(bytes.data() + kPayloadCrcOffset, crc.data(), crc.size());
  EncodedRecord moved(std::move(bytes), kTarBlockBytes + padded_size(payload.size()));
  moved.stamp(2, kDurableBlock, kPosition);
  check_parse(written(moved));
}

void check_round_trip(std::string_view text) {
  Record record;
  record.generation = 3;
  const std::size_t third = text.size() / 3;
  record.key = "b/" + std::string(text.substr(0, third));
  record.etag = text.substr(third, third);
  record.metadata.user[std::string(text.substr(2 * third))] = text;
  for (const RecordKind kind : {RecordKind::kObject, RecordKind::kDelete, RecordKind::kBucket}) {
    record.kind = kind;
    EncodedRecord encoded(record, {});
    encoded.stamp(record.generation, kDurableBlock, kPosition);
    std::uint64_t length = 0;
    const auto parsed = parse_record(written(encoded), kPosition, &length);
    CHECK(parsed.ok() && length == encoded.length_bytes());
    check_same(*parsed, record);
  }
}

}  // namespace
}  // namespace leat::local

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  leat::local::check_parse(bytes);
  leat::local::check_attributes(bytes);
  leat::local::check_round_trip({reinterpret_cast<const char*>(data), size});
  return 0;
}
