#include "leat/local/run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leat/base/random.h"
#include "leat/base/testing/simulated_file_system.h"

namespace leat::local {
namespace {

using Entries = std::map<std::string, CatalogueEntry>;

void expect_equal(const CatalogueEntry& a, const CatalogueEntry& b) {
  EXPECT_EQ(a.generation, b.generation);
  EXPECT_EQ(a.place.bits(), b.place.bits());
  EXPECT_EQ(a.previous.bits(), b.previous.bits());
  EXPECT_EQ(a.size_bytes, b.size_bytes);
  EXPECT_EQ(a.mtime_ns, b.mtime_ns);
  EXPECT_EQ(a.crc32c, b.crc32c);
  EXPECT_EQ(a.flags, b.flags);
  EXPECT_EQ(a.etag, b.etag);
}

CatalogueEntry random_entry(Random& random) {
  CatalogueEntry entry;
  entry.generation = random.next() >> random.uniform(64);
  entry.size_bytes = random.next() >> random.uniform(64);
  entry.mtime_ns = static_cast<std::int64_t>(random.next());
  entry.crc32c = static_cast<std::uint32_t>(random.next());
  entry.flags = static_cast<std::uint8_t>(random.uniform(4));
  const auto place = [&] {
    return Place({1 + static_cast<std::uint32_t>(random.uniform(kMaxPacks)),
                  static_cast<std::uint32_t>(random.uniform(1 << 22))},
                 random.uniform(1 << 22), random.uniform(2));
  };
  entry.place = place();
  if (random.uniform(4) == 0) entry.previous = place();
  if (random.uniform(8) == 0 && entry.previous.bits() != 0) entry.place = Place();
  if (random.uniform(4) == 0) entry.etag = std::string(random.uniform(50), 'e');
  return entry;
}

Entries random_entries(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  Entries entries;
  while (entries.size() < count) {
    std::string key = fmt::format("bucket/{}/{}", random.uniform(20), random.uniform(1'000'000));
    if (random.uniform(100) == 0) key += std::string(random.uniform(1000), '\xff');
    entries.emplace(std::move(key), random_entry(random));
  }
  return entries;
}

void write_run(FileSystem& files, const std::string& path, const Entries& entries) {
  auto writer = RunWriter::create(files, path);
  ASSERT_TRUE(writer.ok());
  for (const auto& [key, entry] : entries) ASSERT_TRUE(writer->add(key, entry).ok());
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_EQ(writer->entry_count(), entries.size());
}

// Walks everything; the first error ends it.
Result<Entries> read_all(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(auto run, Run::open(files, path));
  Entries entries;
  RunCursor cursor(run);
  RETURN_IF_ERROR(cursor.seek(""));
  std::string last;
  while (cursor.valid()) {
    EXPECT_TRUE(entries.empty() || last < cursor.key());
    last = cursor.key();
    entries.emplace(last, cursor.entry());
    RETURN_IF_ERROR(cursor.next());
  }
  return entries;
}

using Places = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Status read_places(FileSystem& files, const std::string& path, Places& replaced, Places& present) {
  ASSIGN_OR_RETURN(auto run, Run::open(files, path));
  const auto into = [](Places& places) {
    return [&places](std::uint64_t hash, Place place) {
      places.emplace_back(hash, place.bits());
      return ok_status();
    };
  };
  return run->for_each_place(into(replaced), into(present));
}

TEST(Run, AnEmptyOneIsWholeAndEmpty) {
  SimulatedFileSystem files;
  write_run(files, "r", {});
  const auto entries = read_all(files, "r");
  ASSERT_TRUE(entries.ok()) << entries.error().message();
  EXPECT_TRUE(entries->empty());
}

TEST(Run, GivesBackWhatWasAdded) {
  for (const std::size_t count : {1u, 2u, 300u, 5'000u}) {
    SimulatedFileSystem files;
    const Entries entries = random_entries(count, count);
    write_run(files, "r", entries);
    const auto read = read_all(files, "r");
    ASSERT_TRUE(read.ok()) << read.error().message();
    ASSERT_EQ(read->size(), entries.size());
    auto it = read->begin();
    for (const auto& [key, entry] : entries) {
      EXPECT_EQ(it->first, key);
      expect_equal(it->second, entry);
      ++it;
    }
  }
}

TEST(Run, ForgetsWhatWasVerified) {
  SimulatedFileSystem files;
  CatalogueEntry entry;
  entry.place = Place({1, 2}, 512, 0).verified();
  entry.previous = Place({1, 1}, 512, 0).verified();
  write_run(files, "r", {{"b/k", entry}});
  const auto read = read_all(files, "r");
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->at("b/k").place.is_verified());
  EXPECT_FALSE(read->at("b/k").previous.is_verified());
}

TEST(Run, SeeksToTheFirstKeyNotBefore) {
  SimulatedFileSystem files;
  const Entries entries = random_entries(7, 3'000);
  write_run(files, "r", entries);
  const auto run = Run::open(files, "r");
  ASSERT_TRUE(run.ok());
  EXPECT_EQ((*run)->entry_count(), entries.size());
  RunCursor cursor(*run);
  Random random(8);
  for (int i = 0; i < 500; ++i) {
    std::string wanted =
        std::next(entries.begin(), static_cast<std::ptrdiff_t>(random.uniform(entries.size())))
            ->first;
    if (i % 3 == 1) wanted += '\0';
    if (i % 3 == 2) wanted.pop_back();
    ASSERT_TRUE(cursor.seek(wanted).ok());
    const auto expected = entries.lower_bound(wanted);
    ASSERT_EQ(cursor.valid(), expected != entries.end());
    if (cursor.valid()) {
      EXPECT_EQ(cursor.key(), expected->first);
    }
  }
  ASSERT_TRUE(cursor.seek("zzz").ok());
  EXPECT_FALSE(cursor.valid());
}

TEST(Run, TellsThePlacesOfItsEntries) {
  SimulatedFileSystem files;
  const Entries entries = random_entries(9, 2'000);
  write_run(files, "r", entries);
  Places replaced, present, expected_replaced, expected_present;
  ASSERT_TRUE(read_places(files, "r", replaced, present).ok());
  for (const auto& [key, entry] : entries) {
    if (entry.previous.bits() != 0) {
      expected_replaced.emplace_back(hash_key(key), entry.previous.bits());
    }
    if (!entry.is_forgotten()) expected_present.emplace_back(hash_key(key), entry.place.bits());
  }
  EXPECT_EQ(replaced, expected_replaced);
  EXPECT_EQ(present, expected_present);
}

TEST(Run, TheHashOfKeysIsFixed) {
  EXPECT_EQ(hash_key("bucket/name"), 0x4f3bd94b425d0f60u);
}

TEST(Run, EveryFlippedByteIsFound) {
  SimulatedFileSystem files;
  write_run(files, "r", random_entries(10, 40));
  const auto whole = files.disk_bytes("r");
  ASSERT_TRUE(whole.ok());
  for (std::size_t i = 0; i < whole->size(); ++i) {
    const std::byte flipped = (*whole)[i] ^ std::byte{0x40};
    ASSERT_TRUE(files.overwrite_disk("r", i, std::span(&flipped, 1)).ok());
    Places replaced, present;
    const auto entries = read_all(files, "r");
    const auto places = read_places(files, "r", replaced, present);
    EXPECT_FALSE(entries.ok() && places.ok()) << i;
    if (!entries.ok()) {
      EXPECT_EQ(entries.error().code(), ErrorCode::kCorrupted) << i;
    }
    if (!places.ok()) {
      EXPECT_EQ(places.error().code(), ErrorCode::kCorrupted) << i;
    }
    ASSERT_TRUE(files.overwrite_disk("r", i, std::span(&(*whole)[i], 1)).ok());
  }
  for (std::size_t length = whole->size(); length-- > 0;) {
    ASSERT_TRUE(files.truncate_disk("r", length).ok());
    EXPECT_TRUE(Run::open(files, "r").failed_with(ErrorCode::kCorrupted)) << length;
  }
}

TEST(Run, AFailedReadIsNotCalledDamage) {
  SimulatedFileSystem files;
  write_run(files, "r", random_entries(11, 40));
  using Calls = SimulatedFileSystem::Calls;
  for (std::uint64_t n = 0;; ++n) {
    files.clear_faults();
    const std::uint64_t before = files.failed_calls();
    files.fail_call(files.calls(Calls::kAny) + n, {.counted = Calls::kAny});
    Places replaced, present;
    const auto entries = read_all(files, "r");
    const auto places = read_places(files, "r", replaced, present);
    if (files.failed_calls() == before) {
      EXPECT_TRUE(entries.ok() && places.ok());
      break;
    }
    EXPECT_TRUE(entries.failed_with(ErrorCode::kIoError) ||
                places.failed_with(ErrorCode::kIoError));
  }
}

TEST(Run, AFailedWriteIsTold) {
  for (std::uint64_t n = 0;; ++n) {
    SimulatedFileSystem files;
    files.fail_call(n, {});
    auto writer = RunWriter::create(files, "r");
    const auto write = [&]() -> Status {
      if (!writer.ok()) return writer.error();
      for (const auto& [key, entry] : random_entries(12, 20)) {
        RETURN_IF_ERROR(writer->add(key, entry));
      }
      return writer->finish();
    };
    const bool is_written = write().ok();
    EXPECT_EQ(is_written, files.failed_calls() == 0);
    if (files.failed_calls() == 0) break;
  }
}

}  // namespace
}  // namespace leat::local
