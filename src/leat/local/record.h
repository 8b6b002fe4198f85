// Record: one change of a drive, as it stands in a pack.
//
// A pack is a tar file and the log of its drive; a record is one or two tar entries in it
// (docs/formats.md gives every byte):
//
//   kObject     the object's bytes as a regular file under its own path: `tar x` gives it back
//   kReference  a large object, whose bytes are extents of files of the drive
//   kDelete     a tombstone
//   kBucket     a bucket and its options
//
// An object that tar can name and that has no metadata costs one 512-byte header; everything else
// travels in a pax comment, which every tar reader ignores. The link name of a header, unused in
// regular files, holds the stamp: generation, time, checksums of payload and header, etag, and how
// far the pack was durable when the record was written, by which recovery tells a torn tail from a
// damaged record.
//
// The checksum of a header also covers its position, a number that no other block of any drive
// has: so the copy of a record inside some object (people do store packs in Leat) is never taken
// for a record, and a block that the disk put in the wrong place is found.
//
// Pure functions over bytes; hostile bytes give an Error, never a crash.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"
#include "leat/shard/tar_header.h"
#include "leat/store/object_store.h"

namespace leat::local {

inline constexpr std::uint64_t kChecksumBlockBytes = 1 << 20;  // of large objects

enum class RecordKind : char {
  kObject = 'o',
  kReference = 'r',
  kDelete = 'd',
  kBucket = 'b',
};

// A range of a file of the drive; `path` is relative to the drive.
struct Extent {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool operator==(const Extent&) const = default;
};

// What stands in the link name of a header. Plain values; no allocation.
struct Stamp {
  RecordKind kind = RecordKind::kObject;
  bool is_extension = false;  // the pax header before an object
  bool is_extended = false;  // an object's header that a pax header precedes: no record starts here
  std::uint64_t generation = 0;
  std::int64_t mtime_ns = 0;
  std::uint32_t payload_crc32c = 0;
  std::uint32_t durable_block = 0;  // of this pack, when the record was written
  std::string_view etag;            // into the header; empty when the etag is derived
};

struct Record {
  RecordKind kind = RecordKind::kObject;
  std::string key;  // bucket + '/' + name; bucket + '/' for kBucket
  std::uint64_t generation = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t size_bytes = 0;  // of the object
  std::uint32_t crc32c = 0;      // of the object
  std::string etag;              // empty: derived from generation and checksum
  Metadata metadata;
  std::vector<Extent> extents;  // kReference
  // kReference: one for each kChecksumBlockBytes of each extent; every extent begins a new block.
  std::vector<std::uint32_t> block_crcs;
  std::map<std::string, std::string>
      options;  // of a bucket; of an object: what a layer above keeps

  // The etag that readers see.
  std::string visible_etag() const;
};
// The etag of an object that was given none; differs whenever the bytes do. It has a dash, so no
// client takes it for an MD5.
std::string derived_etag(std::uint64_t generation, std::uint32_t crc32c);
void append_derived_etag(std::string& target, std::uint64_t generation, std::uint32_t crc32c);
// What readers see of a record.
ObjectInfo info_of(const Record& record);

// A record ready to be written but for its generation and place in the log.
class EncodedRecord {
 public:
  // `data`: the bytes of a kObject, borrowed until written; empty for other kinds.
  // Takes everything of `record` but the generation.
  EncodedRecord(const Record& record, std::span<const std::byte> data);
  // The bytes of a record that exists, to be written again elsewhere. `head_bytes` as in
  // RecordShape. REQUIRES: parse_record() accepted them.
  EncodedRecord(std::vector<std::byte> bytes, std::uint64_t head_bytes);

  // Fills in what is known only when the log gives the record its place.
  void stamp(std::uint64_t generation, std::uint32_t durable_block, std::uint64_t position);

  // Adds the pieces to write, in order: the first is at least one block.
  void append_pieces(std::vector<iovec>& pieces) const;
  std::uint64_t length_bytes() const noexcept { return length_bytes_; }

 private:
  std::vector<std::byte> head_;
  std::vector<std::size_t> headers_;  // offsets in head_ of the headers that carry a stamp
  std::span<const std::byte> data_;
  std::uint64_t length_bytes_ = 0;
};

// Reads a header's stamp. kNotFound when the block is all zeros, kCorrupted when it is not a
// header of ours or its checksum is wrong. No other errors, here and in the functions below.
Result<Stamp> parse_stamp(ConstTarBlock header, std::uint64_t position);

// How long a record is and where its parts are, from its first block.
struct RecordShape {
  RecordKind kind = RecordKind::kObject;
  std::uint32_t durable_block = 0;  // as in the stamp
  std::uint64_t head_bytes = 0;     // everything before the object's bytes
  std::uint64_t length_bytes =
      0;  // in the pack, with padding; 0 when head_bytes must be read first
};
Result<RecordShape> parse_shape(ConstTarBlock first, std::uint64_t position);

// Decodes a record of which at least the head (RecordShape::head_bytes) is there. Checks the
// headers and the payload of extensions and control records, not the bytes of an object.
// `length_bytes` gets the length of the whole record in the pack.
Result<Record> parse_record(std::span<const std::byte> head, std::uint64_t position,
                            std::uint64_t* length_bytes);

// Whether the name field of an object's header alone is its key.
bool is_whole_name(std::string_view key) noexcept;
// Whether a one-header object of `key` starts with this block: the quick way to know a record by
// its name, without decoding. `path` is escape_path(key).
bool header_has_path(ConstTarBlock header, std::string_view path) noexcept;

}  // namespace leat::local
