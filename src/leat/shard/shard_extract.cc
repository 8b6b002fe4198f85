#include "leat/shard/shard_extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

namespace leat {
namespace {

constexpr std::uint32_t kKeptModeBits = 0755;
constexpr std::uint32_t kOwnerReadWrite = 0600;
constexpr std::uint32_t kModeOfNewFiles = 0644;

// Where members go. One at a time: begin, append …, then commit or abandon.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual Status begin(const std::string& name, const TarEntry& entry) = 0;
  virtual Status append(std::span<const std::byte> bytes) = 0;
  virtual Status commit() = 0;
  virtual void abandon() = 0;
};

class StoreSink final : public Sink {
 public:
  StoreSink(ObjectStore& store, const Context& context) : store_(store), context_(context) {}

  Status begin(const std::string& name, const TarEntry& entry) override {
    CreateOptions options;
    options.expected_size_bytes = entry.size_bytes;
    ASSIGN_OR_RETURN(writer_, store_.create(name, options, context_));
    return ok_status();
  }
  Status append(std::span<const std::byte> bytes) override {
    return writer_->append(bytes, context_);
  }
  Status commit() override {
    const auto writer = std::move(writer_);
    RETURN_IF_ERROR(writer->commit({}, context_));
    return ok_status();
  }
  void abandon() override { writer_.reset(); }

 private:
  ObjectStore& store_;
  const Context& context_;
  std::unique_ptr<ObjectWriter> writer_;
};

class DirectorySink final : public Sink {
 public:
  explicit DirectorySink(FileSystem& file_system) : file_system_(file_system) {}

  Status begin(const std::string& name, const TarEntry& entry) override {
    path_ = name;
    offset_ = 0;
    mode_ = (entry.mode & kKeptModeBits) | kOwnerReadWrite;
    RETURN_IF_ERROR(make_parent());
    auto file = file_system_.open(path_, OpenMode::kCreate);
    if (file.failed_with(ErrorCode::kAlreadyExists)) {
      // A new file, never the old one written over: that may be linked from, or mapped, elsewhere.
      RETURN_IF_ERROR(file_system_.remove_file(path_));
      file = file_system_.open(path_, OpenMode::kCreate);
    }
    if (!file.ok()) return std::move(file).error();
    file_ = *std::move(file);
    return ok_status();
  }
  Status append(std::span<const std::byte> bytes) override {
    RETURN_IF_ERROR(file_->write_at(offset_, bytes));
    offset_ += bytes.size();
    return ok_status();
  }
  Status commit() override {
    if (mode_ != kModeOfNewFiles) RETURN_IF_ERROR(file_system_.set_mode(path_, mode_));
    file_.reset();
    return ok_status();
  }
  void abandon() override {
    if (!file_) return;
    file_.reset();
    // The failure that led here is what is reported; a file that stays as well changes nothing.
    static_cast<void>(file_system_.remove_file(path_));
  }

 private:
  // Members of one folder follow one another, so the last folder made is remembered.
  Status make_parent() {
    const std::string_view parent = parent_path(path_);
    if (parent == "." || parent == made_parent_) return ok_status();
    RETURN_IF_ERROR(file_system_.make_directories(parent));
    made_parent_ = parent;
    return ok_status();
  }

  FileSystem& file_system_;
  std::string path_;
  std::string made_parent_;
  std::unique_ptr<File> file_;
  std::uint64_t offset_ = 0;
  std::uint32_t mode_ = kModeOfNewFiles;
};

// After these the next member would fail as well.
bool ends_extraction(ErrorCode code) {
  return code == ErrorCode::kNoSpace || code == ErrorCode::kCancelled ||
         code == ErrorCode::kDeadlineExceeded;
}

class Extraction final : public TarVisitor {
 public:
  Extraction(Sink& sink, const ShardExtractOptions& options) : sink_(sink), options_(options) {}
  ~Extraction() override { sink_.abandon(); }

  Status begin_member(const TarEntry& entry) override {
    name_ = entry.stored_name;
    writing_ = true;
    if (auto status = check_extractable(name_); !status.ok()) return settle(std::move(status));
    return settle(sink_.begin(options_.prefix + std::string(entry.name), entry));
  }
  Status member_data(std::span<const std::byte> bytes) override {
    return writing_ ? settle(sink_.append(bytes)) : ok_status();
  }
  Status end_member(const TarEntry& entry) override {
    if (!writing_) return ok_status();
    RETURN_IF_ERROR(settle(sink_.commit()));
    if (!writing_) return ok_status();
    ++summary_.extracted;
    summary_.extracted_bytes += entry.size_bytes;
    return ok_status();
  }

  ShardExtractSummary take_summary() { return std::move(summary_); }

 private:
  // Turns the failure of a member into a line of the summary, unless it concerns all.
  Status settle(Status status) {
    if (status.ok()) return status;
    writing_ = false;
    sink_.abandon();
    if (ends_extraction(status.error().code())) return std::move(status).error().within(name_);
    summary_.failures.push_back({name_, std::move(status).error()});
    return ok_status();
  }

  Sink& sink_;
  const ShardExtractOptions& options_;
  ShardExtractSummary summary_;
  std::string name_;
  bool writing_ = false;  // the member that passes by has not failed
};

Result<ShardExtractSummary> extract(ObjectReader& shard, Sink& sink,
                                    const ShardExtractOptions& options, const Context& context) {
  Extraction extraction(sink, options);
  ASSIGN_OR_RETURN(const TarSummary scanned, scan_tar(shard, extraction, context));
  ShardExtractSummary summary = extraction.take_summary();
  summary.shard = scanned;
  return summary;
}

}  // namespace

Result<ShardExtractSummary> extract_shard(ObjectReader& shard, ObjectStore& target,
                                          const ShardExtractOptions& options,
                                          const Context& context) {
  StoreSink sink(target, context);
  return extract(shard, sink, options, context);
}

Result<ShardExtractSummary> extract_shard(ObjectReader& shard, FileSystem& target,
                                          const ShardExtractOptions& options,
                                          const Context& context) {
  DirectorySink sink(target);
  return extract(shard, sink, options, context);
}

Status check_extractable(std::string_view name) {
  if (name.starts_with('/')) {
    return Error(ErrorCode::kInvalidArgument, "refused: the name is absolute");
  }
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..") {
      return Error(ErrorCode::kInvalidArgument, "refused: the name has a component '..'");
    }
    begin = end + 1;
  }
  return ok_status();
}

}  // namespace leat
