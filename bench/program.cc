#include "program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

namespace leat::bench {
namespace {

constexpr std::size_t kMaxPairs = 1000;

// A new directory beneath `parent`, removed on destruction with all that it holds.
class TemporaryDirectory {
 public:
  static Result<std::unique_ptr<TemporaryDirectory>> make(const std::filesystem::path& parent) {
    std::error_code error;
    std::filesystem::create_directories(parent, error);
    if (error) return Error::from_errno(error.value(), fmt::format("make {}", parent.string()));
    std::string path = (parent / "leat-bench-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr)
      return Error::from_errno(errno, fmt::format("make {}", path));
    return std::unique_ptr<TemporaryDirectory>(new TemporaryDirectory(path));
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  const std::filesystem::path path_;
};

}  // namespace

Program::Program(const std::string& description)
    : options_(std::make_unique<CLI::App>(description)),
      parent_(std::filesystem::path("build") / "bench") {
  options_->add_option("--dir", parent_, "where the data goes, in a directory of its own")
      ->capture_default_str();
  options_->add_option("--json", json_file_, "a file that gets a line of JSON per figure, too");
  options_->add_option("--pairs", pairs_, "how often Leat and peer are measured")
      ->capture_default_str()
      ->check(CLI::Range(kMinPairs, kMaxPairs));
}

Program::~Program() = default;

void Program::add_option(const std::string& name, std::uint64_t& value,
                         const std::string& description) {
  options_->add_option(name, value, description)->capture_default_str()->check(CLI::PositiveNumber);
}

int Program::run(int argc, char** argv, const std::function<Status(const Run&)>& body) {
  try {
    options_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return options_->exit(error);
  }
  const Status status = run_in_directory(body);
  if (status.ok()) return EXIT_SUCCESS;
  fmt::print(stderr, "{}: {}\n", std::filesystem::path(argv[0]).filename().string(),
             status.error().message());
  return EXIT_FAILURE;
}

Status Program::run_in_directory(const std::function<Status(const Run&)>& body) {
  ASSIGN_OR_RETURN(const auto directory, TemporaryDirectory::make(parent_));
  Report report(json_file_);
  return body({std::filesystem::absolute(directory->path()), pairs_, report});
}

Result<double> seconds_of(const std::function<Status()>& work) {
  const auto start = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(work());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Status in_threads(std::size_t threads, const std::function<Status(std::size_t thread)>& work) {
  std::vector<Status> results(threads, ok_status());
  {
    std::vector<std::jthread> running;
    for (std::size_t i = 0; i < threads; ++i) {
      running.emplace_back([&work, &results, i] { results[i] = work(i); });
    }
  }
  for (const Status& result : results) RETURN_IF_ERROR(result);
  return ok_status();
}

}  // namespace leat::bench
