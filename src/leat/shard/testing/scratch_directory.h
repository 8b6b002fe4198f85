// A directory for one test, and programs run in it: the tars of the world are the judges of ours.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace leat::testing {

// Removed with everything in it when destroyed.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const std::filesystem::path& name, std::string_view bytes) const;
  std::string read(const std::filesystem::path& name) const;
  // Relative paths of everything but directories, in byte order.
  std::vector<std::string> files() const;

  struct Outcome {
    int exit_code = -1;
    std::string output;  // standard output and standard error
  };
  // Runs a shell script in this directory, in the C locale.
  Outcome run(const std::string& script) const;

 private:
  std::filesystem::path path_;
};

}  // namespace leat::testing
