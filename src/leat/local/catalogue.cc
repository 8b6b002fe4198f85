#include "leat/local/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "leat/base/hex.h"
#include "leat/local/checked_text.h"
#include "leat/local/layout.h"
#include "leat/local/record.h"

namespace leat::local {
namespace {

constexpr std::string_view kManifestMagic = "leat-catalogue 1";
constexpr std::size_t kMemoryChunk = 256;
constexpr std::uint64_t kMaxManifestBytes = 1 << 20;
// A run is merged with the younger ones when these together reach a quarter of its size.
constexpr std::uint64_t kMergeRatio = 4;

struct Manifest {
  Location checkpoint;
  std::vector<std::string> runs;
};

std::string manifest_path() {
  return std::string(kCatalogueDirectory) + "/manifest";
}

Error damaged_manifest() {
  return Error(ErrorCode::kCorrupted, "the catalogue's manifest is damaged");
}

Result<Manifest> parse_manifest(std::string_view text) {
  const Error damaged = damaged_manifest();
  const auto lines = checked_lines(text);
  if (!lines) return damaged;
  Manifest manifest;
  bool first = true;
  for (const std::string_view line : *lines) {
    if (first) {
      if (line != kManifestMagic) return damaged;
      first = false;
    } else if (line.starts_with("checkpoint ") && line.size() == 11 + 8 + 1 + 8) {
      const auto pack = parse_hex_u32(line.substr(11, 8));
      const auto block = parse_hex_u32(line.substr(20, 8));
      if (!pack.ok() || !block.ok()) return damaged;
      manifest.checkpoint = {*pack, *block};
    } else if (line.starts_with("run ")) {
      manifest.runs.emplace_back(line.substr(4));
    } else {
      return damaged;
    }
  }
  return manifest;
}

// Feeds the table with a run's places; what does not fit together means a damaged catalogue.
Status load_places(const Run& run, NameTable& table) {
  const auto damaged = [&](std::string_view what) {
    return Error(ErrorCode::kCorrupted, fmt::format("catalogue file {}: {}", run.path(), what));
  };
  return run.for_each_place(
      [&](std::uint64_t hash, Place place) -> Status {
        for (const Place match : table.find(hash)) {
          if (match.location() != place.location()) continue;
          table.erase(hash, place);
          return ok_status();
        }
        return damaged("it replaces what is not there");
      },
      [&](std::uint64_t hash, Place place) -> Status {
        if (place.bits() == 0 || !table.insert(hash, place)) return damaged("an impossible place");
        return ok_status();
      });
}

}  // namespace

ObjectInfo info_of(const CatalogueEntry& entry) {
  ObjectInfo info;
  info.size_bytes = entry.size_bytes;
  info.mtime_ns = entry.mtime_ns;
  info.generation = entry.generation;
  info.etag = entry.etag.empty() ? derived_etag(entry.generation, entry.crc32c) : entry.etag;
  info.crc32c = entry.crc32c;
  return info;
}

Result<std::unique_ptr<Catalogue>> Catalogue::create(FileSystem& files,
                                                     const CatalogueOptions& options) {
  RETURN_IF_ERROR(files.make_directories(kCatalogueDirectory));
  std::unique_ptr<Catalogue> catalogue(new Catalogue(files, options));
  if (auto removed = files.remove_file(manifest_path());
      !removed.ok() && !removed.failed_with(ErrorCode::kNotFound)) {
    return std::move(removed).error();
  }
  // No power cut may bring the old one back when the log has moved on.
  RETURN_IF_ERROR(files.sync_directory(kCatalogueDirectory));
  RETURN_IF_ERROR(catalogue->remove_unlisted_files());
  return catalogue;
}

Result<std::unique_ptr<Catalogue>> Catalogue::in_memory(FileSystem& files,
                                                        const CatalogueOptions& options) {
  return std::unique_ptr<Catalogue>(new Catalogue(files, options));
}

Result<std::unique_ptr<Catalogue>> Catalogue::open(FileSystem& files,
                                                   const CatalogueOptions& options,
                                                   NameTable& table) {
  const auto bytes = files.read_file(manifest_path(), kMaxManifestBytes);
  if (bytes.failed_with(ErrorCode::kTooLarge)) return damaged_manifest();
  if (!bytes.ok()) return bytes.error();
  ASSIGN_OR_RETURN(auto manifest,
                   parse_manifest({reinterpret_cast<const char*>(bytes->data()), bytes->size()}));
  std::unique_ptr<Catalogue> catalogue(new Catalogue(files, options));
  std::vector<std::shared_ptr<const Run>> runs;
  std::uint64_t total = 0;
  for (const std::string& path : manifest.runs) {
    ASSIGN_OR_RETURN(auto run, Run::open(files, path));
    total += run->entry_count();
    runs.push_back(std::move(run));
  }
  table.reserve(total);
  for (const auto& run : runs) RETURN_IF_ERROR(load_places(*run, table));
  MutexLock lock(catalogue->mutex_);
  catalogue->runs_ = std::move(runs);
  catalogue->checkpoint_ = manifest.checkpoint;
  return catalogue;
}

Location Catalogue::checkpoint() const {
  MutexLock lock(mutex_);
  return checkpoint_;
}

void Catalogue::put(std::string_view key, CatalogueEntry entry) {
  MutexLock lock(mutex_);
  const auto it = active_.find(key);
  if (it == active_.end()) {
    active_.emplace(key, std::move(entry));
    return;
  }
  // What the older runs hold is what the first change since then replaced.
  entry.previous = it->second.previous;
  it->second = std::move(entry);
}

std::optional<CatalogueEntry> Catalogue::find_in_memory(std::string_view key) const {
  MutexLock lock(mutex_);
  if (const auto it = active_.find(key); it != active_.end()) return it->second;
  if (frozen_) {
    if (const auto it = frozen_->find(key); it != frozen_->end()) return it->second;
  }
  return std::nullopt;
}

std::uint64_t Catalogue::entries_in_memory() const {
  MutexLock lock(mutex_);
  return active_.size() + (frozen_ ? frozen_->size() : 0);
}

std::uint64_t Catalogue::disk_bytes() const {
  std::uint64_t total = 0;
  for (const auto& run : snapshot().runs) {
    if (const auto status = files_.status(run->path()); status.ok())
      total += status->allocated_bytes;
  }
  return total;
}

Result<std::string> Catalogue::next_run_path() {
  if (next_run_ == 0) RETURN_IF_ERROR(remove_unlisted_files());
  return fmt::format("{}/{:08x}.run", kCatalogueDirectory, next_run_++);
}

Result<std::shared_ptr<const Run>> Catalogue::make_run(
    const std::function<Status(RunWriter&)>& fill) {
  ASSIGN_OR_RETURN(const std::string path, next_run_path());
  const auto write = [&]() -> Result<std::shared_ptr<const Run>> {
    ASSIGN_OR_RETURN(auto writer, RunWriter::create(files_, path));
    RETURN_IF_ERROR(fill(writer));
    RETURN_IF_ERROR(writer.finish());
    return Run::open(files_, path);
  };
  auto run = write();
  // A disk that is full must not become fuller with every attempt.
  if (!run.ok()) (void)files_.remove_file(path);
  return run;
}

void Catalogue::freeze(Location log_end) {
  MutexLock lock(mutex_);
  if (frozen_) return;  // could not be written the last time, and comes first
  if (active_.empty() && checkpoint_ == log_end) return;
  frozen_ = std::make_shared<const Entries>(std::exchange(active_, {}));
  frozen_end_ = log_end;
}

Status Catalogue::write_frozen() {
  std::vector<std::shared_ptr<const Run>> runs;
  std::shared_ptr<const Entries> entries;
  Location log_end;
  {
    MutexLock lock(mutex_);
    if (!frozen_) return ok_status();
    entries = frozen_;
    log_end = frozen_end_;
    runs = runs_;
  }
  if (!entries->empty()) {
    const auto fill = [&](RunWriter& writer) -> Status {
      for (const auto& [key, entry] : *entries) {
        if (entry.is_forgotten() && entry.previous.bits() == 0) continue;
        RETURN_IF_ERROR(writer.add(key, entry));
      }
      return ok_status();
    };
    ASSIGN_OR_RETURN(auto run, make_run(fill));
    runs.push_back(std::move(run));
  }
  RETURN_IF_ERROR(write_manifest(runs, log_end));
  MutexLock lock(mutex_);
  runs_ = std::move(runs);
  frozen_.reset();
  checkpoint_ = log_end;
  ++layout_;
  return ok_status();
}

// `runs`: oldest first, and nothing younger than the last of them.
Status Catalogue::merge_runs(std::span<const std::shared_ptr<const Run>> runs, RunWriter& writer) {
  std::vector<RunCursor> cursors;
  for (const auto& run : runs) {
    cursors.emplace_back(run);
    RETURN_IF_ERROR(cursors.back().seek(""));
  }
  for (;;) {
    std::string_view smallest;
    RunCursor* newest = nullptr;
    RunCursor* oldest = nullptr;
    for (RunCursor& cursor : cursors) {
      if (!cursor.valid() || (newest != nullptr && cursor.key() > smallest)) continue;
      if (newest == nullptr || cursor.key() < smallest) oldest = &cursor;
      newest = &cursor;
      smallest = cursor.key();
    }
    if (newest == nullptr) return ok_status();
    CatalogueEntry entry = newest->entry();
    entry.previous = oldest->entry().previous;
    const std::string key(smallest);
    if (!entry.is_forgotten() || entry.previous.bits() != 0) {
      RETURN_IF_ERROR(writer.add(key, entry));
    }
    for (RunCursor& cursor : cursors) {
      if (cursor.valid() && cursor.key() == key) RETURN_IF_ERROR(cursor.next());
    }
  }
}

Result<bool> Catalogue::merge() {
  const std::vector<std::shared_ptr<const Run>> runs = snapshot().runs;
  // The oldest run that the younger ones together come near to.
  std::size_t first = runs.size();
  std::uint64_t younger = 0;
  for (std::size_t i = runs.size(); i-- > 0;) {
    if (i + 1 < runs.size() && younger * kMergeRatio >= runs[i]->entry_count()) first = i;
    younger += runs[i]->entry_count();
  }
  if (first == runs.size()) return false;

  const auto old = std::span(runs).subspan(first);
  ASSIGN_OR_RETURN(auto run, make_run([&](RunWriter& writer) { return merge_runs(old, writer); }));
  std::vector<std::shared_ptr<const Run>> merged(runs.begin(),
                                                 runs.begin() + static_cast<std::ptrdiff_t>(first));
  merged.push_back(std::move(run));
  RETURN_IF_ERROR(write_manifest(merged, checkpoint()));
  {
    MutexLock lock(mutex_);
    runs_ = std::move(merged);
    ++layout_;
  }
  for (const auto& gone : old) RETURN_IF_ERROR(files_.remove_file(gone->path()));
  return true;
}

Status Catalogue::write_manifest(const std::vector<std::shared_ptr<const Run>>& runs,
                                 Location checkpoint) {
  std::string text = fmt::format("{}\ncheckpoint {:08x} {:08x}\n", kManifestMagic, checkpoint.pack,
                                 checkpoint.block);
  for (const auto& run : runs) text += fmt::format("run {}\n", run->path());
  text = with_checksum(std::move(text));
  return files_.replace_file(manifest_path(), std::as_bytes(std::span(text)));
}

// After a crash there may be runs that no manifest names. Also finds the first free number.
Status Catalogue::remove_unlisted_files() {
  std::uint64_t next_run = 1;
  std::set<std::string> listed;
  for (const auto& run : snapshot().runs) listed.insert(run->path());
  ASSIGN_OR_RETURN(auto entries, files_.read_directory(kCatalogueDirectory));
  for (const DirectoryEntry& entry : entries) {
    const std::string path = fmt::format("{}/{}", kCatalogueDirectory, entry.name);
    if (const auto number = parse_hex_u32(entry.name.substr(0, 8)); number.ok()) {
      next_run = std::max(next_run, std::uint64_t{*number} + 1);
    }
    if (path != manifest_path() && !listed.contains(path) && !entry.is_directory) {
      RETURN_IF_ERROR(files_.remove_file(path));
    }
  }
  next_run_ = next_run;
  return ok_status();
}

Catalogue::Snapshot Catalogue::snapshot() const {
  MutexLock lock(mutex_);
  return {runs_, layout_};
}

std::optional<std::vector<std::pair<std::string, CatalogueEntry>>> Catalogue::copy_from_memory(
    std::string_view from, bool inclusive, std::size_t limit, std::uint64_t layout) const {
  MutexLock lock(mutex_);
  if (layout != layout_) return std::nullopt;
  const Entries none;
  const Entries& older = frozen_ ? *frozen_ : none;
  auto a = inclusive ? active_.lower_bound(from) : active_.upper_bound(from);
  auto b = inclusive ? older.lower_bound(from) : older.upper_bound(from);
  std::vector<std::pair<std::string, CatalogueEntry>> copied;
  while (copied.size() < limit && (a != active_.end() || b != older.end())) {
    if (b == older.end() || (a != active_.end() && a->first <= b->first)) {
      if (b != older.end() && a->first == b->first) ++b;
      copied.emplace_back(*a++);
    } else {
      copied.emplace_back(*b++);
    }
  }
  return copied;
}

std::unique_ptr<Catalogue::Cursor> Catalogue::cursor() const {
  return std::make_unique<Cursor>(*this);
}

Status Catalogue::Cursor::seek(std::string_view at_or_after) {
  return start(at_or_after, true);
}

Status Catalogue::Cursor::start(std::string_view from, bool inclusive) {
  // Copied: `from` may be key_.
  const std::string position(from);
  for (;;) {
    Snapshot now = catalogue_.snapshot();
    runs_.clear();
    for (auto& run : now.runs) {
      runs_.emplace_back(std::move(run));
      RETURN_IF_ERROR(runs_.back().seek(position));
      if (!inclusive && runs_.back().valid() && runs_.back().key() == position) {
        RETURN_IF_ERROR(runs_.back().next());
      }
    }
    auto chunk = catalogue_.copy_from_memory(position, inclusive, kMemoryChunk, now.layout);
    if (!chunk) continue;  // entries moved meanwhile
    memory_ = std::move(*chunk);
    memory_at_ = 0;
    memory_complete_ = memory_.size() < kMemoryChunk;
    layout_ = now.layout;
    return pick();
  }
}

Status Catalogue::Cursor::next() {
  for (RunCursor& run : runs_) {
    if (run.valid() && run.key() == key_) RETURN_IF_ERROR(run.next());
  }
  if (memory_at_ < memory_.size() && memory_[memory_at_].first == key_) ++memory_at_;
  if (memory_at_ == memory_.size() && !memory_complete_) return refill();
  return pick();
}

Status Catalogue::Cursor::refill() {
  auto chunk = catalogue_.copy_from_memory(memory_.back().first, false, kMemoryChunk, layout_);
  if (!chunk) return start(key_, false);
  memory_ = std::move(*chunk);
  memory_at_ = 0;
  memory_complete_ = memory_.size() < kMemoryChunk;
  return pick();
}

// Makes the smallest key of all sources the current one; of equal keys the newest source counts.
Status Catalogue::Cursor::pick() {
  const RunCursor* best = nullptr;
  for (const RunCursor& run : runs_) {
    if (run.valid() && (best == nullptr || run.key() <= best->key())) best = &run;
  }
  const bool in_memory = memory_at_ < memory_.size();
  valid_ = in_memory || best != nullptr;
  if (in_memory && (best == nullptr || memory_[memory_at_].first <= best->key())) {
    key_ = memory_[memory_at_].first;
    entry_ = memory_[memory_at_].second;
  } else if (best != nullptr) {
    key_ = best->key();
    entry_ = best->entry();
  }
  return ok_status();
}

}  // namespace leat::local
