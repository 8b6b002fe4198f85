#include "leat/base/testing/simulated_content.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace leat {
namespace {

constexpr std::uint64_t kSectorBytes = SparseBytes::kSectorBytes;
constexpr std::uint64_t kNotCut = std::numeric_limits<std::uint64_t>::max();

std::uint64_t sectors_in(std::uint64_t size_bytes) {
  return size_bytes / kSectorBytes + (size_bytes % kSectorBytes != 0 ? 1 : 0);
}

}  // namespace

std::size_t SparseBytes::read(std::uint64_t offset, std::span<std::byte> target) const {
  if (offset >= size_bytes_) return 0;
  const std::size_t count = std::min<std::uint64_t>(target.size(), size_bytes_ - offset);
  for (std::size_t done = 0; done < count;) {
    const std::uint64_t within = (offset + done) % kSectorBytes;
    const std::size_t step = std::min<std::uint64_t>(count - done, kSectorBytes - within);
    const auto part = target.subspan(done, step);
    const auto sector = sectors_.find((offset + done) / kSectorBytes);
    if (sector == sectors_.end()) {
      std::ranges::fill(part, std::byte{0});
    } else {
      std::ranges::copy(std::span(sector->second).subspan(within, step), part.begin());
    }
    done += step;
  }
  return count;
}

void SparseBytes::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const std::uint64_t within = (offset + done) % kSectorBytes;
    const std::size_t step = std::min<std::uint64_t>(bytes.size() - done, kSectorBytes - within);
    Sector& sector = sectors_[(offset + done) / kSectorBytes];
    std::ranges::copy(bytes.subspan(done, step), sector.begin() + static_cast<int>(within));
    done += step;
  }
  if (!bytes.empty()) size_bytes_ = std::max(size_bytes_, offset + bytes.size());
}

void SparseBytes::resize(std::uint64_t size_bytes) {
  size_bytes_ = size_bytes;
  sectors_.erase(sectors_.lower_bound(sectors_in(size_bytes)), sectors_.end());
  if (sectors_.empty() || size_bytes % kSectorBytes == 0) return;
  const auto last = sectors_.find(size_bytes / kSectorBytes);
  if (last == sectors_.end()) return;
  std::ranges::fill(std::span(last->second).subspan(size_bytes % kSectorBytes), std::byte{0});
}

void SimulatedContent::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::uint64_t old_size_bytes = cache_.size_bytes();
  cache_.write(offset, bytes);
  Change change;
  copy_sectors(offset / kSectorBytes, sectors_in(offset + bytes.size()), change);
  if (cache_.size_bytes() != old_size_bytes) change.size_bytes = cache_.size_bytes();
  changes_.push_back(std::move(change));
}

void SimulatedContent::resize(std::uint64_t size_bytes) {
  cache_.resize(size_bytes);
  Change change;
  change.size_bytes = size_bytes;
  // The sector that holds the new end was cleared past it.
  if (size_bytes % kSectorBytes != 0) {
    copy_sectors(size_bytes / kSectorBytes, sectors_in(size_bytes), change);
  }
  changes_.push_back(std::move(change));
}

void SimulatedContent::set_mode(std::uint32_t mode) {
  cache_mode_ = mode;
  Change change;
  change.mode = mode;
  changes_.push_back(std::move(change));
}

void SimulatedContent::sync() {
  std::vector<Change> doubtful;
  for (Change& change : changes_) {
    if (change.size_bytes) {
      disk_.resize(*change.size_bytes);
      for (Change& earlier : doubtful) {
        auto& sectors = earlier.sectors;
        sectors.erase(sectors.lower_bound(sectors_in(*change.size_bytes)), sectors.end());
      }
    }
    if (change.mode) disk_mode_ = *change.mode;
    if (change.given_up) {
      Change rest;
      rest.sectors = std::move(change.sectors);
      rest.given_up = true;
      doubtful.push_back(std::move(rest));
      continue;
    }
    for (const auto& [index, sector] : change.sectors) {
      disk_.set_sector(index, sector);
      for (Change& earlier : doubtful) earlier.sectors.erase(index);
    }
  }
  std::erase_if(doubtful, [](const Change& change) { return change.sectors.empty(); });
  changes_ = std::move(doubtful);
}

void SimulatedContent::sync_failed() {
  for (Change& change : changes_) change.given_up = true;
}

void SimulatedContent::settle(PowerCut& cut) {
  if (changes_.empty()) return;
  // A surviving size brings the truncations before it along: the file system writes them to its
  // journal in that order. What they cut off must not show when the file grows over it.
  std::uint64_t size_bytes = disk_.size_bytes();
  std::uint64_t cut_to_bytes = kNotCut;
  for (const Change& change : changes_) {
    const PowerCut::Fate fate = cut.fate();
    if (change.size_bytes) {
      if (*change.size_bytes < size_bytes) {
        cut_to_bytes = std::min(cut_to_bytes, *change.size_bytes);
      }
      size_bytes = *change.size_bytes;
      if (cut.keeps_part(fate)) {
        disk_.resize(std::min(cut_to_bytes, size_bytes));
        disk_.resize(size_bytes);
        cut_to_bytes = kNotCut;
      }
    }
    if (change.mode && cut.keeps_part(fate)) disk_mode_ = *change.mode;
    for (const auto& [index, sector] : change.sectors) {
      if (cut.keeps_part(fate)) disk_.set_sector(index, sector);
    }
  }
  disk_.resize(disk_.size_bytes());
  cache_ = disk_;
  cache_mode_ = disk_mode_;
  changes_.clear();
}

void SimulatedContent::overwrite(std::uint64_t offset, std::span<const std::byte> bytes) {
  disk_.write(offset, bytes);
  cache_.write(offset, bytes);
}

void SimulatedContent::truncate(std::uint64_t size_bytes) {
  disk_.resize(size_bytes);
  cache_.resize(size_bytes);
}

void SimulatedContent::copy_sectors(std::uint64_t first, std::uint64_t end, Change& change) const {
  const auto& sectors = cache_.sectors();
  const auto last = sectors.lower_bound(end);
  for (auto sector = sectors.lower_bound(first); sector != last; ++sector) {
    change.sectors.insert(*sector);
  }
}

}  // namespace leat
