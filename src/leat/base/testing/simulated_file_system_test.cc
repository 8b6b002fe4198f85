#include "leat/base/testing/simulated_file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "leat/base/random.h"

namespace leat {
namespace {

using Calls = SimulatedFileSystem::Calls;
using Fault = SimulatedFileSystem::Fault;
using Unsynced = PowerCut::Unsynced;

constexpr std::size_t kSector = 512;
constexpr std::uint64_t kSeeds = 100;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string read(FileSystem& files, std::string_view path) {
  const auto bytes = files.read_file(path, 1 << 20);
  return bytes.ok() ? text_of(*bytes) : "<absent>";
}

std::unique_ptr<File> create(FileSystem& files, std::string_view path) {
  auto file = files.open(path, OpenMode::kCreate);
  EXPECT_TRUE(file.ok()) << file.error().message();
  return *std::move(file);
}

// A file that is on the disk, name and all.
void put(FileSystem& files, std::string_view path, std::string_view text) {
  const Status written = files.replace_file(path, bytes_of(text));
  ASSERT_TRUE(written.ok()) << written.error().message();
}

#define ASSERT_OK(expression) ASSERT_TRUE((expression).ok())

TEST(PowerCutOnBytes, KeepsWhatWasSynced) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SimulatedFileSystem files;
    const auto file = create(files, "file");
    ASSERT_OK(files.sync_directory("."));
    ASSERT_OK(file->write_at(0, bytes_of(std::string(2000, 'a'))));
    ASSERT_OK(file->write_at(100, bytes_of("bcd")));
    ASSERT_OK(file->resize(1500));
    ASSERT_OK(file->sync());
    files.power_cut(seed);
    std::string expected(1500, 'a');
    expected.replace(100, 3, "bcd");
    ASSERT_EQ(read(files, "file"), expected);
  }
}

TEST(PowerCutOnBytes, TheExtremes) {
  for (const Unsynced unsynced : {Unsynced::kLost, Unsynced::kKept}) {
    SimulatedFileSystem files;
    put(files, "file", "synced");
    const auto file = *files.open("file", OpenMode::kReadWrite);
    ASSERT_OK(file->write_at(0, bytes_of("SYNC")));
    ASSERT_OK(file->write_at(6, bytes_of(" more")));
    ASSERT_OK(files.set_mode("file", 0444));
    create(files, "new");
    files.power_cut(unsynced);
    const bool kept = unsynced == Unsynced::kKept;
    EXPECT_EQ(read(files, "file"), kept ? "SYNCed more" : "synced");
    EXPECT_EQ(files.status("file")->mode, kept ? 0444u : 0644u);
    EXPECT_EQ(files.paths().size(), kept ? 2u : 1u);
  }
}

std::string sector_of(const std::string& text, std::size_t index) {
  std::string sector =
      index * kSector < text.size() ? text.substr(index * kSector, kSector) : std::string();
  sector.resize(kSector, '\0');
  return sector;
}

// Whether the sector is one of those in `history`, but for bytes cut off behind some size.
bool held_once(const std::vector<std::string>& history, const std::string& left,
               std::size_t index) {
  const std::string sector = sector_of(left, index);
  for (const std::string& moment : history) {
    for (const std::string& other : history) {
      const std::size_t size = std::min({moment.size(), other.size(), left.size()});
      if (sector_of(moment.substr(0, size), index) == sector) return true;
    }
  }
  return false;
}

TEST(PowerCutOnBytes, EverySectorIsOneThatTheFileHeldSinceTheLastSync) {
  std::set<std::string> outcomes;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    SimulatedFileSystem files;
    put(files, "file", std::string(700, 'o'));
    const auto file = *files.open("file", OpenMode::kReadWrite);
    std::vector<std::string> history = {read(files, "file")};
    for (int step = 0; step < 12; ++step) {
      const std::uint64_t choice = random.uniform(8);
      if (choice == 0) {
        ASSERT_OK(file->sync());
        history.clear();
      } else if (choice == 1) {
        ASSERT_OK(file->resize(random.uniform(4000)));
      } else {
        const std::string text(1 + random.uniform(1500), static_cast<char>('a' + step));
        ASSERT_OK(file->write_at(random.uniform(3000), bytes_of(text)));
      }
      history.push_back(read(files, "file"));
    }
    files.power_cut(seed);
    const std::string left = read(files, "file");
    outcomes.insert(left);
    ASSERT_TRUE(std::ranges::any_of(
        history, [&](const std::string& moment) { return moment.size() == left.size(); }));
    for (std::size_t index = 0; index * kSector < left.size(); ++index) {
      ASSERT_TRUE(held_once(history, left, index)) << "seed " << seed << " sector " << index;
    }
  }
  EXPECT_GT(outcomes.size(), kSeeds / 2);
}

TEST(PowerCutOnBytes, TearsOnlyBetweenSectors) {
  int torn = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SimulatedFileSystem files;
    put(files, "file", std::string(8 * kSector, 'o'));
    const auto file = *files.open("file", OpenMode::kReadWrite);
    ASSERT_OK(file->write_at(0, bytes_of(std::string(8 * kSector, 'n'))));
    files.power_cut(seed);
    const std::string left = read(files, "file");
    ASSERT_EQ(left.size(), 8 * kSector);
    for (std::size_t index = 0; index < 8; ++index) {
      const std::string sector = sector_of(left, index);
      ASSERT_EQ(std::ranges::count(sector, sector[0]), std::ptrdiff_t{kSector});
    }
    if (left.find('o') != std::string::npos && left.find('n') != std::string::npos) ++torn;
  }
  EXPECT_GT(torn, 0);
}

TEST(PowerCutOnBytes, AFileMayHaveGrownAndHoldZeros) {
  bool seen = false;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SimulatedFileSystem files;
    const auto file = create(files, "file");
    ASSERT_OK(files.sync_directory("."));
    ASSERT_OK(file->write_at(0, bytes_of(std::string(kSector, 'x'))));
    files.power_cut(seed);
    seen = seen || read(files, "file") == std::string(kSector, '\0');
  }
  EXPECT_TRUE(seen);
}

TEST(PowerCutOnBytes, WhatWasTruncatedDoesNotShowAfterGrowing) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SimulatedFileSystem files;
    put(files, "file", std::string(4 * kSector, 'o'));
    const auto file = *files.open("file", OpenMode::kReadWrite);
    ASSERT_OK(file->resize(0));
    ASSERT_OK(file->write_at(7 * kSector, bytes_of("new")));
    files.power_cut(seed);
    const std::string left = read(files, "file");
    const bool grown = left.size() > 4 * kSector;
    ASSERT_FALSE(grown && left.find('o') != std::string::npos);
  }
}

TEST(PowerCutOnBytes, IsTheSameForTheSameSeed) {
  const auto run = [](std::uint64_t seed) {
    SimulatedFileSystem files;
    const auto file = create(files, "file");
    EXPECT_TRUE(files.sync_directory(".").ok());
    for (int step = 0; step < 20; ++step) {
      EXPECT_TRUE(
          file->write_at(static_cast<std::uint64_t>(step) * 700, bytes_of(std::string(900, 'x')))
              .ok());
    }
    files.power_cut(seed);
    return read(files, "file");
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(PowerCutOnNames, ASyncedFileIsGoneWithoutItsName) {
  SimulatedFileSystem files;
  const auto file = create(files, "file");
  ASSERT_OK(file->write_at(0, bytes_of("text")));
  ASSERT_OK(file->sync());
  files.power_cut(Unsynced::kLost);
  EXPECT_TRUE(files.paths().empty());
}

TEST(PowerCutOnNames, ANameIsAsDurableAsItsParents) {
  SimulatedFileSystem files;
  ASSERT_OK(files.make_directory("d"));
  put(files, "d/file", "text");
  files.power_cut(Unsynced::kLost);
  EXPECT_TRUE(files.status("d").failed_with(ErrorCode::kNotFound));

  ASSERT_OK(files.make_directories("d/e/f"));
  put(files, "d/e/f/file", "text");
  files.power_cut(Unsynced::kLost);
  EXPECT_EQ(read(files, "d/e/f/file"), "text");
}

TEST(PowerCutOnNames, ARemovedFileMayComeBack) {
  for (const Unsynced unsynced : {Unsynced::kLost, Unsynced::kKept}) {
    SimulatedFileSystem files;
    put(files, "file", "text");
    ASSERT_OK(files.remove_file("file"));
    files.power_cut(unsynced);
    EXPECT_EQ(read(files, "file"), unsynced == Unsynced::kLost ? "text" : "<absent>");
  }
  SimulatedFileSystem files;
  put(files, "file", "text");
  ASSERT_OK(files.remove_file("file"));
  ASSERT_OK(files.sync_directory("."));
  files.power_cut(Unsynced::kLost);
  EXPECT_EQ(read(files, "file"), "<absent>");
}

TEST(PowerCutOnNames, ARenameIsAtomic) {
  std::set<std::vector<std::string>> outcomes;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SimulatedFileSystem files;
    ASSERT_OK(files.make_directories("d"));
    put(files, "from", "text");
    put(files, "d/to", "other");
    ASSERT_OK(files.rename("from", "d/to", RenameMode::kReplace));
    files.power_cut(seed);
    outcomes.insert(files.paths());
    ASSERT_EQ(read(files, "d/to"), files.paths().size() == 2 ? "other" : "text");
  }
  EXPECT_EQ(outcomes.size(), 2u);
}

TEST(PowerCutOnNames, ARenameSyncedOnOneSide) {
  std::set<std::vector<std::string>> outcomes;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SimulatedFileSystem files;
    ASSERT_OK(files.make_directories("a"));
    ASSERT_OK(files.make_directories("b"));
    put(files, "a/x", "text");
    ASSERT_OK(files.rename("a/x", "b/x", RenameMode::kReplace));
    ASSERT_OK(files.sync_directory("b"));
    files.power_cut(seed);
    outcomes.insert(files.paths());
    ASSERT_EQ(read(files, "b/x"), "text");
  }
  EXPECT_EQ(outcomes, (std::set<std::vector<std::string>>{{"a/x", "b/x"}, {"b/x"}}));

  SimulatedFileSystem files;
  ASSERT_OK(files.make_directories("a"));
  put(files, "a/x", "text");
  ASSERT_OK(files.make_directory("b"));
  ASSERT_OK(files.rename("a/x", "b/x", RenameMode::kReplace));
  ASSERT_OK(files.sync_directory("a"));  // the old name must not go without the new one
  files.power_cut(Unsynced::kLost);
  EXPECT_EQ(files.paths(), std::vector<std::string>{"b/x"});
}

TEST(PowerCutOnNames, ANewFileUnderAnOldNameDoesNotCostTheRenamedOne) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SimulatedFileSystem files;
    put(files, "log", "old");
    ASSERT_OK(files.rename("log", "log.1", RenameMode::kReplace));
    create(files, "log");
    files.power_cut(seed);
    ASSERT_EQ(read(files, files.status("log.1").ok() ? "log.1" : "log"), "old");
  }
}

// A random step that removes and replaces no file.
void shuffle_names(SimulatedFileSystem& files, Random& random) {
  const std::vector<std::string> directories = {"a", "b", "a/c", "b/c", "a/c/d", "b/c/d"};
  const auto directory = [&] { return directories[random.uniform(directories.size())]; };
  const std::vector<std::string> paths = files.paths();
  const std::string& file = paths[random.uniform(paths.size())];
  const std::string name = std::to_string(random.uniform(4));
  // Most are refused, for what is missing, in the way or inside itself: that is part of the test.
  switch (random.uniform(6)) {
    case 0:
      (void)files.make_directory(directory());
      return;
    case 1:
      (void)files.remove_directory(directory());
      return;
    case 2:
      (void)files.rename(directory(), directory(), RenameMode::kReplace);
      return;
    case 3:
      (void)files.sync_directory(random.uniform(3) == 0 ? "." : directory());
      return;
    default:
      (void)files.rename(file, directory() + "/" + name, RenameMode::kKeepExisting);
  }
}

TEST(PowerCutOnNames, NoFileIsLostByMovingItAbout) {
  for (std::uint64_t seed = 0; seed < 5 * kSeeds; ++seed) {
    Random random(seed);
    SimulatedFileSystem files;
    std::set<std::string> expected;
    for (int file = 0; file < 5; ++file) {
      const std::string text = "file " + std::to_string(file);
      put(files, text, text);
      expected.insert(text);
    }
    for (int step = 0; step < 60; ++step) shuffle_names(files, random);
    files.power_cut(seed);
    std::set<std::string> found;
    for (const std::string& path : files.paths()) found.insert(read(files, path));
    ASSERT_EQ(found, expected) << "seed " << seed;
  }
}

TEST(PowerCut, ReplaceFileLeavesTheOldOrTheNewAtEveryCall) {
  for (std::uint64_t n = 0;; ++n) {
    bool finished = false;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      SimulatedFileSystem files;
      put(files, "file", "old");
      files.cut_at_call(files.calls() + n);
      finished = files.replace_file("file", bytes_of(std::string(3000, 'n'))).ok();
      files.power_cut(seed);
      const std::string left = read(files, "file");
      ASSERT_TRUE(left == std::string(3000, 'n') || (!finished && left == "old")) << "call " << n;
    }
    if (finished) break;
  }
}

TEST(PowerCut, ClosesHandlesAndReleasesLocks) {
  SimulatedFileSystem files;
  put(files, "file", "text");
  const auto file = *files.open("file", OpenMode::kReadWrite);
  const auto lock = *files.try_lock("file");
  files.power_cut(7);
  std::vector<std::byte> target(4);
  EXPECT_TRUE(file->read_at(0, target).failed_with(ErrorCode::kIoError));
  EXPECT_TRUE(file->write_at(0, bytes_of("x")).failed_with(ErrorCode::kIoError));
  EXPECT_TRUE(file->resize(0).failed_with(ErrorCode::kIoError));
  EXPECT_TRUE(file->sync().failed_with(ErrorCode::kIoError));
  EXPECT_TRUE(file->status().failed_with(ErrorCode::kIoError));
  auto again = files.try_lock("file");
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(files.try_lock("file").failed_with(ErrorCode::kBusy));
  EXPECT_EQ(read(files, "file"), "text");
}

TEST(PowerCut, AnOldLockDoesNotReleaseANewOne) {
  SimulatedFileSystem files;
  put(files, "file", "text");
  auto old_lock = *files.try_lock("file");
  files.power_cut(7);
  const auto new_lock = *files.try_lock("file");
  old_lock.reset();
  EXPECT_TRUE(files.try_lock("file").failed_with(ErrorCode::kBusy));
}

TEST(CutAtCall, EverythingFailsUntilThePowerIsBack) {
  SimulatedFileSystem files;
  put(files, "file", "text");
  const auto file = *files.open("file", OpenMode::kReadWrite);
  files.cut_at_call(files.calls() + 1);
  std::vector<std::byte> target(4);
  EXPECT_TRUE(file->write_at(0, bytes_of("T")).ok());
  EXPECT_TRUE(file->read_at(0, target).ok());
  EXPECT_TRUE(file->write_at(0, bytes_of("U")).failed_with(ErrorCode::kIoError));
  EXPECT_TRUE(file->read_at(0, target).failed_with(ErrorCode::kIoError));
  EXPECT_TRUE(files.status("file").failed_with(ErrorCode::kIoError));
  EXPECT_TRUE(files.sync_directory(".").failed_with(ErrorCode::kIoError));
  EXPECT_EQ(files.failed_calls(), 0u);
  files.power_cut(Unsynced::kKept);
  EXPECT_EQ(read(files, "file"), "Text");
}

TEST(FailCall, NumbersMutatingCallsOrAll) {
  SimulatedFileSystem files;
  put(files, "file", "text");
  const std::uint64_t mutating = files.calls();
  const std::uint64_t any = files.calls(Calls::kAny);
  ASSERT_OK(files.status("file"));
  EXPECT_EQ(files.calls(), mutating);
  EXPECT_EQ(files.calls(Calls::kAny), any + 1);

  files.fail_call(mutating, {});
  ASSERT_OK(files.status("file"));
  EXPECT_TRUE(files.make_directory("d").failed_with(ErrorCode::kIoError));
  EXPECT_TRUE(files.make_directory("d").ok());
  EXPECT_EQ(files.failed_calls(), 1u);

  files.fail_call(files.calls(Calls::kAny) + 1, {.counted = Calls::kAny});
  ASSERT_OK(files.status("file"));
  EXPECT_TRUE(files.status("file").failed_with(ErrorCode::kIoError));
  ASSERT_OK(files.status("file"));
}

TEST(FailCall, LastsUntilCleared) {
  SimulatedFileSystem files;
  files.fail_call(0, {.lasts = Fault::Lasts::kForever});
  EXPECT_TRUE(files.make_directory("d").failed_with(ErrorCode::kIoError));
  EXPECT_TRUE(files.make_directory("d").failed_with(ErrorCode::kIoError));
  files.clear_faults();
  EXPECT_TRUE(files.make_directory("d").ok());
  files.fail_call(0, {.lasts = Fault::Lasts::kForever});
  files.power_cut(0);
  EXPECT_TRUE(files.make_directory("e").ok());
}

TEST(FailCall, AFullDiskStillReadsAndRemoves) {
  SimulatedFileSystem files;
  put(files, "file", "text");
  const auto file = *files.open("file", OpenMode::kReadWrite);
  files.fail_call(0, {.kind = Fault::Kind::kNoSpace, .lasts = Fault::Lasts::kForever});
  EXPECT_TRUE(file->write_at(4, bytes_of("ure")).failed_with(ErrorCode::kNoSpace));
  EXPECT_TRUE(files.make_directory("d").failed_with(ErrorCode::kNoSpace));
  EXPECT_TRUE(files.open("new", OpenMode::kCreate).failed_with(ErrorCode::kNoSpace));
  EXPECT_TRUE(file->sync().ok());
  EXPECT_TRUE(files.remove_file("file").ok());
  EXPECT_TRUE(files.sync_directory(".").ok());
}

TEST(FailCall, AShortWriteLeavesItsFirstHalf) {
  SimulatedFileSystem files;
  files.fail_call(0, {.kind = Fault::Kind::kShortWrite});
  const auto file = create(files, "file");
  EXPECT_TRUE(file->write_at(0, bytes_of("0123456789")).failed_with(ErrorCode::kIoError));
  EXPECT_EQ(read(files, "file"), "01234");
  EXPECT_TRUE(file->write_at(0, bytes_of("0123456789")).ok());
}

TEST(FailCall, ReplaceFileSurvivesEveryFault) {
  for (const auto kind : {Fault::Kind::kIoError, Fault::Kind::kNoSpace, Fault::Kind::kShortWrite}) {
    for (const auto lasts : {Fault::Lasts::kOnce, Fault::Lasts::kForever}) {
      for (std::uint64_t n = 0;; ++n) {
        SimulatedFileSystem files;
        put(files, "file", "old");
        files.fail_call(files.calls(Calls::kAny) + n,
                        {.kind = kind, .lasts = lasts, .counted = Calls::kAny});
        const bool replaced = files.replace_file("file", bytes_of("new")).ok();
        const bool failed = files.failed_calls() > 0;
        EXPECT_EQ(replaced, !failed);
        files.power_cut(n);
        const std::string left = read(files, "file");
        EXPECT_TRUE(left == "new" || (!replaced && left == "old")) << left;
        if (!failed) break;
      }
    }
  }
}

TEST(FailedSync, IsNotMadeGoodByALaterOne) {
  for (const Unsynced unsynced : {Unsynced::kLost, Unsynced::kKept}) {
    SimulatedFileSystem files;
    put(files, "file", std::string(3 * kSector, 'o'));
    const auto file = *files.open("file", OpenMode::kReadWrite);
    ASSERT_OK(file->write_at(0, bytes_of(std::string(2 * kSector, 'n'))));
    files.fail_call(files.calls(), {});
    EXPECT_TRUE(file->sync().failed_with(ErrorCode::kIoError));
    EXPECT_EQ(read(files, "file")[0], 'n');  // readers still see it
    // Only what is written again is carried over: the second sector.
    ASSERT_OK(file->write_at(kSector, bytes_of("x")));
    ASSERT_OK(file->sync());
    files.power_cut(unsynced);
    const std::string left = read(files, "file");
    EXPECT_EQ(left[0], unsynced == Unsynced::kLost ? 'o' : 'n');
    EXPECT_EQ(left.substr(kSector, 2), "xn");
    EXPECT_EQ(left[2 * kSector], 'o');
  }
}

TEST(FailedSync, LeavesNoStaleSectorsBehindATruncation) {
  SimulatedFileSystem files;
  put(files, "file", std::string(2 * kSector, 'o'));
  const auto file = *files.open("file", OpenMode::kReadWrite);
  ASSERT_OK(file->write_at(0, bytes_of(std::string(2 * kSector, 'n'))));
  files.fail_call(files.calls(), {});
  EXPECT_FALSE(file->sync().ok());
  ASSERT_OK(file->resize(0));
  ASSERT_OK(file->resize(2 * kSector));
  ASSERT_OK(file->sync());
  files.power_cut(Unsynced::kKept);
  EXPECT_EQ(read(files, "file"), std::string(2 * kSector, '\0'));
}

TEST(FailedSync, OfADirectoryLeavesItsNamesInDoubt) {
  std::set<std::size_t> outcomes;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SimulatedFileSystem files;
    create(files, "file");
    files.fail_call(files.calls(), {});
    EXPECT_FALSE(files.sync_directory(".").ok());
    ASSERT_OK(files.sync_directory("."));
    files.power_cut(seed);
    outcomes.insert(files.paths().size());
  }
  EXPECT_EQ(outcomes, (std::set<std::size_t>{0, 1}));
}

TEST(Disk, CanBeReadAndDamaged) {
  SimulatedFileSystem files;
  put(files, "file", "0123456789");
  const auto file = *files.open("file", OpenMode::kReadWrite);
  ASSERT_OK(file->write_at(0, bytes_of("unsynced")));
  const std::uint64_t calls = files.calls(Calls::kAny);
  EXPECT_EQ(text_of(*files.disk_bytes("file")), "0123456789");
  files.power_cut(Unsynced::kLost);
  ASSERT_OK(files.overwrite_disk("file", 3, bytes_of("#")));
  ASSERT_OK(files.truncate_disk("file", 6));
  EXPECT_EQ(files.calls(Calls::kAny), calls);
  EXPECT_EQ(read(files, "file"), "012#45");
  files.power_cut(Unsynced::kLost);
  EXPECT_EQ(read(files, "file"), "012#45");
  EXPECT_TRUE(files.disk_bytes("absent").failed_with(ErrorCode::kNotFound));
}

TEST(View, SharesTheDisk) {
  SimulatedFileSystem files;
  ASSERT_OK(files.make_directories("drive"));
  const auto drive = files.view("drive");
  put(*drive, "file", "text");
  EXPECT_EQ(files.paths(), std::vector<std::string>{"drive/file"});
  EXPECT_EQ(drive->paths(), std::vector<std::string>{"file"});
  EXPECT_TRUE(drive->remove_directory(".").failed_with(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(drive->status("../drive").failed_with(ErrorCode::kInvalidArgument));
  files.fail_call(files.calls(), {});
  EXPECT_FALSE(drive->make_directory("d").ok());
  const auto file = *drive->open("file", OpenMode::kReadWrite);
  files.power_cut(1);
  EXPECT_FALSE(file->sync().ok());
  EXPECT_EQ(read(*drive, "file"), "text");
}

TEST(Simulation, AReadOnlyFileDoesNotOpenForWriting) {
  SimulatedFileSystem files;
  put(files, "file", "text");
  ASSERT_OK(files.set_mode("file", 0444));
  EXPECT_TRUE(files.open("file", OpenMode::kReadWrite).failed_with(ErrorCode::kPermissionDenied));
  EXPECT_TRUE(files.open("file", OpenMode::kRead).ok());
}

TEST(Simulation, HugeSparseFilesCostNothing) {
  SimulatedFileSystem files;
  const auto file = create(files, "file");
  ASSERT_OK(file->resize(std::uint64_t{1} << 40));
  ASSERT_OK(file->write_at((std::uint64_t{1} << 40) - 1, bytes_of("x")));
  ASSERT_OK(file->sync());
  EXPECT_EQ(file->status()->allocated_bytes, kSector);
  EXPECT_TRUE(file->resize(std::uint64_t{1} << 60).failed_with(ErrorCode::kTooLarge));
}

TEST(Simulation, DirectoriesThatContainEachOtherInTurnAreFreed) {
  SimulatedFileSystem files;
  ASSERT_OK(files.make_directories("b/a"));
  ASSERT_OK(files.rename("b/a", "a", RenameMode::kReplace));
  ASSERT_OK(files.rename("b", "a/b", RenameMode::kReplace));
}

TEST(Simulation, ThreadsAndPowerCuts) {
  SimulatedFileSystem files;
  constexpr int kThreads = 3;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&files, thread] {
      const std::string path = "file" + std::to_string(thread);
      for (int round = 0; round < 100; ++round) {
        // Fails whenever a cut comes in between; what counts is that nothing races.
        (void)files.replace_file(path, bytes_of("text"));
        (void)files.read_file(path, 100);
      }
    });
  }
  for (std::uint64_t seed = 0; seed < 50; ++seed) files.power_cut(seed);
  for (std::thread& thread : threads) thread.join();
  for (const std::string& path : files.paths()) {
    EXPECT_TRUE(path.ends_with(".new") || read(files, path) == "text") << path;
  }
}

}  // namespace
}  // namespace leat
