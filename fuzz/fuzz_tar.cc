// Any bytes as a tar stream: no crash, bounded memory, and the same findings however it is cut.
//
// The first two bytes of the input say how the rest is cut into pieces. A checksum would keep a
// fuzzer from everything behind it, so those of all headers are made right, unless the second byte
// is 0.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "leat/base/check.h"
#include "leat/base/hash.h"
#include "leat/shard/shard_index.h"
#include "leat/shard/tar_header.h"
#include "leat/shard/testing/tar_fixture.h"

namespace {

constexpr std::string_view kMagic = "ustar";

using leat::testing::bytes_of;
using leat::testing::Scan;
using leat::testing::scan;
using leat::testing::ScannedMember;

std::string with_checksums(std::string stream) {
  for (std::size_t at = 0; at + leat::kTarBlockBytes <= stream.size(); at += leat::kTarBlockBytes) {
    if (stream.compare(at + leat::kMagicOffset, kMagic.size(), kMagic) != 0) continue;
    const auto block = std::as_writable_bytes(std::span(stream)).subspan(at);
    leat::finish_checksum(block.first<leat::kTarBlockBytes>());
  }
  return stream;
}

// Everything that is said about a member is true of the bytes of the stream.
void check_members(std::string_view stream, const Scan& found) {
  if (!found.summary.ok()) return;
  CHECK(found.summary->members == found.members.size());
  CHECK(found.summary->stream_bytes == stream.size());
  leat::ShardIndexBuilder builder;
  for (const ScannedMember& member : found.members) {
    CHECK(!member.name.empty());
    CHECK(member.data_offset <= stream.size());
    CHECK(member.size_bytes <= stream.size() - member.data_offset);
    CHECK(stream.substr(member.data_offset, member.size_bytes) == member.data);
    CHECK(leat::crc32c(0, bytes_of(member.data)) == member.crc32c);
    CHECK(builder
              .add({member.name, member.data_offset, member.size_bytes, member.mtime_ns,
                    member.crc32c})
              .ok());
  }
  CHECK(leat::ShardIndex::decode(std::move(builder).finish(stream.size())).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::array<std::size_t, 2> pieces{std::size_t{1} + data[0] * 3u, std::size_t{1} + data[1]};
  std::string stream(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (data[1] != 0) stream = with_checksums(std::move(stream));
  const Scan whole = scan(stream);
  CHECK(scan(stream, pieces).same_as(whole));
  check_members(stream, whole);
  return 0;
}
