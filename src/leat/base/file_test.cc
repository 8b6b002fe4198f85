// One suite for every FileSystem: the real one and the simulated one must agree, or the power-cut
// tests prove nothing. What only one of them has follows after it.
#include "leat/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "leat/base/testing/refused_system_call.h"
#include "leat/base/testing/simulated_file_system.h"
#include "leat/base/testing/temporary_directory.h"

namespace leat {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

enum class Implementation : std::uint8_t { kPosix, kSimulated };

class FileSystemTest : public ::testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    if (GetParam() == Implementation::kPosix) {
      auto files = FileSystem::posix(directory_.path().string());
      ASSERT_TRUE(files.ok()) << files.error().message();
      files_ = *std::move(files);
    } else {
      files_ = std::make_unique<SimulatedFileSystem>();
    }
  }

  void write(std::string_view path, std::string_view text) {
    const Status written = files_->replace_file(path, bytes_of(text));
    ASSERT_TRUE(written.ok()) << written.error().message();
  }
  std::string read(std::string_view path) {
    auto bytes = files_->read_file(path, 1 << 20);
    return bytes.ok() ? text_of(*bytes) : "<" + std::string(bytes.error().message()) + ">";
  }
  std::vector<std::string> names(std::string_view path) {
    std::vector<std::string> result;
    auto entries = files_->read_directory(path);
    EXPECT_TRUE(entries.ok()) << entries.error().message();
    if (!entries.ok()) return result;
    for (const DirectoryEntry& entry : *entries) {
      result.push_back(entry.name + (entry.is_directory ? "/" : ""));
    }
    std::ranges::sort(result);
    return result;
  }
  std::unique_ptr<File> open(std::string_view path, OpenMode mode) {
    auto file = files_->open(path, mode);
    EXPECT_TRUE(file.ok()) << file.error().message();
    return file.ok() ? *std::move(file) : nullptr;
  }

  testing::TemporaryDirectory directory_;
  std::unique_ptr<FileSystem> files_;
};

using Names = std::vector<std::string>;

INSTANTIATE_TEST_SUITE_P(All, FileSystemTest,
                         ::testing::Values(Implementation::kPosix, Implementation::kSimulated),
                         [](const auto& test) {
                           return test.param == Implementation::kPosix ? "Posix" : "Simulated";
                         });

TEST_P(FileSystemTest, ReadsStopAtTheEnd) {
  write("file", "0123456789");
  const auto file = open("file", OpenMode::kRead);
  std::vector<std::byte> target(20);
  EXPECT_EQ(*file->read_at(0, target), 10u);
  EXPECT_EQ(*file->read_at(7, target), 3u);
  EXPECT_EQ(text_of(std::span(target).first(3)), "789");
  EXPECT_EQ(*file->read_at(10, target), 0u);
  EXPECT_EQ(*file->read_at(1 << 30, target), 0u);
  EXPECT_EQ(*file->read_at(0, {}), 0u);
}

TEST_P(FileSystemTest, GapsReadAsZeros) {
  const auto file = open("file", OpenMode::kCreate);
  ASSERT_TRUE(file->write_at(5, bytes_of("x")).ok());
  ASSERT_TRUE(file->write_at(2000, bytes_of("y")).ok());
  std::string expected(2001, '\0');
  expected[5] = 'x';
  expected[2000] = 'y';
  EXPECT_EQ(read("file"), expected);
}

TEST_P(FileSystemTest, AnEmptyWriteDoesNotGrowTheFile) {
  const auto file = open("file", OpenMode::kCreate);
  EXPECT_TRUE(file->write_at(100, bytes_of("")).ok());
  EXPECT_TRUE(file->write_at(100, std::span<const iovec>()).ok());
  EXPECT_EQ(file->status()->size_bytes, 0u);
}

TEST_P(FileSystemTest, WritesMoreBuffersThanTheKernelTakesAtOnce) {
  const std::size_t count = 2 * IOV_MAX + 7;
  std::string expected;
  std::vector<std::string> parts(count);
  std::vector<iovec> buffers;
  for (std::size_t index = 0; index < count; ++index) {
    parts[index] = std::string(index % 5, static_cast<char>('a' + index % 26));  // some empty
    buffers.push_back({parts[index].data(), parts[index].size()});
    expected += parts[index];
  }
  const auto file = open("file", OpenMode::kCreate);
  ASSERT_TRUE(file->write_at(3, buffers).ok());
  EXPECT_EQ(read("file"), std::string(3, '\0') + expected);
}

TEST_P(FileSystemTest, WhatWasCutOffDoesNotComeBack) {
  write("file", std::string(1500, 'x'));
  const auto file = open("file", OpenMode::kReadWrite);
  ASSERT_TRUE(file->resize(600).ok());
  ASSERT_TRUE(file->resize(1500).ok());
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(read("file"), std::string(600, 'x') + std::string(900, '\0'));
}

TEST_P(FileSystemTest, OpenModes) {
  EXPECT_TRUE(files_->open("file", OpenMode::kRead).failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(files_->open("file", OpenMode::kReadWrite).failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(files_->open("no/file", OpenMode::kCreate).failed_with(ErrorCode::kNotFound));
  write("file", "text");
  EXPECT_TRUE(files_->open("file", OpenMode::kCreate).failed_with(ErrorCode::kAlreadyExists));
  EXPECT_TRUE(files_->open("file/below", OpenMode::kRead).failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(files_->open(".", OpenMode::kRead).failed_with(ErrorCode::kInvalidArgument));
  const auto reader = open("file", OpenMode::kRead);
  EXPECT_FALSE(reader->write_at(0, bytes_of("no")).ok());
  EXPECT_FALSE(reader->resize(0).ok());
  EXPECT_TRUE(reader->sync().ok());
  EXPECT_EQ(read("file"), "text");
}

TEST_P(FileSystemTest, Status) {
  write("file", "text");
  const auto file = open("file", OpenMode::kReadWrite);
  const FileStatus by_name = *files_->status("file");
  const FileStatus by_handle = *file->status();
  EXPECT_EQ(by_name.size_bytes, 4u);
  EXPECT_EQ(by_name.inode, by_handle.inode);
  EXPECT_GT(by_name.mtime_ns, 1'500'000'000'000'000'000);
  EXPECT_TRUE(by_name.is_regular);
  EXPECT_FALSE(by_name.is_directory);
  EXPECT_EQ(by_name.mode & 0700, 0600u);  // the rest is up to the umask
  ASSERT_TRUE(files_->set_mode("file", 0444).ok());
  EXPECT_EQ(files_->status("file")->mode, 0444u);
  EXPECT_TRUE(files_->status(".")->is_directory);
  EXPECT_TRUE(files_->status("absent").failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(files_->set_mode("absent", 0444).failed_with(ErrorCode::kNotFound));
}

TEST_P(FileSystemTest, Directories) {
  ASSERT_TRUE(files_->make_directory("a").ok());
  EXPECT_TRUE(files_->make_directory("a").failed_with(ErrorCode::kAlreadyExists));
  EXPECT_TRUE(files_->make_directory(".").failed_with(ErrorCode::kAlreadyExists));
  EXPECT_TRUE(files_->make_directory("b/c").failed_with(ErrorCode::kNotFound));
  write("a/file", "text");
  EXPECT_EQ(names("."), Names({"a/"}));
  EXPECT_EQ(names("a"), Names({"file"}));
  EXPECT_TRUE(files_->read_directory("b").failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(files_->read_directory("a/file").failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(files_->sync_directory(".").ok());
  EXPECT_TRUE(files_->sync_directory("b").failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(files_->remove_directory("a").failed_with(ErrorCode::kAlreadyExists));
  EXPECT_TRUE(files_->remove_file("a").failed_with(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(files_->remove_directory("a/file").failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(files_->remove_directory(".").failed_with(ErrorCode::kInvalidArgument));
  ASSERT_TRUE(files_->remove_file("a/file").ok());
  EXPECT_TRUE(files_->remove_file("a/file").failed_with(ErrorCode::kNotFound));
  ASSERT_TRUE(files_->remove_directory("a").ok());
  EXPECT_EQ(names("."), Names());
}

TEST_P(FileSystemTest, MakeDirectories) {
  ASSERT_TRUE(files_->make_directories("a/b/c").ok());
  ASSERT_TRUE(files_->make_directories("a/b/c").ok());
  ASSERT_TRUE(files_->make_directories("a/b/d").ok());
  ASSERT_TRUE(files_->make_directories(".").ok());
  EXPECT_EQ(names("a/b"), Names({"c/", "d/"}));
  write("a/file", "text");
  EXPECT_TRUE(files_->make_directories("a/file").failed_with(ErrorCode::kAlreadyExists));
  EXPECT_FALSE(files_->make_directories("a/file/b").ok());
  EXPECT_TRUE(files_->make_directories("a/../../b").failed_with(ErrorCode::kInvalidArgument));
}

TEST_P(FileSystemTest, RenameModes) {
  ASSERT_TRUE(files_->make_directory("d").ok());
  write("a", "A");
  write("b", "B");
  EXPECT_TRUE(
      files_->rename("absent", "b", RenameMode::kReplace).failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(
      files_->rename("absent", "b", RenameMode::kKeepExisting).failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(
      files_->rename("a", "b", RenameMode::kKeepExisting).failed_with(ErrorCode::kAlreadyExists));
  EXPECT_EQ(read("a") + read("b"), "AB");
  ASSERT_TRUE(files_->rename("a", "b", RenameMode::kReplace).ok());
  EXPECT_EQ(read("b"), "A");
  ASSERT_TRUE(files_->rename("b", "d/b", RenameMode::kKeepExisting).ok());
  EXPECT_EQ(names("."), Names({"d/"}));
  EXPECT_EQ(read("d/b"), "A");
  ASSERT_TRUE(files_->rename("d/b", "d/b", RenameMode::kReplace).ok());
  EXPECT_TRUE(
      files_->rename("d/b", "no/b", RenameMode::kReplace).failed_with(ErrorCode::kNotFound));
}

TEST_P(FileSystemTest, RenameOfDirectories) {
  ASSERT_TRUE(files_->make_directories("d/e").ok());
  ASSERT_TRUE(files_->make_directory("empty").ok());
  write("file", "text");
  EXPECT_TRUE(
      files_->rename("d", "d/e/f", RenameMode::kReplace).failed_with(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(
      files_->rename("file", "d", RenameMode::kReplace).failed_with(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(files_->rename("d", "file", RenameMode::kReplace).failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(
      files_->rename("empty", "d", RenameMode::kReplace).failed_with(ErrorCode::kAlreadyExists));
  EXPECT_TRUE(
      files_->rename(".", "x", RenameMode::kReplace).failed_with(ErrorCode::kInvalidArgument));
  ASSERT_TRUE(files_->rename("d", "empty", RenameMode::kReplace).ok());
  EXPECT_EQ(names("."), Names({"empty/", "file"}));
  EXPECT_EQ(names("empty"), Names({"e/"}));
}

TEST_P(FileSystemTest, AnOpenFileOutlivesItsName) {
  write("file", "text");
  const auto file = open("file", OpenMode::kReadWrite);
  ASSERT_TRUE(files_->remove_file("file").ok());
  ASSERT_TRUE(file->write_at(4, bytes_of("ure")).ok());
  std::vector<std::byte> target(10);
  ASSERT_EQ(*file->read_at(0, target), 7u);
  EXPECT_EQ(text_of(std::span(target).first(7)), "texture");
}

TEST_P(FileSystemTest, PathsStayBeneathTheRoot) {
  const std::vector<std::string> escapes = {
      "..",
      "../x",
      "a/../../x",
      "a/../x",
      "/etc",
      "/",
      "",
      "a//",
      "a/",
      "./a",
      "a/.",
      "a//b",
      std::string("a\0b", 3),
      std::string(256, 'n'),
      std::string(5000, 'n'),
  };
  ASSERT_TRUE(files_->make_directory("a").ok());
  write("file", "text");
  for (const std::string& path : escapes) {
    SCOPED_TRACE(path);
    constexpr auto kRefused = ErrorCode::kInvalidArgument;
    EXPECT_TRUE(files_->open(path, OpenMode::kRead).failed_with(kRefused));
    EXPECT_TRUE(files_->open(path, OpenMode::kCreate).failed_with(kRefused));
    EXPECT_TRUE(files_->status(path).failed_with(kRefused));
    EXPECT_TRUE(files_->make_directory(path).failed_with(kRefused));
    EXPECT_TRUE(files_->read_directory(path).failed_with(kRefused));
    EXPECT_TRUE(files_->rename("file", path, RenameMode::kReplace).failed_with(kRefused));
    EXPECT_TRUE(files_->rename(path, "b", RenameMode::kReplace).failed_with(kRefused));
    EXPECT_TRUE(files_->remove_file(path).failed_with(kRefused));
    EXPECT_TRUE(files_->remove_directory(path).failed_with(kRefused));
    EXPECT_TRUE(files_->set_mode(path, 0600).failed_with(kRefused));
    EXPECT_TRUE(files_->sync_directory(path).failed_with(kRefused));
    EXPECT_TRUE(files_->try_lock(path).failed_with(kRefused));
  }
  EXPECT_EQ(names("."), Names({"a/", "file"}));
}

TEST_P(FileSystemTest, ALockHasOneHolder) {
  auto held = files_->try_lock("lock");
  ASSERT_TRUE(held.ok()) << held.error().message();
  EXPECT_TRUE(files_->try_lock("lock").failed_with(ErrorCode::kBusy));
  EXPECT_TRUE(files_->try_lock("other").ok());
  (*held).reset();
  EXPECT_TRUE(files_->try_lock("lock").ok());
  ASSERT_TRUE(files_->make_directory("d").ok());
  EXPECT_TRUE(files_->try_lock("d").failed_with(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(files_->try_lock("no/lock").failed_with(ErrorCode::kNotFound));
}

TEST_P(FileSystemTest, ReplaceFile) {
  write("file", "old and longer");
  write("file", "new");
  EXPECT_EQ(read("file"), "new");
  write("file", "");
  EXPECT_EQ(read("file"), "");
  // One that was left behind by a crash is neither used nor in the way.
  write("file.0.new", "left behind");
  write("file", "newer");
  EXPECT_EQ(read("file"), "newer");
  EXPECT_EQ(names("."), Names({"file", "file.0.new"}));
  // Nothing is left behind by a failure.
  ASSERT_TRUE(files_->make_directory("d").ok());
  EXPECT_FALSE(files_->replace_file("d", bytes_of("x")).ok());
  EXPECT_EQ(names("."), Names({"d/", "file", "file.0.new"}));
}

TEST_P(FileSystemTest, ReadFileHasALimit) {
  write("file", "12345");
  EXPECT_TRUE(files_->read_file("file", 5).ok());
  EXPECT_TRUE(files_->read_file("file", 4).failed_with(ErrorCode::kTooLarge));
  EXPECT_TRUE(files_->read_file("absent", 4).failed_with(ErrorCode::kNotFound));
}

TEST_P(FileSystemTest, Space) {
  const SpaceStatus space = *files_->space();
  EXPECT_GT(space.total_bytes, 0u);
  EXPECT_LE(space.available_bytes, space.total_bytes);
}

TEST_P(FileSystemTest, ThreadsShareFilesAndDirectories) {
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kRounds = 20;
  const auto shared = open("shared", OpenMode::kCreate);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        const std::uint64_t number = thread * kRounds + round;
        EXPECT_TRUE(shared->write_at(number * 4, bytes_of("done")).ok());
        EXPECT_TRUE(files_->make_directories("x/y/z").ok());
        const std::string path = "x/y/z/" + std::to_string(number);
        EXPECT_TRUE(files_->open(path, OpenMode::kCreate).ok());
        EXPECT_TRUE(files_->rename(path, path + "r", RenameMode::kKeepExisting).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(names("x/y/z").size(), kThreads * kRounds);
  EXPECT_EQ(read("shared").size(), kThreads * kRounds * 4);
}

TEST(ParentPath, IsTheRootForABareName) {
  EXPECT_EQ(parent_path("a/b/c"), "a/b");
  EXPECT_EQ(parent_path("c"), ".");
  EXPECT_EQ(parent_path("."), ".");
}

class PosixFileSystemTest : public ::testing::Test {
 protected:
  std::string real_path(std::string_view name) const { return (directory_.path() / name).string(); }
  testing::TemporaryDirectory directory_;
  std::unique_ptr<FileSystem> files_ = *FileSystem::posix(directory_.path().string());
};

TEST_F(PosixFileSystemTest, NeedsADirectory) {
  EXPECT_TRUE(FileSystem::posix(real_path("absent")).failed_with(ErrorCode::kNotFound));
  ASSERT_TRUE(files_->replace_file("file", bytes_of("text")).ok());
  EXPECT_TRUE(FileSystem::posix(real_path("file")).failed_with(ErrorCode::kNotFound));
  EXPECT_EQ(files_->root(), directory_.path());
}

TEST_F(PosixFileSystemTest, PlantedLinksLeadNowhere) {
  const testing::TemporaryDirectory outside;
  ASSERT_EQ(::symlink(outside.path().c_str(), real_path("link").c_str()), 0);
  ASSERT_EQ(::symlink("inside", real_path("inner").c_str()), 0);
  ASSERT_TRUE(files_->replace_file("inside", bytes_of("text")).ok());
  constexpr auto kRefused = ErrorCode::kInvalidArgument;
  EXPECT_TRUE(files_->open("link/x", OpenMode::kCreate).failed_with(kRefused));
  EXPECT_TRUE(files_->make_directory("link/x").failed_with(kRefused));
  EXPECT_FALSE(files_->read_directory("link").ok());
  EXPECT_TRUE(files_->rename("inside", "link/x", RenameMode::kReplace).failed_with(kRefused));
  EXPECT_TRUE(files_->try_lock("link/x").failed_with(kRefused));
  EXPECT_TRUE(files_->set_mode("inner", 0600).failed_with(kRefused));
  EXPECT_TRUE(files_->open("inner", OpenMode::kRead).failed_with(kRefused));
  EXPECT_TRUE(files_->status("inner").failed_with(kRefused));
  EXPECT_TRUE(std::filesystem::is_empty(outside.path()));
  // The link itself can go; what it points to stays.
  ASSERT_TRUE(files_->remove_file("inner").ok());
  EXPECT_TRUE(files_->open("inside", OpenMode::kRead).ok());
}

TEST_F(PosixFileSystemTest, APipeIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo(real_path("pipe").c_str(), 0600), 0);
  constexpr auto kRefused = ErrorCode::kInvalidArgument;
  EXPECT_TRUE(files_->open("pipe", OpenMode::kRead).failed_with(kRefused));
  EXPECT_TRUE(files_->open("pipe", OpenMode::kReadWrite).failed_with(kRefused));
  EXPECT_FALSE(files_->status("pipe")->is_regular);
}

TEST_F(PosixFileSystemTest, DescriptorsBlockAndCloseOnExec) {
  ASSERT_TRUE(files_->replace_file("file", bytes_of("text")).ok());
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kReadWrite}) {
    const auto file = *files_->open("file", mode);
    ASSERT_GE(file->descriptor(), 0);
    EXPECT_EQ(::fcntl(file->descriptor(), F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(::fcntl(file->descriptor(), F_GETFD) & FD_CLOEXEC, 0);
  }
}

TEST_F(PosixFileSystemTest, ALockOutlivesAForkedChild) {
  auto held = files_->try_lock("lock");
  ASSERT_TRUE(held.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    // The child has the lock too, through the same open file; giving it up takes nothing away.
    (*held).reset();
    ::_exit(files_->try_lock("lock").failed_with(ErrorCode::kBusy) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(files_->try_lock("lock").failed_with(ErrorCode::kBusy));
}

TEST_F(PosixFileSystemTest, ErrorsNameTheCallAndThePath) {
  const auto opened = files_->open("some/file", OpenMode::kRead);
  EXPECT_EQ(opened.error().message(), "open some/file: No such file or directory");
}

using PosixFileSystemDeathTest = PosixFileSystemTest;

// As on NFS and on some parallel file systems.
TEST_F(PosixFileSystemDeathTest, KeepsExistingWithoutHelpOfTheKernel) {
  ASSERT_TRUE(files_->replace_file("a", bytes_of("A")).ok());
  ASSERT_TRUE(files_->replace_file("b", bytes_of("B")).ok());
  ASSERT_TRUE(files_->make_directory("d").ok());
  const auto keep = [this](std::string_view from, std::string_view to) {
    return files_->rename(from, to, RenameMode::kKeepExisting);
  };
  EXPECT_EXIT(
      {
        if (!refuse_system_call(SYS_renameat2, EINVAL)) ::_exit(1);
        if (!keep("a", "b").failed_with(ErrorCode::kAlreadyExists)) ::_exit(2);
        if (!keep("absent", "c").failed_with(ErrorCode::kNotFound)) ::_exit(3);
        if (!keep("d", "e").failed_with(ErrorCode::kInvalidArgument)) ::_exit(4);
        ::_exit(keep("a", "c").ok() ? 0 : 5);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_TRUE(files_->status("a").failed_with(ErrorCode::kNotFound));
  EXPECT_EQ(text_of(*files_->read_file("b", 1)), "B");
  EXPECT_EQ(text_of(*files_->read_file("c", 1)), "A");
}

// An exit status: 0 when a write past the greatest size that we may write fails for that reason.
int write_past_limit(File& file) {
  const rlimit limit = {1500, 1500};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
  std::signal(SIGXFSZ, SIG_IGN);
  std::string first(1000, 'a');
  std::string second(1000, 'b');
  const std::vector<iovec> buffers = {{first.data(), first.size()}, {second.data(), second.size()}};
  return file.write_at(0, buffers).failed_with(ErrorCode::kTooLarge) ? 0 : 2;
}

// The first system call writes up to the limit, the one that goes on with the rest fails.
TEST_F(PosixFileSystemDeathTest, AShortWriteIsContinued) {
  const auto file = *files_->open("file", OpenMode::kCreate);
  EXPECT_EXIT(::_exit(write_past_limit(*file)), ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(text_of(*files_->read_file("file", 2000)),
            std::string(1000, 'a') + std::string(500, 'b'));
}

TEST_F(PosixFileSystemDeathTest, AnOldKernelIsNamedAtOnce) {
  EXPECT_EXIT(
      {
        if (!refuse_system_call(SYS_openat2, ENOSYS)) ::_exit(1);
        ::_exit(FileSystem::posix(directory_.path().string()).failed_with(ErrorCode::kUnsupported)
                    ? 0
                    : 2);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace leat
