#include "leat/local/piece_reader.h"

#include <algorithm>
#include <tuple>

namespace leat::local {
namespace {

constexpr unsigned kRingDepth = 256;
constexpr std::uint64_t kJoinGapBytes = 4096;
// Whoever keeps one piece keeps all that were read with it.
constexpr std::uint64_t kMostJoinedBytes = 1 << 20;

}  // namespace

// Reads in the order of the disk; what is near enough to the piece before it is read along with it.
void PieceReader::read(std::span<Piece> pieces, const Context& context) {
  std::unique_ptr<IoRing> ring;
  {
    MutexLock lock(mutex_);
    if (!rings_.empty()) {
      ring = std::move(rings_.back());
      rings_.pop_back();
    }
  }
  if (!ring) {
    auto created = IoRing::create(kRingDepth);
    if (!created.ok()) return;  // not allowed here: one by one, then
    ring = *std::move(created);
  }
  std::vector<Piece*> sorted;
  sorted.reserve(pieces.size());
  for (Piece& piece : pieces) sorted.push_back(&piece);
  std::sort(sorted.begin(), sorted.end(), [](const Piece* a, const Piece* b) {
    return std::tie(a->descriptor, a->offset) < std::tie(b->descriptor, b->offset);
  });
  std::vector<std::shared_ptr<std::byte[]>> buffers;  // one a read
  std::vector<IoRing::Read> reads;
  std::vector<std::size_t> read_of(sorted.size());
  for (std::size_t i = 0; i < sorted.size();) {
    const std::uint64_t start = sorted[i]->offset;
    std::uint64_t end = start;
    const std::size_t first = i;
    while (i < sorted.size() && sorted[i]->descriptor == sorted[first]->descriptor &&
           (i == first ||
            (sorted[i]->offset <= end + kJoinGapBytes && end - start < kMostJoinedBytes))) {
      end = std::max(end, sorted[i]->offset + sorted[i]->length);
      read_of[i++] = reads.size();
    }
    buffers.push_back(std::make_shared_for_overwrite<std::byte[]>(end - start));
    reads.push_back(
        {sorted[first]->descriptor, start, std::span(buffers.back().get(), end - start)});
  }
  ring->read_all(reads, context);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const IoRing::Read& read = reads[read_of[i]];
    const std::uint64_t at = sorted[i]->offset - read.offset;
    if (!read.result.ok() || at + sorted[i]->length > *read.result) continue;
    const auto& buffer = buffers[read_of[i]];
    sorted[i]->bytes = std::shared_ptr<const std::byte[]>(buffer, buffer.get() + at);
  }
  if (!ring->is_usable()) return;
  MutexLock lock(mutex_);
  rings_.push_back(std::move(ring));
}

}  // namespace leat::local
