// The engine as a guest: a shared library with the engine inside is loaded into a process that has
// nothing of it, twice, is used, forked and unloaded. The host must not notice that it was there:
// no threads before the first change, none afterwards, no signal handlers, no output, no
// descriptors.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine_library_host.h"

namespace {

namespace fs = std::filesystem;

// A directory that goes with its owner.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string pattern = (fs::temp_directory_path() / "leat-library-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// One copy of the library, loaded.
class Guest {
 public:
  Guest(const fs::path& directory, const std::string& name) : path_(directory / (name + ".so")) {
    fs::copy_file(LEAT_HOST_LIBRARY, path_);
    library_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return;
    open = function<decltype(leat_host_open)>("leat_host_open");
    put = function<decltype(leat_host_put)>("leat_host_put");
    get = function<decltype(leat_host_get)>("leat_host_get");
    close = function<decltype(leat_host_close)>("leat_host_close");
  }
  ~Guest() { unload(); }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  bool is_loaded() const { return library_ != nullptr; }
  const fs::path& path() const { return path_; }
  void unload() {
    if (library_ != nullptr) dlclose(library_);
    library_ = nullptr;
  }

  decltype(&leat_host_open) open = nullptr;
  decltype(&leat_host_put) put = nullptr;
  decltype(&leat_host_get) get = nullptr;
  decltype(&leat_host_close) close = nullptr;

  bool puts(void* store, const std::string& name, const std::string& text) const {
    return put(store, name.c_str(), text.data(), text.size()) == 0;
  }
  std::string gets(void* store, const std::string& name) const {
    std::array<char, 4096> buffer{};
    const long size = get(store, name.c_str(), buffer.data(), buffer.size());
    return size < 0 ? "(nothing)" : std::string(buffer.data(), static_cast<std::size_t>(size));
  }

 private:
  template <typename Function>
  Function* function(const char* name) {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

  const fs::path path_;
  void* library_ = nullptr;
};

std::set<std::string> entries(const char* directory) {
  std::set<std::string> names;
  DIR* const open_directory = opendir(directory);
  while (const dirent* const entry = readdir(open_directory)) names.insert(entry->d_name);
  closedir(open_directory);
  return names;
}

std::size_t thread_count() {
  return entries("/proc/self/task").size();
}

// A thread that was joined may be seen for a moment longer.
std::size_t thread_count_soon(std::size_t expected) {
  for (int i = 0; i < 1000 && thread_count() != expected; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return thread_count();
}

// What a process is set to do when each signal comes.
std::vector<std::string> signal_actions() {
  std::vector<std::string> actions;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    std::string bytes(sizeof action.sa_handler + sizeof action.sa_flags, '\0');
    std::memcpy(bytes.data(), &action.sa_handler, sizeof action.sa_handler);
    std::memcpy(bytes.data() + sizeof action.sa_handler, &action.sa_flags, sizeof action.sa_flags);
    actions.push_back(std::move(bytes));
  }
  return actions;
}

bool is_mapped(const fs::path& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library.filename().string()) != line.npos) return true;
  }
  return false;
}

// Sends what is written to standard output and standard error to a file while it lives.
class OutputTrap {
 public:
  explicit OutputTrap(fs::path path) : path_(std::move(path)) {
    fflush(nullptr);
    const int file = open(path_.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    for (int i = 0; i < 2; ++i) {
      saved_[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 10);
      dup2(file, i + 1);
    }
    close(file);
  }
  ~OutputTrap() {
    fflush(nullptr);
    for (int i = 0; i < 2; ++i) {
      dup2(saved_[i], i + 1);
      close(saved_[i]);
    }
  }
  OutputTrap(const OutputTrap&) = delete;
  OutputTrap& operator=(const OutputTrap&) = delete;
  std::uintmax_t size_bytes() const {
    fflush(nullptr);
    return fs::file_size(path_);
  }

 private:
  const fs::path path_;
  std::array<int, 2> saved_{};
};

// Runs `body` in a forked child; true when it returned true there.
template <typename Body>
bool in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class EngineLibraryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name : {"one", "two"}) {
      guests_.push_back(std::make_unique<Guest>(scratch_.path(), name));
      ASSERT_TRUE(guests_.back()->is_loaded()) << dlerror();
      directories_.push_back(scratch_.path() / (std::string(name) + "-store"));
      fs::create_directory(directories_.back());
    }
  }

  // Makes the stores, each with an object, and leaves them closed.
  void make_stores() {
    for (std::size_t i = 0; i < guests_.size(); ++i) {
      void* const store = guests_[i]->open(directories_[i].c_str());
      ASSERT_NE(store, nullptr);
      EXPECT_TRUE(guests_[i]->puts(store, "name", text(i)));
      EXPECT_EQ(guests_[i]->close(store), 0);
    }
  }
  void open_stores() {
    for (std::size_t i = 0; i < guests_.size(); ++i) {
      stores_.push_back(guests_[i]->open(directories_[i].c_str()));
      ASSERT_NE(stores_.back(), nullptr);
    }
  }
  void close_stores() {
    for (std::size_t i = 0; i < stores_.size(); ++i) EXPECT_EQ(guests_[i]->close(stores_[i]), 0);
    stores_.clear();
  }
  static std::string text(std::size_t store) {
    return "the object of store " + std::to_string(store);
  }

  ScratchDirectory scratch_;
  std::vector<std::unique_ptr<Guest>> guests_;
  std::vector<fs::path> directories_;
  std::vector<void*> stores_;
};

TEST_F(EngineLibraryTest, HasNoThreadsBeforeTheFirstChangeAndNoneAfterwards) {
  const std::size_t threads = thread_count();
  make_stores();
  EXPECT_EQ(thread_count_soon(threads), threads);
  open_stores();
  for (std::size_t i = 0; i < stores_.size(); ++i)
    EXPECT_EQ(guests_[i]->gets(stores_[i], "name"), text(i));
  EXPECT_EQ(thread_count(), threads) << "reading needs no threads";
  for (std::size_t i = 0; i < stores_.size(); ++i)
    EXPECT_TRUE(guests_[i]->puts(stores_[i], "more", "x"));
  close_stores();
  EXPECT_EQ(thread_count_soon(threads), threads);
}

TEST_F(EngineLibraryTest, AForkedChildReadsAndTheParentGoesOn) {
  make_stores();
  open_stores();
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    const Guest& guest = *guests_[i];
    EXPECT_TRUE(guest.puts(stores_[i], "before", "fork"));
    EXPECT_TRUE(in_child([&] {
      return guest.gets(stores_[i], "name") == text(i) &&
             guest.gets(stores_[i], "before") == "fork" &&
             !guest.puts(stores_[i], "of the child", "refused");
    }));
    EXPECT_TRUE(guest.puts(stores_[i], "after", "the fork"));
    EXPECT_EQ(guest.gets(stores_[i], "after"), "the fork");
    EXPECT_EQ(guest.gets(stores_[i], "of the child"), "(nothing)");
  }
  close_stores();
}

TEST_F(EngineLibraryTest, ChangesNothingInItsHost) {
  for (const auto& guest : guests_) guest->unload();
  guests_.clear();
  const auto descriptors = entries("/proc/self/fd");
  const auto actions = signal_actions();
  std::vector<fs::path> libraries;
  std::uintmax_t output_bytes = 0;
  {
    const OutputTrap trap(scratch_.path() / "output");
    for (const char* const name : {"three", "four"}) {
      guests_.push_back(std::make_unique<Guest>(scratch_.path(), name));
      ASSERT_TRUE(guests_.back()->is_loaded());
      libraries.push_back(guests_.back()->path());
    }
    EXPECT_EQ(signal_actions(), actions);
    make_stores();
    open_stores();
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      EXPECT_TRUE(guests_[i]->puts(stores_[i], "name", text(i)));
      EXPECT_EQ(guests_[i]->gets(stores_[i], "no such name"), "(nothing)");
    }
    EXPECT_EQ(signal_actions(), actions);
    EXPECT_EQ(guests_[0]->open((directories_[0] / "leat.store").c_str()), nullptr);
    close_stores();
    guests_.clear();
    output_bytes = trap.size_bytes();
  }
  EXPECT_EQ(output_bytes, 0u);
  EXPECT_EQ(signal_actions(), actions);
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  for (const fs::path& library : libraries) EXPECT_FALSE(is_mapped(library)) << library;
  // Something that the library had registered to be called at exit would be called now.
  EXPECT_TRUE(in_child([]() -> bool { exit(0); }));
}

}  // namespace
