#include "leat/local/object_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "leat/base/hash.h"

namespace leat::local {
namespace {

std::size_t part_of(std::uint64_t size_bytes, std::uint64_t offset, std::size_t wanted) {
  return static_cast<std::size_t>(ByteRange{offset, wanted}.within(size_bytes).length);
}

// A small object, in a pack.
class PackedBytes final : public ObjectBytes {
 public:
  PackedBytes(std::shared_ptr<Drive> drive, std::string_view key, Found found)
      : drive_(std::move(drive)),
        key_(key),
        found_(std::move(found)),
        is_checked_(found_.data != nullptr || found_.place.is_verified()) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target) override {
    const std::size_t count = part_of(found_.record.size_bytes, offset, target.size());
    if (count == 0) return count;
    Data data = found_.data;
    if (!data) {
      ASSIGN_OR_RETURN(data, check_data());
    }
    if (!data) return read_unchecked(offset, target);
    std::memcpy(target.data(), data.get() + offset, count);
    return count;
  }

  Result<std::size_t> read_unchecked(std::uint64_t offset, std::span<std::byte> target) override {
    const std::size_t count = part_of(found_.record.size_bytes, offset, target.size());
    return found_.pack->file().read_at(found_.data_offset + offset, target.first(count));
  }

  Result<std::vector<LocalExtent>> extents(ByteRange range, Check check) override {
    const int descriptor = found_.pack->file().descriptor();
    if (descriptor < 0) return ErrorCode::kUnsupported;
    if (check == Check::kYes) RETURN_IF_ERROR(check_data());
    range = range.within(found_.record.size_bytes);
    if (range.length == 0) return std::vector<LocalExtent>();
    return std::vector<LocalExtent>{{descriptor, found_.data_offset + range.offset, range.length}};
  }

  bool extents_now(ByteRange range, std::vector<LocalExtent>& result) override {
    const int descriptor = found_.pack->file().descriptor();
    if (descriptor < 0 || !is_checked_.load(std::memory_order_acquire)) return false;
    range = range.within(found_.record.size_bytes);
    result.clear();
    if (range.length > 0) {
      result.push_back({descriptor, found_.data_offset + range.offset, range.length});
    }
    return true;
  }

 private:
  using Data = std::shared_ptr<const std::byte[]>;

  // The object if it had to be brought to memory to be compared; null when it was compared before,
  // and may be read from the pack.
  Result<Data> check_data() EXCLUDES(mutex_) {
    if (is_checked_.load(std::memory_order_acquire)) return Data();
    MutexLock lock(mutex_);
    if (is_checked_.load(std::memory_order_relaxed)) return Data();
    auto bytes = std::make_shared_for_overwrite<std::byte[]>(found_.record.size_bytes);
    const std::span<std::byte> all(bytes.get(), found_.record.size_bytes);
    ASSIGN_OR_RETURN(const auto count, found_.pack->file().read_at(found_.data_offset, all));
    RETURN_IF_ERROR(drive_->check_data(key_, found_, all.first(count)));
    is_checked_.store(true, std::memory_order_release);
    return Data(std::move(bytes));
  }

  const std::shared_ptr<Drive> drive_;
  const std::string key_;
  const Found found_;
  Mutex mutex_;  // held over the one read that compares: others want the same bytes
  std::atomic<bool> is_checked_;
};

// A large object: extents of files.
class FileBytes final : public ObjectBytes {
 public:
  FileBytes(Drive& drive, std::shared_ptr<Drive> owner, const Record& record,
            std::shared_ptr<BlockMarks> marks)
      : drive_(drive),
        owner_(std::move(owner)),
        record_(record),
        marks_(std::move(marks)),
        pin_(drive.pin_files(record_.extents)),
        files_(record_.extents.size()) {
    std::uint64_t start = 0;
    std::uint64_t block = 0;
    for (const Extent& extent : record_.extents) {
      starts_.push_back(start);
      first_blocks_.push_back(block);
      start += extent.length;
      block += (extent.length + kChecksumBlockBytes - 1) / kChecksumBlockBytes;
    }
  }

  // Opens what most readers need, so that a lost file is told at once.
  Status open_first() {
    if (record_.extents.empty()) return ok_status();
    RETURN_IF_ERROR(file(0));
    return ok_status();
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target) override {
    const std::size_t count = part_of(record_.size_bytes, offset, target.size());
    target = target.first(count);
    while (!target.empty()) {
      const Block block = block_at(offset);
      const std::size_t here = static_cast<std::size_t>(
          std::min<std::uint64_t>(target.size(), block.start + block.length - offset));
      const std::span<std::byte> part = target.first(here);
      if (marks_->is_checked(block.number)) {
        RETURN_IF_ERROR(read_fully(offset, part));
      } else if (here == block.length) {
        RETURN_IF_ERROR(read_fully(offset, part));
        RETURN_IF_ERROR(check_block(block.number, part));
      } else {
        std::vector<std::byte> whole(block.length);
        RETURN_IF_ERROR(read_fully(block.start, whole));
        RETURN_IF_ERROR(check_block(block.number, whole));
        std::memcpy(part.data(), whole.data() + (offset - block.start), here);
      }
      offset += here;
      target = target.subspan(here);
    }
    return count;
  }

  Result<std::size_t> read_unchecked(std::uint64_t offset, std::span<std::byte> target) override {
    const std::size_t count = part_of(record_.size_bytes, offset, target.size());
    RETURN_IF_ERROR(read_fully(offset, target.first(count)));
    return count;
  }

  Result<std::vector<LocalExtent>> extents(ByteRange range, Check check) override {
    range = range.within(record_.size_bytes);
    if (check == Check::kYes) RETURN_IF_ERROR(check_range(range));
    std::vector<LocalExtent> result;
    std::uint64_t offset = range.offset;
    std::uint64_t left = range.length;
    for (std::size_t i = left > 0 ? extent_at(offset) : 0; left > 0; ++i) {
      ASSIGN_OR_RETURN(File* const extent_file, file(i));
      if (extent_file->descriptor() < 0) return ErrorCode::kUnsupported;
      const std::uint64_t skip = offset - starts_[i];
      const std::uint64_t length = std::min(left, record_.extents[i].length - skip);
      if (length > 0)
        result.push_back({extent_file->descriptor(), record_.extents[i].offset + skip, length});
      offset += length;
      left -= length;
    }
    return result;
  }

  bool extents_now(ByteRange range, std::vector<LocalExtent>& result) override {
    range = range.within(record_.size_bytes);
    result.clear();
    for (std::uint64_t at = range.offset; at < range.offset + range.length;) {
      const Block block = block_at(at);
      if (!marks_->is_checked(block.number)) return false;
      at = block.start + block.length;
    }
    MutexLock lock(mutex_);
    while (range.length > 0) {
      const std::size_t i = extent_at(range.offset);
      if (!files_[i] || files_[i]->descriptor() < 0) return false;
      const std::uint64_t skip = range.offset - starts_[i];
      const std::uint64_t length = std::min(range.length, record_.extents[i].length - skip);
      result.push_back({files_[i]->descriptor(), record_.extents[i].offset + skip, length});
      range.offset += length;
      range.length -= length;
    }
    return true;
  }

 private:
  // What one checksum covers.
  struct Block {
    std::uint64_t number = 0;
    std::uint64_t start = 0;  // in the object
    std::uint64_t length = 0;
  };
  Block block_at(std::uint64_t offset) const {
    const std::size_t i = extent_at(offset);
    const std::uint64_t within = (offset - starts_[i]) / kChecksumBlockBytes;
    const std::uint64_t start = within * kChecksumBlockBytes;
    return {first_blocks_[i] + within, starts_[i] + start,
            std::min(kChecksumBlockBytes, record_.extents[i].length - start)};
  }

  std::size_t extent_at(std::uint64_t offset) const {
    const auto it = std::upper_bound(starts_.begin(), starts_.end(), offset);
    return static_cast<std::size_t>(it - starts_.begin()) - 1;
  }

  Result<File*> file(std::size_t index) EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (files_[index]) return files_[index].get();
    }
    auto opened = drive_.open_extent(record_.extents[index].path);
    if (opened.failed_with(ErrorCode::kNotFound)) {
      if (!drive_.is_writable()) {
        return Error(ErrorCode::kNotFound,
                     fmt::format("{} was replaced or removed since this process began to read",
                                 record_.key));
      }
      return damaged(fmt::format("its file {} is missing", record_.extents[index].path));
    }
    if (!opened.ok()) return std::move(opened).error();
    MutexLock lock(mutex_);
    if (!files_[index]) files_[index] = *std::move(opened);
    return files_[index].get();
  }

  Status read_fully(std::uint64_t offset, std::span<std::byte> target) {
    for (std::size_t i = target.empty() ? 0 : extent_at(offset); !target.empty(); ++i) {
      ASSIGN_OR_RETURN(File* const extent_file, file(i));
      const std::uint64_t skip = offset - starts_[i];
      const std::size_t here = static_cast<std::size_t>(
          std::min<std::uint64_t>(target.size(), record_.extents[i].length - skip));
      ASSIGN_OR_RETURN(const auto count,
                       extent_file->read_at(record_.extents[i].offset + skip, target.first(here)));
      if (count != here)
        return damaged(fmt::format("its file {} is cut short", record_.extents[i].path));
      offset += here;
      target = target.subspan(here);
    }
    return ok_status();
  }

  Status check_block(std::uint64_t block, std::span<const std::byte> bytes) {
    if (crc32c(0, bytes) != record_.block_crcs[block]) {
      // Others may have found it good when they first read it.
      drive_.block_marks(record_)->set_unchecked(block);
      return damaged(fmt::format("block {} does not match its checksum", block));
    }
    marks_->set_checked(block);
    return ok_status();
  }

  Status check_range(ByteRange range) {
    std::vector<std::byte> buffer;
    for (std::uint64_t at = range.offset; at < range.offset + range.length;) {
      const Block block = block_at(at);
      if (!marks_->is_checked(block.number)) {
        buffer.resize(block.length);
        RETURN_IF_ERROR(read_fully(block.start, buffer));
        RETURN_IF_ERROR(check_block(block.number, buffer));
      }
      at = block.start + block.length;
    }
    return ok_status();
  }

  Error damaged(const std::string& what) const {
    return drive_.damaged_file(record_.key, record_.extents.front().path, what);
  }

  Drive& drive_;
  const std::shared_ptr<Drive> owner_;  // null when the caller keeps the drive
  const Record record_;
  const std::shared_ptr<BlockMarks> marks_;
  const FilePin pin_;
  std::vector<std::uint64_t> starts_;        // of the extents, in the object
  std::vector<std::uint64_t> first_blocks_;  // of the extents, among the block checksums
  Mutex mutex_;
  std::vector<std::unique_ptr<File>> files_ GUARDED_BY(mutex_);
};

}  // namespace

Result<std::unique_ptr<ObjectBytes>> ObjectBytes::open(std::shared_ptr<Drive> drive,
                                                       std::string_view key, Found found,
                                                       std::shared_ptr<BlockMarks> marks) {
  if (found.record.kind != RecordKind::kReference) {
    return std::unique_ptr<ObjectBytes>(
        std::make_unique<PackedBytes>(std::move(drive), key, std::move(found)));
  }
  found.record.key = key;
  if (!marks) marks = drive->block_marks(found.record);
  Drive& target = *drive;
  auto bytes =
      std::make_unique<FileBytes>(target, std::move(drive), found.record, std::move(marks));
  RETURN_IF_ERROR(bytes->open_first());
  return std::unique_ptr<ObjectBytes>(std::move(bytes));
}

Result<std::unique_ptr<ObjectBytes>> ObjectBytes::open_reference(Drive& drive,
                                                                 const Record& record) {
  auto bytes = std::make_unique<FileBytes>(drive, nullptr, record, drive.block_marks(record));
  RETURN_IF_ERROR(bytes->open_first());
  return std::unique_ptr<ObjectBytes>(std::move(bytes));
}

Result<std::vector<std::byte>> read_packed_object(Drive& drive, std::string_view key,
                                                  const Found& found) {
  std::vector<std::byte> bytes(found.record.size_bytes);
  if (found.data) {
    std::memcpy(bytes.data(), found.data.get(), bytes.size());
    return bytes;
  }
  ASSIGN_OR_RETURN(const auto count, found.pack->file().read_at(found.data_offset, bytes));
  RETURN_IF_ERROR(drive.check_data(key, found, std::span(bytes).first(count)));
  return bytes;
}

}  // namespace leat::local
