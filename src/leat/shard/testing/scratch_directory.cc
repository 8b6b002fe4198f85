#include "leat/shard/testing/scratch_directory.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

#include "leat/base/check.h"

namespace leat::testing {

namespace fs = std::filesystem;

ScratchDirectory::ScratchDirectory() {
  std::string pattern = (fs::temp_directory_path() / "leat-shard-XXXXXX").string();
  CHECK(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void ScratchDirectory::write(const fs::path& name, std::string_view bytes) const {
  fs::create_directories((path_ / name).parent_path());
  std::ofstream file(path_ / name, std::ios::binary);
  file << bytes;
  CHECK(file.good());
}

std::string ScratchDirectory::read(const fs::path& name) const {
  std::ifstream file(path_ / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> ScratchDirectory::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    if (entry.is_directory() && !entry.is_symlink()) continue;
    names.push_back(fs::relative(entry.path().parent_path(), path_) / entry.path().filename());
    if (names.back().starts_with("./")) names.back().erase(0, 2);
  }
  std::ranges::sort(names);
  return names;
}

ScratchDirectory::Outcome ScratchDirectory::run(const std::string& script) const {
  std::array<int, 2> pipe_ends{};
  CHECK(::pipe(pipe_ends.data()) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
  std::string shell = "/bin/sh";
  std::string option = "-c";
  std::string command = "export LC_ALL=C.UTF-8; cd '" + path_.string() + "' && " + script;
  std::array<char*, 4> arguments{shell.data(), option.data(), command.data(), nullptr};
  pid_t child = -1;
  CHECK(::posix_spawn(&child, shell.c_str(), &actions, nullptr, arguments.data(), environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe_ends[1]);
  Outcome outcome;
  std::array<char, 4096> buffer;
  for (ssize_t count; (count = ::read(pipe_ends[0], buffer.data(), buffer.size())) > 0;) {
    outcome.output.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(pipe_ends[0]);
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

}  // namespace leat::testing
