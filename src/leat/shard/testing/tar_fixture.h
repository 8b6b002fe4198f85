// What the tests of this folder share: tar streams made by hand, and a record of what a scanner
// found in one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"
#include "leat/shard/tar_header.h"
#include "leat/shard/tar_scanner.h"

namespace leat::testing {

std::span<const std::byte> bytes_of(std::string_view text);
std::string text_of(std::span<const std::byte> bytes);

// A header block with its checksum.
std::string header_block(const TarHeader& header);
// Changes a header by hand, then makes the checksum right again.
std::string edited_header(const TarHeader& header, std::size_t offset, std::string_view bytes);

// Puts archives together block by block; says nothing about whether they are sound.
class TarBuilder {
 public:
  TarBuilder& raw(std::string_view bytes);
  TarBuilder& header(const TarHeader& header);
  // Data and its padding.
  TarBuilder& data(std::string_view bytes);
  TarBuilder& file(std::string_view name, std::string_view bytes);
  // A member of any type, with `bytes` as its data.
  TarBuilder& entry(TarType type, std::string_view name, std::string_view bytes);
  TarBuilder& pax(std::string_view key, std::string_view value);
  TarBuilder& end();

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

struct ScannedMember {
  std::string name;
  std::string stored_name;
  std::uint64_t data_offset = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  std::uint32_t mode = 0;
  std::uint32_t crc32c = 0;
  std::string data;
  bool operator==(const ScannedMember&) const = default;
};

struct Scan {
  std::vector<ScannedMember> members;
  std::vector<std::string> skipped;
  Result<TarSummary> summary = Error(ErrorCode::kCancelled);

  std::vector<std::string> names() const;
  // Equal findings and equal ends, wording of an Error included.
  bool same_as(const Scan& other) const;
};

// Feeds `stream` in pieces of these sizes, over and over.
Scan scan(std::string_view stream, std::span<const std::size_t> piece_bytes = {});

}  // namespace leat::testing
