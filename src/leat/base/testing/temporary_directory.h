// TemporaryDirectory: a new directory for one test, removed with all that is in it.
//
// Header-only. For one thread at a time.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace leat::testing {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "leat-test.XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr) << pattern;
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // A directory in it, made.
  std::string make(const std::string& name) const {
    const std::filesystem::path path = path_ / name;
    std::filesystem::create_directories(path);
    return path.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace leat::testing
