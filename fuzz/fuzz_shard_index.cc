// Any bytes as the index of a shard: refused, or every answer lies within its bounds.
//
// Checksums would keep a fuzzer from everything behind them, so they are made right first.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "leat/base/check.h"
#include "leat/base/hash.h"
#include "leat/shard/shard_index.h"

namespace {

constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kEntryBytes = 32;
constexpr std::size_t kCountAt = 24;

void put_crc(std::vector<std::byte>& blob, std::size_t at, std::span<const std::byte> covered) {
  const std::uint32_t crc = leat::crc32c(0, covered);
  std::memcpy(blob.data() + at, &crc, sizeof crc);
}

void seal(std::vector<std::byte>& blob) {
  if (blob.size() < kHeaderBytes) return;
  std::uint64_t count = 0;
  std::memcpy(&count, blob.data() + kCountAt, sizeof count);
  const std::span<const std::byte> all(blob);
  count = std::min<std::uint64_t>(count, (all.size() - kHeaderBytes) / kEntryBytes);
  const std::size_t slots_at = kHeaderBytes + count * kEntryBytes;
  const std::size_t slots_bytes = std::min((count + count / 2 + 1) * 4, all.size() - slots_at);
  put_crc(blob, 40, all.subspan(kHeaderBytes, count * kEntryBytes));
  put_crc(blob, 48, all.subspan(slots_at, slots_bytes));
  put_crc(blob, 44, all.subspan(slots_at + slots_bytes));
  put_crc(blob, 60, std::span<const std::byte>(blob).first(60));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> blob(bytes, bytes + size);
  seal(blob);
  const auto index = leat::ShardIndex::decode(std::move(blob));
  if (!index.ok()) return 0;
  for (std::size_t position = 0; position < index->size(); ++position) {
    const leat::ShardMember member = index->member(position);
    CHECK(!member.name.empty());
    CHECK(member.data_offset <= index->shard_bytes());
    CHECK(member.size_bytes <= index->shard_bytes() - member.data_offset);
    CHECK(index->seek(member.name) == position);
    // A slot may be missing, but must not lie.
    const auto found = index->find(member.name);
    CHECK(!found || found->data_offset == member.data_offset);
    CHECK(index->seek(std::string(member.name) + '\0') == position + 1);
  }
  return 0;
}
