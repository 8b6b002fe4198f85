// Program: what every benchmark does around its measurements.
//
// It reads the command line (--dir, --json and --pairs are everywhere), makes a directory for the
// data and removes it again, however the benchmark ends, and tells errors. The exit status says
// whether the measurements could be made, never whether a bar was met: a benchmark is not a test.
//
// For one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "leat/base/result.h"
#include "pairs.h"

namespace CLI {
class App;
}  // namespace CLI

namespace leat::bench {

// What a benchmark is given.
struct Run {
  std::filesystem::path directory;  // empty at first, removed afterwards
  std::size_t pairs = kMinPairs;
  Report& report;
};

class Program {
 public:
  explicit Program(const std::string& description);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // `value` holds the default and gets what the user says. Never 0.
  void add_option(const std::string& name, std::uint64_t& value, const std::string& description);
  // The exit status.
  int run(int argc, char** argv, const std::function<Status(const Run&)>& body);

 private:
  Status run_in_directory(const std::function<Status(const Run&)>& body);

  const std::unique_ptr<CLI::App> options_;
  std::filesystem::path parent_;
  std::string json_file_;
  std::size_t pairs_ = kMinPairs;
};

// Seconds that `work` takes. Its error is handed on.
Result<double> seconds_of(const std::function<Status()>& work);

// Runs `work(thread)` in that many threads at once, and waits for all; the first error, if any.
Status in_threads(std::size_t threads, const std::function<Status(std::size_t thread)>& work);

}  // namespace leat::bench
