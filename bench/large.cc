// large: PUT and cold GET of objects of 1 MiB and of 64 MiB, against fio on files of that size.
//
// Both sides move blocks of 1 MiB with as many threads, through the page cache, and sync every
// object or file before the next. fio counts only the time of its I/O, not that of its start.

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "program.h"
#include "samples.h"

namespace leat::bench {
namespace {

constexpr std::uint64_t kMebibyte = 1 << 20;
constexpr std::size_t kBlockBytes = kMebibyte;
constexpr double kLeastRatio = 0.9;

struct Settings {
  std::uint64_t threads = 4;
  std::uint64_t mebibytes = 1024;
};

struct Shape {
  std::uint64_t object_bytes = 0;
  std::uint64_t objects = 0;  // a multiple of threads
  std::uint64_t threads = 0;
  double total_mebibytes() const {
    return static_cast<double>(object_bytes * objects) / static_cast<double>(kMebibyte);
  }
};

Status put_object(ObjectStore& bucket, const std::string& name, std::uint64_t size_bytes,
                  std::span<const std::byte> block) {
  const Context context;
  CreateOptions options;
  options.expected_size_bytes = size_bytes;
  ASSIGN_OR_RETURN(const auto writer, bucket.create(name, options, context));
  for (std::uint64_t done = 0; done < size_bytes; done += block.size()) {
    RETURN_IF_ERROR(writer->append(block, context));
  }
  RETURN_IF_ERROR(writer->commit({}, context));
  return ok_status();
}

Status get_object(ObjectStore& bucket, const std::string& name, std::uint64_t size_bytes,
                  std::span<std::byte> block) {
  const Context context;
  ASSIGN_OR_RETURN(const auto reader, bucket.open(name, {}, context));
  for (std::uint64_t done = 0; done < size_bytes; done += block.size()) {
    ASSIGN_OR_RETURN(const std::size_t count, reader->read_at(done, block, context));
    if (count != block.size()) return Error(ErrorCode::kCorrupted, name + " is too short");
    RETURN_IF_ERROR(check_sample(0, block));
  }
  return ok_status();
}

class Leat {
 public:
  Leat(BenchStore& store, const Shape& shape) : store_(store), shape_(shape) {}

  // MiB/s.
  Result<double> put() {
    RETURN_IF_ERROR(remove_all());
    std::vector<std::byte> block(kBlockBytes);
    fill_sample(0, block);
    return rate([&](const std::string& name, std::span<std::byte>) {
      return put_object(store_.bucket(), name, shape_.object_bytes, block);
    });
  }
  Result<double> get() {
    return rate([&](const std::string& name, std::span<std::byte> block) {
      return get_object(store_.bucket(), name, shape_.object_bytes, block);
    });
  }
  Status remove_all() {
    for (std::uint64_t i = 0; i < written_; ++i) {
      RETURN_IF_ERROR(store_.bucket().remove(sample_name(i), {}, Context()));
    }
    written_ = 0;
    return ok_status();
  }

 private:
  Result<double> rate(const std::function<Status(const std::string&, std::span<std::byte>)>& one) {
    written_ = shape_.objects;
    ASSIGN_OR_RETURN(const double seconds, seconds_of([&] {
                       return in_threads(shape_.threads, [&](std::size_t thread) -> Status {
                         std::vector<std::byte> block(kBlockBytes);
                         for (std::uint64_t i = thread; i < shape_.objects; i += shape_.threads) {
                           RETURN_IF_ERROR(one(sample_name(i), block));
                         }
                         return ok_status();
                       });
                     }));
    return shape_.total_mebibytes() / seconds;
  }

  BenchStore& store_;
  const Shape shape_;
  std::uint64_t written_ = 0;
};

class Fio {
 public:
  Fio(std::filesystem::path directory, const Shape& shape)
      : directory_(std::move(directory)), shape_(shape) {}

  // MiB/s.
  Result<double> put() {
    RETURN_IF_ERROR(remove_all());
    std::error_code error;
    std::filesystem::create_directories(files(), error);
    if (error) return Error::from_errno(error.value(), files().string());
    // Of the last file of a job, fio's own count of writes leaves the sync to end_fsync.
    return run("write", {"--create_on_open=1", "--fallocate=none", "--end_fsync=1",
                         fmt::format("--fsync={}", shape_.object_bytes / kBlockBytes)});
  }
  Result<double> get() { return run("read", {"--invalidate=0"}); }
  Status remove_all() {
    std::error_code error;
    std::filesystem::remove_all(files(), error);
    if (error) return Error::from_errno(error.value(), files().string());
    return ok_status();
  }

 private:
  std::filesystem::path files() const { return directory_ / "files"; }

  Result<double> run(const std::string& direction, const std::vector<std::string>& more) {
    const std::string output = (directory_ / "fio.json").string();
    std::vector<std::string> command = {
        "fio", "--name=peer", "--ioengine=psync", "--rw=" + direction, "--group_reporting",
        // One file after another, as a user of the store does.
        "--file_service_type=sequential", "--openfiles=1", "--thread",
        "--directory=" + files().string(), fmt::format("--bs={}", kBlockBytes),
        fmt::format("--numjobs={}", shape_.threads),
        fmt::format("--nrfiles={}", shape_.objects / shape_.threads),
        fmt::format("--filesize={}", shape_.object_bytes), "--output-format=json",
        "--output=" + output};
    command.insert(command.end(), more.begin(), more.end());
    RETURN_IF_ERROR(run_command(command));
    std::ifstream file(output);
    const auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
    const nlohmann::json::json_pointer rate("/jobs/0/" + direction + "/bw_bytes");
    const nlohmann::json::json_pointer bytes("/jobs/0/" + direction + "/io_bytes");
    if (!json.is_object() || !json.contains(rate) || !json[rate].is_number() ||
        json.value(bytes, std::uint64_t{0}) != shape_.object_bytes * shape_.objects) {
      return Error(ErrorCode::kIoError, "fio did not do what was asked: " + command[3]);
    }
    return json[rate].get<double>() / static_cast<double>(kMebibyte);
  }

  const std::filesystem::path directory_;
  const Shape shape_;
};

// Every PUT is followed by a GET of the same objects, so each side has both in a pair.
Status measure_shape(const Shape& shape, BenchStore& store, const Run& run) {
  Leat leat(store, shape);
  Fio fio(run.directory, shape);
  std::vector<Pair> gets(run.pairs);
  std::size_t leat_gets = 0;
  std::size_t fio_gets = 0;
  const auto leat_side = [&]() -> Result<double> {
    RETURN_IF_ERROR(sync_file_system(run.directory));
    ASSIGN_OR_RETURN(const double rate, leat.put());
    RETURN_IF_ERROR(drop_caches(run.directory));
    ASSIGN_OR_RETURN(gets[leat_gets++].leat, leat.get());
    RETURN_IF_ERROR(leat.remove_all());
    return rate;
  };
  const auto fio_side = [&]() -> Result<double> {
    RETURN_IF_ERROR(sync_file_system(run.directory));
    ASSIGN_OR_RETURN(const double rate, fio.put());
    RETURN_IF_ERROR(drop_caches(run.directory));
    ASSIGN_OR_RETURN(gets[fio_gets++].peer, fio.get());
    RETURN_IF_ERROR(fio.remove_all());
    return rate;
  };
  ASSIGN_OR_RETURN(auto puts, interleave(run.pairs, leat_side, fio_side));
  const std::string size = fmt::format("{} MiB", shape.object_bytes / kMebibyte);
  const std::string peer = fmt::format("fio, {} jobs", shape.threads);
  RETURN_IF_ERROR(
      run.report.add({"PUT " + size, "MiB/s", peer, std::move(puts), ratio_at_least(kLeastRatio)}));
  return run.report.add(
      {"cold GET " + size, "MiB/s", peer, std::move(gets), ratio_at_least(kLeastRatio)});
}

Status measure(const Settings& settings, const Run& run) {
  ASSIGN_OR_RETURN(const auto store, BenchStore::create(run.directory / "store"));
  for (const std::uint64_t object_bytes : {kMebibyte, 64 * kMebibyte}) {
    const std::uint64_t a_thread = settings.mebibytes * kMebibyte / object_bytes / settings.threads;
    if (a_thread == 0)
      return Error(ErrorCode::kInvalidArgument, "--mebibytes: 64 a thread at least");
    const Shape shape{object_bytes, a_thread * settings.threads, settings.threads};
    RETURN_IF_ERROR(measure_shape(shape, *store, run));
  }
  return store->close();
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  leat::bench::Settings settings;
  leat::bench::Program program("PUT and cold GET of objects of 1 MiB and 64 MiB, against fio.");
  program.add_option("--threads", settings.threads, "threads of each side");
  program.add_option("--mebibytes", settings.mebibytes, "how much each side moves at a time");
  return program.run(
      argc, argv, [&](const leat::bench::Run& run) { return leat::bench::measure(settings, run); });
}
