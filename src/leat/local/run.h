// Run: an immutable, sorted file of catalogue entries. The catalogue is a few of them.
//
// Entries stand front-coded in blocks of about 16 KiB, each with its crc32c; the first key of each
// block is kept in memory, so that a seek costs one read. Two more sections repeat, in 16 bytes an
// entry, what the NameTable needs, so that ten million objects are known a second after a start.
// docs/formats.md gives the bytes.
//
// A Run is safe for concurrent use; a RunCursor belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/file.h"
#include "leat/base/result.h"
#include "leat/local/catalogue_entry.h"

namespace leat::local {

// The hash by which keys are looked up in the NameTable; fixed, since runs hold it.
std::uint64_t hash_key(std::string_view key) noexcept;

class RunWriter {
 public:
  static Result<RunWriter> create(FileSystem& files, std::string path);

  // Keys in strictly growing order.
  Status add(std::string_view key, const CatalogueEntry& entry);
  // Writes the rest and syncs the file, not its directory.
  Status finish();
  std::uint64_t entry_count() const noexcept { return entry_count_; }

 private:
  RunWriter(std::unique_ptr<File> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  Status end_block();
  Status write(std::string_view bytes);
  Status flush();

  std::unique_ptr<File> file_;
  std::string path_;
  std::string block_;
  std::string last_key_;
  std::string first_keys_;  // the block index so far
  std::string places_;
  std::string replaced_;
  std::string buffer_;
  std::uint64_t written_bytes_ = 0;
  std::uint64_t block_start_ = 0;
  std::uint64_t entry_count_ = 0;
  std::uint64_t block_count_ = 0;
};

class Run {
 public:
  // Reads and checks everything but the blocks of entries. kCorrupted when it is not a whole run.
  static Result<std::shared_ptr<const Run>> open(FileSystem& files, const std::string& path);

  std::uint64_t entry_count() const noexcept { return entry_count_; }
  const std::string& path() const noexcept { return path_; }

  // Calls replaced(hash, place) for each entry that takes the place of one in an older run, then
  // present(hash, place) for each entry that has a place.
  using Visit = std::function<Status(std::uint64_t hash, Place place)>;
  Status for_each_place(const Visit& replaced, const Visit& present) const;

 private:
  friend class RunCursor;
  struct Block {
    std::uint64_t offset = 0;
    std::uint32_t length = 0;
    std::uint32_t key_length = 0;
    std::uint64_t key_start = 0;  // in keys_
  };
  Run(std::unique_ptr<File> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  Status load();
  Status load_index(std::string_view bytes);
  std::string_view first_key(std::size_t block) const {
    return std::string_view(keys_).substr(blocks_[block].key_start, blocks_[block].key_length);
  }
  Status visit_section(std::uint64_t offset, std::uint64_t bytes, std::uint32_t crc,
                       const Visit& visit) const;
  Error corrupted(std::string_view what) const;

  std::unique_ptr<File> file_;
  std::string path_;
  std::vector<Block> blocks_;
  std::string keys_;
  std::uint64_t entry_count_ = 0;
  std::uint64_t places_offset_ = 0;
  std::uint64_t places_bytes_ = 0;
  std::uint64_t replaced_bytes_ = 0;
  std::uint32_t places_crc_ = 0;
  std::uint32_t replaced_crc_ = 0;
};

// A walk over a run in key order.
class RunCursor {
 public:
  explicit RunCursor(std::shared_ptr<const Run> run) : run_(std::move(run)) {}

  Status seek(std::string_view at_or_after);
  bool valid() const noexcept { return valid_; }
  std::string_view key() const noexcept { return key_; }
  const CatalogueEntry& entry() const noexcept { return entry_; }
  Status next();

 private:
  Status load_block(std::size_t block);
  Status decode_next();

  std::shared_ptr<const Run> run_;
  std::string block_bytes_;
  std::size_t block_ = 0;
  std::size_t at_ = 0;  // of the next entry in block_bytes_
  std::string key_;
  CatalogueEntry entry_;
  bool valid_ = false;
};

}  // namespace leat::local
