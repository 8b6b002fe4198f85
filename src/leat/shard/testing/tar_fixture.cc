#include "leat/shard/testing/tar_fixture.h"

#include <algorithm>
#include <array>

#include "leat/shard/pax.h"

namespace leat::testing {
namespace {

class Recorder final : public TarVisitor {
 public:
  explicit Recorder(Scan& scan) : scan_(scan) {}

  Status begin_member(const TarEntry& entry) override {
    scan_.members.emplace_back().name = entry.name;
    return ok_status();
  }
  Status member_data(std::span<const std::byte> bytes) override {
    scan_.members.back().data += text_of(bytes);
    return ok_status();
  }
  Status end_member(const TarEntry& entry) override {
    ScannedMember& member = scan_.members.back();
    member.stored_name = entry.stored_name;
    member.data_offset = entry.data_offset;
    member.size_bytes = entry.size_bytes;
    member.mtime_ns = entry.mtime_ns;
    member.mode = entry.mode;
    member.crc32c = entry.crc32c;
    return ok_status();
  }
  Status skip_entry(const TarEntry& entry) override {
    scan_.skipped.emplace_back(entry.name);
    return ok_status();
  }

 private:
  Scan& scan_;
};

Status feed_in_pieces(TarScanner& scanner, std::span<const std::byte> stream,
                      std::span<const std::size_t> piece_bytes) {
  for (std::size_t piece = 0; !stream.empty(); ++piece) {
    const std::size_t size = piece_bytes.empty()
                                 ? stream.size()
                                 : std::min(stream.size(), piece_bytes[piece % piece_bytes.size()]);
    RETURN_IF_ERROR(scanner.feed(stream.first(size)));
    stream = stream.subspan(size);
  }
  return ok_status();
}

}  // namespace

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string header_block(const TarHeader& header) {
  return edited_header(header, 0, {});
}

std::string edited_header(const TarHeader& header, std::size_t offset, std::string_view bytes) {
  std::array<std::byte, kTarBlockBytes> block;
  format_header(block, header);
  std::ranges::copy(bytes_of(bytes), block.begin() + static_cast<std::ptrdiff_t>(offset));
  finish_checksum(block);
  return text_of(block);
}

TarBuilder& TarBuilder::raw(std::string_view bytes) {
  bytes_ += bytes;
  return *this;
}

TarBuilder& TarBuilder::header(const TarHeader& header) {
  return raw(header_block(header));
}

TarBuilder& TarBuilder::data(std::string_view bytes) {
  raw(bytes);
  bytes_.append(padded_size(bytes.size()) - bytes.size(), '\0');
  return *this;
}

TarBuilder& TarBuilder::file(std::string_view name, std::string_view bytes) {
  return entry(TarType::kRegular, name, bytes);
}

TarBuilder& TarBuilder::entry(TarType type, std::string_view name, std::string_view bytes) {
  TarHeader described;
  described.name = name;
  described.type = type;
  described.size_bytes = bytes.size();
  return header(described).data(bytes);
}

TarBuilder& TarBuilder::pax(std::string_view key, std::string_view value) {
  std::string record;
  append_pax_record(record, key, value);
  return entry(TarType::kPaxHeader, "PaxHeaders/x", record);
}

TarBuilder& TarBuilder::end() {
  bytes_.append(2 * kTarBlockBytes, '\0');
  return *this;
}

std::vector<std::string> Scan::names() const {
  std::vector<std::string> names;
  for (const ScannedMember& member : members) names.push_back(member.name);
  return names;
}

bool Scan::same_as(const Scan& other) const {
  if (members != other.members || skipped != other.skipped) return false;
  if (summary.ok() != other.summary.ok()) return false;
  if (!summary.ok()) {
    return summary.error().code() == other.summary.error().code() &&
           summary.error().message() == other.summary.error().message();
  }
  return *summary == *other.summary;
}

Scan scan(std::string_view stream, std::span<const std::size_t> piece_bytes) {
  Scan found;
  Recorder recorder(found);
  TarScanner scanner(recorder);
  auto fed = feed_in_pieces(scanner, bytes_of(stream), piece_bytes);
  found.summary = fed.ok() ? scanner.finish() : Result<TarSummary>(std::move(fed).error());
  return found;
}

}  // namespace leat::testing
