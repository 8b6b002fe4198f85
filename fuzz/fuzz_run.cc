// Any bytes as a run of the catalogue: refused as damaged, or walked in order to the end.
//
// The checksums of the footer and the index are made right first, or nothing behind them would
// ever be reached.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "leat/base/check.h"
#include "leat/base/file.h"
#include "leat/base/hash.h"
#include "leat/local/run.h"

namespace leat::local {
namespace {

class BytesFile final : public File {
 public:
  explicit BytesFile(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target) override {
    if (offset >= bytes_.size()) return std::size_t{0};
    const std::size_t count = std::min<std::uint64_t>(target.size(), bytes_.size() - offset);
    std::memcpy(target.data(), bytes_.data() + offset, count);
    return count;
  }
  Status write_at(std::uint64_t, std::span<const iovec>) override { return ErrorCode::kIoError; }
  Status resize(std::uint64_t) override { return ErrorCode::kIoError; }
  Status sync() override { return ErrorCode::kIoError; }
  Result<FileStatus> status() override {
    FileStatus status;
    status.size_bytes = bytes_.size();
    return status;
  }
  int descriptor() const noexcept override { return -1; }

 private:
  const std::vector<std::byte> bytes_;
};

// Holds one file, whatever it is called.
class OneFile final : public FileSystem {
 public:
  explicit OneFile(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::string_view root() const noexcept override { return "fuzz"; }
  Result<std::unique_ptr<File>> open(std::string_view, OpenMode) override {
    return std::unique_ptr<File>(std::make_unique<BytesFile>(bytes_));
  }
  Result<FileStatus> status(std::string_view) override { return ErrorCode::kIoError; }
  Status make_directory(std::string_view) override { return ErrorCode::kIoError; }
  Result<std::vector<DirectoryEntry>> read_directory(std::string_view) override {
    return ErrorCode::kIoError;
  }
  Status rename(std::string_view, std::string_view, RenameMode) override {
    return ErrorCode::kIoError;
  }
  Status remove_file(std::string_view) override { return ErrorCode::kIoError; }
  Status remove_directory(std::string_view) override { return ErrorCode::kIoError; }
  Status set_mode(std::string_view, std::uint32_t) override { return ErrorCode::kIoError; }
  Status sync_directory(std::string_view) override { return ErrorCode::kIoError; }
  Result<std::unique_ptr<FileLock>> try_lock(std::string_view) override {
    return ErrorCode::kIoError;
  }
  Result<SpaceStatus> space() override { return ErrorCode::kIoError; }

 private:
  const std::vector<std::byte> bytes_;
};

// The offsets of run.cc's footer, from its start (docs/formats.md).
constexpr std::size_t kFooterBytes = 80;
constexpr std::size_t kIndexOffsetAt = 16;
constexpr std::size_t kIndexBytesAt = 24;
constexpr std::size_t kIndexCrcAt = 48;
constexpr std::size_t kMagicAt = 64;
constexpr std::size_t kFooterCrcAt = 76;

void put_crc(std::vector<std::byte>& bytes, std::size_t at, std::span<const std::byte> of) {
  const std::uint32_t crc = crc32c(0, of);
  std::memcpy(bytes.data() + at, &crc, sizeof crc);
}

// As if everything before the index were one block.
std::vector<std::byte> with_checksums(std::span<const std::byte> input) {
  std::vector<std::byte> bytes(input.begin(), input.end());
  if (bytes.size() < kFooterBytes) return bytes;
  const std::size_t footer = bytes.size() - kFooterBytes;
  std::uint64_t index_offset = 0;
  std::uint64_t index_bytes = 0;
  std::memcpy(&index_offset, bytes.data() + footer + kIndexOffsetAt, sizeof index_offset);
  std::memcpy(&index_bytes, bytes.data() + footer + kIndexBytesAt, sizeof index_bytes);
  if (index_offset <= footer && index_bytes <= footer - index_offset) {
    if (index_offset >= sizeof(std::uint32_t)) {
      const std::size_t crc_at = index_offset - sizeof(std::uint32_t);
      put_crc(bytes, crc_at, std::span(bytes).first(crc_at));
    }
    put_crc(bytes, footer + kIndexCrcAt, std::span(bytes).subspan(index_offset, index_bytes));
  }
  std::memcpy(bytes.data() + footer + kMagicAt, "leatrun1", 8);
  put_crc(bytes, footer + kFooterCrcAt, std::span(bytes).subspan(footer, kFooterCrcAt));
  return bytes;
}

void check_code(const Error& error) {
  CHECK(error.code() == ErrorCode::kCorrupted);
}

void walk(std::vector<std::byte> bytes) {
  OneFile files(std::move(bytes));
  const auto run = Run::open(files, "run");
  if (!run.ok()) return check_code(run.error());
  const auto visit = [](std::uint64_t, Place) { return ok_status(); };
  if (const auto status = (*run)->for_each_place(visit, visit); !status.ok()) {
    check_code(status.error());
  }
  RunCursor cursor(*run);
  Status status = cursor.seek("");
  std::string last;
  for (bool is_first = true; status.ok() && cursor.valid(); is_first = false) {
    CHECK(is_first || last < cursor.key());
    last = cursor.key();
    status = cursor.next();
  }
  if (!status.ok()) check_code(status.error());
}

}  // namespace
}  // namespace leat::local

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  leat::local::walk({bytes.begin(), bytes.end()});
  leat::local::walk(leat::local::with_checksums(bytes));
  return 0;
}
