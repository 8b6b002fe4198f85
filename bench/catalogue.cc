// catalogue: the ordered view of ten million keys, by Leat's own catalogue, LMDB and RocksDB.
//
// This is the measurement behind "The catalogue" in ARCHITECTURE.md. Keys arrive in random order
// and become durable in batches, as the drive's upkeep does it; then everything is read in order
// from a cold disk. Each side loads once: with this many keys a load is its own average.

#include "leat/local/catalogue.h"

#include <fmt/format.h>
#include <lmdb.h>
#include <rocksdb/c.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "leat/local/layout.h"
#include "machine.h"
#include "program.h"
#include "samples.h"

namespace leat::bench {
namespace {

constexpr std::size_t kBatchKeys = 64 << 10;
constexpr std::uint64_t kMapBytes = std::uint64_t{16} << 30;

struct Settings {
  std::uint64_t keys = 10'000'000;
};

// What all of them keep for a key: generation, place, previous place, size, time, checksum.
struct Value {
  std::uint64_t words[5];
  std::uint32_t crc32c;
};

// One of the three. Opened empty by its maker; used by one thread.
class View {
 public:
  virtual ~View() = default;
  virtual Status put(std::string_view key, std::uint64_t number) = 0;
  // Makes what was put since the last call durable.
  virtual Status end_batch() = 0;
  // The number of keys, read in order.
  virtual Result<std::uint64_t> scan() = 0;
};

Value value_of(std::uint64_t number) {
  return {{number, number << 22, 0, 1024, number * 1'000'003}, static_cast<std::uint32_t>(number)};
}

class LeatView final : public View {
 public:
  static Result<std::unique_ptr<View>> open(const std::filesystem::path& directory) {
    auto view = std::make_unique<LeatView>();
    ASSIGN_OR_RETURN(view->files_, FileSystem::posix(directory.string()));
    RETURN_IF_ERROR(view->files_->make_directories(local::kCatalogueDirectory));
    auto catalogue = local::Catalogue::open(*view->files_, {}, view->table_);
    if (!catalogue.ok()) catalogue = local::Catalogue::create(*view->files_, {});
    ASSIGN_OR_RETURN(view->catalogue_, std::move(catalogue));
    return std::unique_ptr<View>(std::move(view));
  }
  Status put(std::string_view key, std::uint64_t number) override {
    const Value value = value_of(number);
    local::CatalogueEntry entry;
    entry.generation = number + 1;
    const local::Location location{1 + static_cast<std::uint32_t>(number >> 20),
                                   static_cast<std::uint32_t>(number & 0xfffff)};
    entry.place = local::Place(location, 1536, 0);
    entry.size_bytes = value.words[3];
    entry.mtime_ns = static_cast<std::int64_t>(value.words[4]);
    entry.crc32c = value.crc32c;
    catalogue_->put(key, entry);
    return ok_status();
  }
  Status end_batch() override {
    RETURN_IF_ERROR(catalogue_->flush({1, ++batches_}));
    for (;;) {
      ASSIGN_OR_RETURN(const bool merged, catalogue_->merge());
      if (!merged) return ok_status();
    }
  }
  Result<std::uint64_t> scan() override {
    std::uint64_t count = 0;
    const auto cursor = catalogue_->cursor();
    RETURN_IF_ERROR(cursor->seek(""));
    while (cursor->valid()) {
      ++count;
      RETURN_IF_ERROR(cursor->next());
    }
    return count;
  }

 private:
  std::unique_ptr<FileSystem> files_;
  local::NameTable table_;
  std::unique_ptr<local::Catalogue> catalogue_;
  std::uint32_t batches_ = 0;
};

class LmdbView final : public View {
 public:
  static Result<std::unique_ptr<View>> open(const std::filesystem::path& directory) {
    auto view = std::make_unique<LmdbView>();
    RETURN_IF_ERROR(check(mdb_env_create(&view->environment_)));
    RETURN_IF_ERROR(check(mdb_env_set_mapsize(view->environment_, kMapBytes)));
    RETURN_IF_ERROR(
        check(mdb_env_open(view->environment_, directory.c_str(), MDB_NORDAHEAD, 0600)));
    return std::unique_ptr<View>(std::move(view));
  }
  ~LmdbView() override {
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
    mdb_env_close(environment_);
  }
  Status put(std::string_view key, std::uint64_t number) override {
    if (transaction_ == nullptr) {
      RETURN_IF_ERROR(check(mdb_txn_begin(environment_, nullptr, 0, &transaction_)));
      RETURN_IF_ERROR(check(mdb_dbi_open(transaction_, nullptr, 0, &table_)));
    }
    Value value = value_of(number);
    MDB_val name{key.size(), const_cast<char*>(key.data())};
    MDB_val data{sizeof value, &value};
    return check(mdb_put(transaction_, table_, &name, &data, 0));
  }
  Status end_batch() override {
    return check(mdb_txn_commit(std::exchange(transaction_, nullptr)));
  }
  Result<std::uint64_t> scan() override {
    MDB_txn* reading = nullptr;
    RETURN_IF_ERROR(check(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &reading)));
    const std::unique_ptr<MDB_txn, decltype(&mdb_txn_abort)> ender(reading, mdb_txn_abort);
    RETURN_IF_ERROR(check(mdb_dbi_open(reading, nullptr, 0, &table_)));
    MDB_cursor* cursor = nullptr;
    RETURN_IF_ERROR(check(mdb_cursor_open(reading, table_, &cursor)));
    const std::unique_ptr<MDB_cursor, decltype(&mdb_cursor_close)> closer(cursor, mdb_cursor_close);
    std::uint64_t count = 0;
    MDB_val key;
    MDB_val value;
    while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) ++count;
    return count;
  }

 private:
  static Status check(int code) {
    if (code == 0) return ok_status();
    return Error(ErrorCode::kIoError, mdb_strerror(code));
  }
  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi table_ = 0;
};

class RocksView final : public View {
 public:
  static Result<std::unique_ptr<View>> open(const std::filesystem::path& directory) {
    auto view = std::make_unique<RocksView>();
    rocksdb_options_set_create_if_missing(view->options_, 1);
    rocksdb_options_set_compression(view->options_, rocksdb_no_compression);
    rocksdb_writeoptions_disable_WAL(view->writing_, 1);  // the packs are the log
    char* error = nullptr;
    view->database_ = rocksdb_open(view->options_, directory.c_str(), &error);
    RETURN_IF_ERROR(check(error));
    return std::unique_ptr<View>(std::move(view));
  }
  ~RocksView() override {
    if (database_ != nullptr) rocksdb_close(database_);
    rocksdb_flushoptions_destroy(flushing_);
    rocksdb_readoptions_destroy(reading_);
    rocksdb_writeoptions_destroy(writing_);
    rocksdb_options_destroy(options_);
  }
  Status put(std::string_view key, std::uint64_t number) override {
    const Value value = value_of(number);
    char* error = nullptr;
    rocksdb_put(database_, writing_, key.data(), key.size(), reinterpret_cast<const char*>(&value),
                sizeof value, &error);
    return check(error);
  }
  Status end_batch() override {
    char* error = nullptr;
    rocksdb_flush(database_, flushing_, &error);
    return check(error);
  }
  Result<std::uint64_t> scan() override {
    const std::unique_ptr<rocksdb_iterator_t, decltype(&rocksdb_iter_destroy)> at(
        rocksdb_create_iterator(database_, reading_), rocksdb_iter_destroy);
    std::uint64_t count = 0;
    for (rocksdb_iter_seek_to_first(at.get()); rocksdb_iter_valid(at.get()) != 0;
         rocksdb_iter_next(at.get())) {
      ++count;
    }
    return count;
  }

 private:
  static Status check(char* error) {
    if (error == nullptr) return ok_status();
    const std::string message(error);
    rocksdb_free(error);
    return Error(ErrorCode::kIoError, message);
  }
  rocksdb_options_t* const options_ = rocksdb_options_create();
  rocksdb_writeoptions_t* const writing_ = rocksdb_writeoptions_create();
  rocksdb_readoptions_t* const reading_ = rocksdb_readoptions_create();
  rocksdb_flushoptions_t* const flushing_ = rocksdb_flushoptions_create();
  rocksdb_t* database_ = nullptr;
};

struct Measured {
  double load_rate = 0;
  double memory_bytes = 0;  // a key
  double disk_bytes = 0;    // a key
  double open_seconds = 0;
  double scan_rate = 0;
};

using Open = Result<std::unique_ptr<View>> (*)(const std::filesystem::path& directory);

Result<Measured> load(Open open, const std::filesystem::path& directory, std::uint64_t keys) {
  Measured measured;
  const auto numbers = random_numbers(keys, keys, 1);
  ASSIGN_OR_RETURN(const MemoryUse before, memory_use());
  ASSIGN_OR_RETURN(auto view, open(directory));
  ASSIGN_OR_RETURN(const double seconds, seconds_of([&]() -> Status {
                     for (std::size_t i = 0; i < numbers.size(); ++i) {
                       RETURN_IF_ERROR(view->put(sample_name(numbers[i]), numbers[i]));
                       const bool is_last = i + 1 == numbers.size();
                       if (is_last || (i + 1) % kBatchKeys == 0) RETURN_IF_ERROR(view->end_batch());
                     }
                     return ok_status();
                   }));
  ASSIGN_OR_RETURN(const MemoryUse after, memory_use());
  measured.load_rate = static_cast<double>(keys) / seconds;
  measured.memory_bytes =
      static_cast<double>(after.anonymous - before.anonymous) / static_cast<double>(keys);
  return measured;
}

Result<Measured> read_back(Open open, const std::filesystem::path& directory, std::uint64_t keys) {
  Measured measured;
  std::unique_ptr<View> view;
  ASSIGN_OR_RETURN(measured.open_seconds, seconds_of([&]() -> Status {
                     ASSIGN_OR_RETURN(view, open(directory));
                     return ok_status();
                   }));
  std::uint64_t count = 0;
  ASSIGN_OR_RETURN(const double seconds, seconds_of([&]() -> Status {
                     ASSIGN_OR_RETURN(count, view->scan());
                     return ok_status();
                   }));
  if (count != keys) {
    return Error(ErrorCode::kCorrupted, fmt::format("{} of {} keys were found", count, keys));
  }
  measured.scan_rate = static_cast<double>(keys) / seconds;
  return measured;
}

Result<Measured> measure_one(Open open, const std::filesystem::path& directory,
                             std::uint64_t keys) {
  std::filesystem::create_directories(directory);
  ASSIGN_OR_RETURN(Measured measured,
                   in_fresh_process<Measured>([&] { return load(open, directory, keys); }));
  RETURN_IF_ERROR(drop_caches(directory));
  ASSIGN_OR_RETURN(const std::uint64_t bytes, allocated_bytes(directory));
  measured.disk_bytes = static_cast<double>(bytes) / static_cast<double>(keys);
  ASSIGN_OR_RETURN(const Measured back,
                   in_fresh_process<Measured>([&] { return read_back(open, directory, keys); }));
  measured.open_seconds = back.open_seconds;
  measured.scan_rate = back.scan_rate;
  return measured;
}

Status measure(const Settings& settings, const Run& run) {
  ASSIGN_OR_RETURN(const Measured leat,
                   measure_one(LeatView::open, run.directory / "leat", settings.keys));
  const std::pair<const char*, Open> peers[] = {{"LMDB", LmdbView::open},
                                                {"RocksDB", RocksView::open}};
  for (const auto& [peer, open] : peers) {
    ASSIGN_OR_RETURN(const Measured theirs, measure_one(open, run.directory / peer, settings.keys));
    const auto add = [&, peer = peer](const char* what, const char* unit, double Measured::*value) {
      return run.report.add({fmt::format("catalogue {}, {}", what, peer),
                             unit,
                             peer,
                             {{leat.*value, theirs.*value}},
                             {}});
    };
    RETURN_IF_ERROR(add("load", "key/s", &Measured::load_rate));
    RETURN_IF_ERROR(add("memory", "B/key", &Measured::memory_bytes));
    RETURN_IF_ERROR(add("disk", "B/key", &Measured::disk_bytes));
    RETURN_IF_ERROR(add("opening", "s", &Measured::open_seconds));
    RETURN_IF_ERROR(add("scan, cold", "key/s", &Measured::scan_rate));
  }
  return ok_status();
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  leat::bench::Settings settings;
  leat::bench::Program program("An ordered view of many keys: Leat's catalogue, LMDB, RocksDB.");
  program.add_option("--keys", settings.keys, "keys in each of them");
  return program.run(
      argc, argv, [&](const leat::bench::Run& run) { return leat::bench::measure(settings, run); });
}
