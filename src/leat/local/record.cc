#include "leat/local/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>

#include "leat/base/check.h"
#include "leat/base/hash.h"
#include "leat/base/hex.h"
#include "leat/base/url.h"
#include "leat/local/path_escape.h"
#include "leat/shard/pax.h"

namespace leat::local {
namespace {

// The stamp, as offsets from the start of the header. All numbers are lower-case hexadecimal.
constexpr std::string_view kMagic = "leat1";
constexpr std::size_t kStampMagic = kLinkNameOffset;
constexpr std::size_t kStampKind = kStampMagic + 5;
constexpr std::size_t kStampGeneration = kStampKind + 1;
constexpr std::size_t kStampMtime = kStampGeneration + 16;
constexpr std::size_t kStampPayloadCrc = kStampMtime + 16;
constexpr std::size_t kStampDurable = kStampPayloadCrc + 8;
constexpr std::size_t kStampHeaderCrc = kStampDurable + 8;
constexpr std::size_t kStampEtag = kStampHeaderCrc + 8;
constexpr std::size_t kStampEtagBytes = kLinkNameOffset + kLinkNameBytes - kStampEtag;
// An object with a pax header before it has these kinds in its two headers. Were the second an
// ordinary 'o', it would pass for an object of its own, with a cut name, once the first is damaged.
constexpr char kExtensionKind = 'x';
constexpr char kExtendedKind = 'e';
constexpr std::string_view kAttributesMagic = "leat1";
// A head larger than this is not read: block checksums of a 64 TiB object are half of it.
constexpr std::uint64_t kMaxHeadBytes = std::uint64_t{1} << 30;

constexpr std::byte kZeros[kTarBlockBytes] = {};

std::uint32_t header_crc(ConstTarBlock header, std::uint64_t position) noexcept {
  // The position, then everything but the two checksum fields.
  constexpr std::size_t kAfterTarChecksum = kChecksumOffset + kChecksumBytes;
  constexpr std::size_t kAfterHeaderCrc = kStampHeaderCrc + 8;
  std::uint32_t crc = crc32c(0, std::as_bytes(std::span(&position, 1)));
  crc = crc32c(crc, header.first(kChecksumOffset));
  crc = crc32c(crc, header.subspan(kAfterTarChecksum, kStampHeaderCrc - kAfterTarChecksum));
  return crc32c(crc, header.subspan(kAfterHeaderCrc));
}

char* text_at(TarBlock block, std::size_t offset) {
  return reinterpret_cast<char*>(block.data()) + offset;
}
std::string_view text_at(ConstTarBlock block, std::size_t offset, std::size_t length) {
  return {reinterpret_cast<const char*>(block.data()) + offset, length};
}
std::string_view up_to_nul(std::string_view text) {
  return text.substr(0, text.find('\0'));
}

// Whether the etag stands in the stamp, where zeros end it.
bool fits_stamp(std::string_view etag) noexcept {
  return etag.size() <= kStampEtagBytes && etag.find('\0') == std::string_view::npos;
}

// What the codecs below the record call a wrong argument is damage when it was read from a pack.
Error as_corruption(const Error& error) {
  return Error(ErrorCode::kCorrupted, std::string(error.message()));
}

// Writes all of the stamp that does not depend on the record's place.
void write_stamp(TarBlock block, char kind, std::int64_t mtime_ns, std::uint32_t payload_crc,
                 std::string_view etag) {
  std::memcpy(text_at(block, kStampMagic), kMagic.data(), kMagic.size());
  *text_at(block, kStampKind) = kind;
  write_hex(static_cast<std::uint64_t>(mtime_ns),
            std::span<char, 16>(text_at(block, kStampMtime), 16));
  write_hex(payload_crc, std::span<char, 8>(text_at(block, kStampPayloadCrc), 8));
  etag.copy(text_at(block, kStampEtag), kStampEtagBytes);
}

void append_attribute(std::string& out, std::string_view key, std::string_view value) {
  out += ' ';
  out += key;
  out += '=';
  out += value;
}
void append_map(std::string& out, std::string_view kind,
                const std::map<std::string, std::string>& map) {
  for (const auto& [key, value] : map) {
    append_attribute(out, std::string(kind) + percent_encode(key), percent_encode(value));
  }
}

// What neither the path nor the stamp can hold, as "key=value" words; empty when there is nothing.
std::string encode_attributes(const Record& record) {
  std::string out;
  if (record.kind != RecordKind::kObject)
    append_attribute(out, "n", percent_encode(record.key, "/"));
  if (!fits_stamp(record.etag)) append_attribute(out, "t", percent_encode(record.etag));
  append_map(out, "h.", record.metadata.headers);
  append_map(out, "u.", record.metadata.user);
  append_map(out, "k.", record.metadata.checksums);
  append_map(out, "o.", record.options);
  if (record.kind == RecordKind::kReference) {
    append_attribute(out, "s", std::to_string(record.size_bytes));
    append_attribute(out, "c", to_hex(record.crc32c));
    for (const Extent& extent : record.extents) {
      append_attribute(out, "e",
                       std::to_string(extent.offset) + ":" + std::to_string(extent.length) + ":" +
                           percent_encode(extent.path, "/"));
    }
    std::string crcs;
    for (const std::uint32_t crc : record.block_crcs) crcs += to_hex(crc);
    append_attribute(out, "b", crcs);
  }
  return out.empty() ? out : std::string(kAttributesMagic) + out;
}

Result<std::uint64_t> parse_decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return Error(ErrorCode::kCorrupted, "not a number in a record");
  }
  return value;
}

Result<Extent> parse_extent(std::string_view text) {
  const std::size_t first = text.find(':');
  const std::size_t second = first == text.npos ? text.npos : text.find(':', first + 1);
  if (second == text.npos) return Error(ErrorCode::kCorrupted, "not an extent in a record");
  Extent extent;
  ASSIGN_OR_RETURN(extent.offset, parse_decimal(text.substr(0, first)));
  ASSIGN_OR_RETURN(extent.length, parse_decimal(text.substr(first + 1, second - first - 1)));
  ASSIGN_OR_RETURN(extent.path, percent_decode(text.substr(second + 1)));
  return extent;
}

Status parse_attribute(std::string_view key, std::string_view value, Record& record) {
  const std::string_view kind = key.substr(0, 2);
  if (kind == "h." || kind == "u." || kind == "k." || kind == "o.") {
    ASSIGN_OR_RETURN(auto name, percent_decode(key.substr(2)));
    ASSIGN_OR_RETURN(auto text, percent_decode(value));
    auto& map = kind == "h."   ? record.metadata.headers
                : kind == "u." ? record.metadata.user
                : kind == "k." ? record.metadata.checksums
                               : record.options;
    map[std::move(name)] = std::move(text);
  } else if (key == "n") {
    ASSIGN_OR_RETURN(record.key, percent_decode(value));
  } else if (key == "t") {
    ASSIGN_OR_RETURN(record.etag, percent_decode(value));
  } else if (key == "s") {
    ASSIGN_OR_RETURN(record.size_bytes, parse_decimal(value));
  } else if (key == "c") {
    ASSIGN_OR_RETURN(record.crc32c, parse_hex_u32(value));
  } else if (key == "e") {
    ASSIGN_OR_RETURN(auto extent, parse_extent(value));
    record.extents.push_back(std::move(extent));
  } else if (key == "b") {
    if (value.size() % 8 != 0) return Error(ErrorCode::kCorrupted, "block checksums are cut");
    for (std::size_t i = 0; i < value.size(); i += 8) {
      ASSIGN_OR_RETURN(auto crc, parse_hex_u32(value.substr(i, 8)));
      record.block_crcs.push_back(crc);
    }
  }
  // Other words are from a later version that this one may ignore: what it may not is told by the
  // drive's feature bits.
  return ok_status();
}

Status parse_attributes(std::string_view text, Record& record) {
  if (!text.starts_with(kAttributesMagic)) return ok_status();  // somebody else's comment
  text.remove_prefix(kAttributesMagic.size());
  while (!text.empty()) {
    text.remove_prefix(1);  // the space before each word
    const std::string_view word = text.substr(0, text.find(' '));
    const std::size_t equals = word.find('=');
    if (equals == word.npos) return Error(ErrorCode::kCorrupted, "not an attribute in a record");
    RETURN_IF_ERROR(parse_attribute(word.substr(0, equals), word.substr(equals + 1), record));
    text.remove_prefix(word.size());
  }
  return ok_status();
}

// The extents must make up the object, and the block checksums must cover it.
Status check_reference(const Record& record) {
  std::uint64_t total = 0;
  std::uint64_t blocks = 0;
  for (const Extent& extent : record.extents) {
    if (extent.path.empty() || extent.length > UINT64_MAX / 2 - total ||
        extent.offset > UINT64_MAX / 2 - extent.length) {
      return Error(ErrorCode::kCorrupted, "an extent of " + record.key + " is impossible");
    }
    total += extent.length;
    blocks += (extent.length + kChecksumBlockBytes - 1) / kChecksumBlockBytes;
  }
  if (total != record.size_bytes || record.block_crcs.size() != blocks) {
    return Error(ErrorCode::kCorrupted,
                 "the extents of " + record.key + " do not make up its size");
  }
  return ok_status();
}

// The payload of a pax header: the path, if tar needs it there, and our attributes.
Status parse_payload(std::span<const std::byte> payload, Record& record, std::string& path) {
  std::string_view rest(reinterpret_cast<const char*>(payload.data()), payload.size());
  for (;;) {
    ASSIGN_OR_RETURN(auto pax, take_pax_record(rest));
    if (!pax) return ok_status();
    if (pax->key == "path") path = pax->value;
    if (pax->key == "comment") RETURN_IF_ERROR(parse_attributes(pax->value, record));
  }
}

const char* entry_name(RecordKind kind) {
  switch (kind) {
    case RecordKind::kObject:
      return "leat.attributes";
    case RecordKind::kReference:
      return "leat.reference";
    case RecordKind::kDelete:
      return "leat.delete";
    case RecordKind::kBucket:
      return "leat.bucket";
  }
  return "leat";
}

}  // namespace

void append_derived_etag(std::string& target, std::uint64_t generation, std::uint32_t crc32c) {
  fmt::format_to(std::back_inserter(target), "{:016x}-{:08x}", generation, crc32c);
}

std::string derived_etag(std::uint64_t generation, std::uint32_t crc32c) {
  std::string etag;
  append_derived_etag(etag, generation, crc32c);
  return etag;
}

std::string Record::visible_etag() const {
  return etag.empty() ? derived_etag(generation, crc32c) : etag;
}

ObjectInfo info_of(const Record& record) {
  ObjectInfo info;
  info.size_bytes = record.size_bytes;
  info.mtime_ns = record.mtime_ns;
  info.generation = record.generation;
  info.etag = record.visible_etag();
  info.crc32c = record.crc32c;
  if (!record.metadata.empty()) info.metadata = std::make_shared<const Metadata>(record.metadata);
  return info;
}

EncodedRecord::EncodedRecord(const Record& record, std::span<const std::byte> data) : data_(data) {
  const bool is_object = record.kind == RecordKind::kObject;
  CHECK(is_object || data.empty());
  const std::string path = is_object ? escape_path(record.key) : std::string();
  const auto split = split_name(path);
  const std::string_view short_etag =
      fits_stamp(record.etag) ? std::string_view(record.etag) : std::string_view();

  std::string payload;
  if (is_object && !split) append_pax_record(payload, "path", path);
  if (const std::string attributes = encode_attributes(record); !attributes.empty()) {
    append_pax_record(payload, "comment", attributes);
  }
  const auto add_header = [&](const TarHeader& header, char kind, std::uint32_t payload_crc) {
    headers_.push_back(head_.size());
    head_.resize(head_.size() + kTarBlockBytes);
    const TarBlock block(head_.data() + headers_.back(), kTarBlockBytes);
    format_header(block, header);
    write_stamp(block, kind, record.mtime_ns, payload_crc, short_etag);
  };
  const std::int64_t mtime_s = record.mtime_ns / 1'000'000'000;
  if (!payload.empty() || !is_object) {
    TarHeader header;
    header.name = entry_name(record.kind);
    header.size_bytes = payload.size();
    header.mtime_s = mtime_s;
    header.type = is_object ? TarType::kPaxHeader : TarType::kPaxGlobalHeader;
    const auto bytes = std::as_bytes(std::span(payload));
    add_header(header, is_object ? kExtensionKind : static_cast<char>(record.kind),
               crc32c(0, bytes));
    head_.insert(head_.end(), bytes.begin(), bytes.end());
    head_.resize(headers_.back() + kTarBlockBytes + padded_size(payload.size()));
  }
  if (is_object) {
    TarHeader header;
    header.name = split ? split->name : std::string_view(path).substr(0, kNameBytes);
    header.prefix = split ? split->prefix : std::string_view();
    header.size_bytes = data.size();
    header.mtime_s = mtime_s;
    const char kind = payload.empty() ? static_cast<char>(RecordKind::kObject) : kExtendedKind;
    add_header(header, kind, record.crc32c);
  }
  length_bytes_ = head_.size() + padded_size(data.size());
}

EncodedRecord::EncodedRecord(std::vector<std::byte> bytes, std::uint64_t head_bytes)
    : head_(std::move(bytes)) {
  CHECK(head_.size() >= kTarBlockBytes && head_.size() % kTarBlockBytes == 0);
  headers_.push_back(0);
  const char type = static_cast<char>(head_[kTypeFlagOffset]);
  if (type == static_cast<char>(TarType::kPaxHeader))
    headers_.push_back(head_bytes - kTarBlockBytes);
  length_bytes_ = head_.size();
}

void EncodedRecord::stamp(std::uint64_t generation, std::uint32_t durable_block,
                          std::uint64_t position) {
  for (const std::size_t offset : headers_) {
    const TarBlock block(head_.data() + offset, kTarBlockBytes);
    write_hex(generation, std::span<char, 16>(text_at(block, kStampGeneration), 16));
    write_hex(durable_block, std::span<char, 8>(text_at(block, kStampDurable), 8));
    const std::uint32_t crc = header_crc(block, position + offset / kTarBlockBytes);
    write_hex(crc, std::span<char, 8>(text_at(block, kStampHeaderCrc), 8));
    finish_checksum(block);
  }
}

void EncodedRecord::append_pieces(std::vector<iovec>& pieces) const {
  const auto add = [&](std::span<const std::byte> bytes) {
    if (!bytes.empty()) pieces.push_back({const_cast<std::byte*>(bytes.data()), bytes.size()});
  };
  add(head_);
  add(data_);
  add(std::span(kZeros).first(padded_size(data_.size()) - data_.size()));
}

Result<Stamp> parse_stamp(ConstTarBlock header, std::uint64_t position) {
  if (text_at(header, kStampMagic, kMagic.size()) != kMagic) {
    if (is_zero_block(header)) return ErrorCode::kNotFound;
    return Error(ErrorCode::kCorrupted, "not a record header");
  }
  const auto expected = parse_hex_u32(text_at(header, kStampHeaderCrc, 8));
  if (!expected.ok() || *expected != header_crc(header, position)) {
    return Error(ErrorCode::kCorrupted, "a record header's checksum is wrong");
  }
  Stamp stamp;
  const char kind = text_at(header, kStampKind, 1)[0];
  stamp.is_extension = kind == kExtensionKind;
  stamp.is_extended = kind == kExtendedKind;
  const bool is_object = stamp.is_extension || stamp.is_extended;
  stamp.kind = is_object ? RecordKind::kObject : static_cast<RecordKind>(kind);
  if (!is_object && std::string_view("ordb").find(kind) == std::string_view::npos) {
    return Error(ErrorCode::kCorrupted, "a record is of an unknown kind");
  }
  const auto generation = parse_hex_u64(text_at(header, kStampGeneration, 16));
  const auto mtime = parse_hex_u64(text_at(header, kStampMtime, 16));
  const auto payload_crc = parse_hex_u32(text_at(header, kStampPayloadCrc, 8));
  const auto durable_block = parse_hex_u32(text_at(header, kStampDurable, 8));
  if (!generation.ok() || !mtime.ok() || !payload_crc.ok() || !durable_block.ok()) {
    return Error(ErrorCode::kCorrupted, "not a number in a record header");
  }
  stamp.generation = *generation;
  stamp.mtime_ns = static_cast<std::int64_t>(*mtime);
  stamp.payload_crc32c = *payload_crc;
  stamp.durable_block = *durable_block;
  stamp.etag = up_to_nul(text_at(header, kStampEtag, kStampEtagBytes));
  return stamp;
}

Result<RecordShape> parse_shape(ConstTarBlock first, std::uint64_t position) {
  ASSIGN_OR_RETURN(auto stamp, parse_stamp(first, position));
  const auto header = parse_header(first);
  if (!header.ok()) return as_corruption(header.error());
  const std::uint64_t total = kTarBlockBytes + padded_size(header->size_bytes);
  RecordShape shape;
  shape.kind = stamp.kind;
  shape.durable_block = stamp.durable_block;
  if (stamp.is_extension) {
    shape.head_bytes = total + kTarBlockBytes;
  } else {
    const bool is_object = stamp.kind == RecordKind::kObject;
    shape.head_bytes = is_object ? kTarBlockBytes : total;
    shape.length_bytes = total;
  }
  const TarType type = stamp.is_extension                  ? TarType::kPaxHeader
                       : stamp.kind == RecordKind::kObject ? TarType::kRegular
                                                           : TarType::kPaxGlobalHeader;
  if (stamp.is_extended || header->type != type || shape.head_bytes > kMaxHeadBytes) {
    return Error(ErrorCode::kCorrupted, "a record header contradicts itself");
  }
  return shape;
}

namespace {

// The regular file's header, after the extension if there is one; `path` comes from there.
Status parse_object_header(ConstTarBlock main, std::uint64_t position, const Stamp& first,
                           std::string& path, Record& record) {
  const auto stamp = parse_stamp(main, position);
  if (!stamp.ok() || stamp->is_extended != first.is_extension ||
      stamp->kind != RecordKind::kObject || stamp->generation != first.generation) {
    return Error(ErrorCode::kCorrupted, "a record's two headers do not belong together");
  }
  ASSIGN_OR_RETURN(auto header, parse_header(main));
  record.size_bytes = header.size_bytes;
  record.crc32c = stamp->payload_crc32c;
  if (path.empty() && !header.prefix.empty()) path = std::string(header.prefix) + "/";
  if (path.empty() || path.ends_with('/')) path += header.name;
  ASSIGN_OR_RETURN(record.key, unescape_path(path));
  return ok_status();
}

// Everything but the first header, whose `stamp` and `shape` are known.
Status parse_rest(std::span<const std::byte> head, std::uint64_t position, const Stamp& stamp,
                  const RecordShape& shape, Record& record) {
  std::string path;
  const bool is_object = stamp.kind == RecordKind::kObject;
  if (stamp.is_extension || !is_object) {
    ASSIGN_OR_RETURN(auto header, parse_header(head.first<kTarBlockBytes>()));
    const auto payload = head.subspan(kTarBlockBytes, header.size_bytes);
    if (crc32c(0, payload) != stamp.payload_crc32c) {
      return Error(ErrorCode::kCorrupted, "the checksum of a record's attributes is wrong");
    }
    RETURN_IF_ERROR(parse_payload(payload, record, path));
  }
  if (is_object) {
    const std::uint64_t offset = shape.head_bytes - kTarBlockBytes;
    const auto main = head.subspan(offset).first<kTarBlockBytes>();
    RETURN_IF_ERROR(
        parse_object_header(main, position + offset / kTarBlockBytes, stamp, path, record));
  }
  if (record.kind == RecordKind::kReference) RETURN_IF_ERROR(check_reference(record));
  if (record.key.find('/') == std::string::npos) {
    return Error(ErrorCode::kCorrupted, "a record has no key");
  }
  return ok_status();
}

}  // namespace

Result<Record> parse_record(std::span<const std::byte> head, std::uint64_t position,
                            std::uint64_t* length_bytes) {
  if (head.size() < kTarBlockBytes) return Error(ErrorCode::kCorrupted, "a record is cut short");
  const auto first = head.first<kTarBlockBytes>();
  ASSIGN_OR_RETURN(auto shape, parse_shape(first, position));
  if (head.size() < shape.head_bytes) return Error(ErrorCode::kCorrupted, "a record is cut short");
  ASSIGN_OR_RETURN(auto stamp, parse_stamp(first, position));
  Record record;
  record.kind = stamp.kind;
  record.generation = stamp.generation;
  record.mtime_ns = stamp.mtime_ns;
  record.etag = stamp.etag;
  if (const auto rest = parse_rest(head, position, stamp, shape, record); !rest.ok()) {
    return as_corruption(rest.error());
  }
  *length_bytes =
      stamp.is_extension ? shape.head_bytes + padded_size(record.size_bytes) : shape.length_bytes;
  return record;
}

bool is_whole_name(std::string_view key) noexcept {
  return key.size() <= kNameBytes && is_plain_path(key);
}

bool header_has_path(ConstTarBlock header, std::string_view path) noexcept {
  if (static_cast<char>(header[kTypeFlagOffset]) != static_cast<char>(TarType::kRegular))
    return false;
  const std::string_view name = up_to_nul(text_at(header, kNameOffset, kNameBytes));
  const std::string_view prefix = up_to_nul(text_at(header, kPrefixOffset, kPrefixBytes));
  if (prefix.empty()) return path == name;
  return path.size() == prefix.size() + 1 + name.size() && path.starts_with(prefix) &&
         path[prefix.size()] == '/' && path.ends_with(name);
}

}  // namespace leat::local
