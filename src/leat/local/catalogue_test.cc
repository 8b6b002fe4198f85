#include "leat/local/catalogue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "leat/base/random.h"
#include "leat/base/testing/simulated_file_system.h"
#include "leat/local/layout.h"

namespace leat::local {
namespace {

constexpr std::string_view kManifest = "catalogue/manifest";

// A catalogue and what it must hold: the place of each key, as the drive's table knows it.
class ModelledCatalogue {
 public:
  explicit ModelledCatalogue(FileSystem& files) : files_(files) {
    auto created = Catalogue::create(files, {});
    EXPECT_TRUE(created.ok());
    catalogue_ = *std::move(created);
  }

  Catalogue& operator*() { return *catalogue_; }

  void put(const std::string& key) {
    CatalogueEntry entry;
    entry.generation = ++generation_;
    entry.place = Place({1, static_cast<std::uint32_t>(generation_)}, 512, 0);
    replace(key, entry);
    model_[key] = entry.place;
  }
  void forget(const std::string& key) {
    CatalogueEntry entry;
    entry.generation = ++generation_;
    replace(key, entry);
    model_.erase(key);
  }
  Status flush() { return catalogue_->flush({1, static_cast<std::uint32_t>(generation_)}); }

  // Throws away what is in memory, which is what the log would bring back.
  void reopen() {
    ASSERT_TRUE(flush().ok());
    NameTable table;
    auto opened = Catalogue::open(files_, {}, table);
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    catalogue_ = *std::move(opened);
    EXPECT_EQ(catalogue_->checkpoint(), (Location{1, static_cast<std::uint32_t>(generation_)}));
    ASSERT_EQ(table.size(), model_.size());
    for (const auto& [key, place] : model_) {
      const auto matches = table.find(hash_key(key));
      ASSERT_EQ(matches.size(), 1u) << key;
      EXPECT_EQ(matches.begin()->bits(), place.bits());
    }
  }

  void expect_listing() {
    std::map<std::string, std::uint64_t> listed;
    const auto cursor = catalogue_->cursor();
    ASSERT_TRUE(cursor->seek("").ok());
    std::string last;
    while (cursor->valid()) {
      EXPECT_TRUE(last.empty() || last < cursor->key());
      last = cursor->key();
      if (cursor->entry().is_visible()) listed.emplace(last, cursor->entry().place.bits());
      ASSERT_TRUE(cursor->next().ok());
    }
    ASSERT_EQ(listed.size(), model_.size());
    for (const auto& [key, place] : model_) EXPECT_EQ(listed.at(key), place.bits()) << key;
  }

 private:
  void replace(const std::string& key, CatalogueEntry entry) {
    const auto it = model_.find(key);
    if (it != model_.end()) entry.previous = it->second;
    catalogue_->put(key, entry);
  }

  FileSystem& files_;
  std::unique_ptr<Catalogue> catalogue_;
  std::map<std::string, Place> model_;
  std::uint64_t generation_ = 0;
};

TEST(Catalogue, BehavesAsItsModel) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SimulatedFileSystem files;
    ModelledCatalogue catalogue(files);
    Random random(seed);
    const std::uint64_t keys = 1 + random.uniform(400);
    for (int step = 0; step < 2'000; ++step) {
      const std::string key = fmt::format("b/{:04}", random.uniform(keys));
      const std::uint64_t action = random.uniform(100);
      if (action < 60) catalogue.put(key);
      if (action >= 60 && action < 90) catalogue.forget(key);
      if (action >= 90 && action < 95) {
        ASSERT_TRUE(catalogue.flush().ok());
      }
      if (action >= 95 && action < 98) {
        ASSERT_TRUE((*catalogue).merge().ok());
      }
      if (action == 98) catalogue.reopen();
      if (action == 99) catalogue.expect_listing();
    }
    catalogue.expect_listing();
    catalogue.reopen();
    catalogue.expect_listing();
  }
}

TEST(Catalogue, KeepsFewRuns) {
  SimulatedFileSystem files;
  ModelledCatalogue catalogue(files);
  for (int flush = 0; flush < 100; ++flush) {
    for (int i = 0; i < 20; ++i) catalogue.put(fmt::format("b/{:05}", flush * 20 + i));
    ASSERT_TRUE(catalogue.flush().ok());
    for (;;) {
      const auto merged = (*catalogue).merge();
      ASSERT_TRUE(merged.ok());
      if (!*merged) break;
    }
    EXPECT_LE(files.paths().size(), 8u);
  }
  catalogue.reopen();
  catalogue.expect_listing();
}

TEST(Catalogue, SeeksIntoTheMiddle) {
  SimulatedFileSystem files;
  ModelledCatalogue catalogue(files);
  for (int i = 0; i < 1'000; i += 2) catalogue.put(fmt::format("b/{:04}", i));
  ASSERT_TRUE(catalogue.flush().ok());
  for (int i = 1; i < 1'000; i += 2) catalogue.put(fmt::format("b/{:04}", i));
  const auto cursor = (*catalogue).cursor();
  for (int i = 0; i < 1'000; i += 37) {
    ASSERT_TRUE(cursor->seek(fmt::format("b/{:04}", i)).ok());
    for (int j = i; j < std::min(1'000, i + 5); ++j) {
      ASSERT_TRUE(cursor->valid());
      EXPECT_EQ(cursor->key(), fmt::format("b/{:04}", j));
      ASSERT_TRUE(cursor->next().ok());
    }
  }
  ASSERT_TRUE(cursor->seek("c").ok());
  EXPECT_FALSE(cursor->valid());
}

TEST(Catalogue, AWalkNeverLosesAKeyThatStays) {
  SimulatedFileSystem files;
  ModelledCatalogue catalogue(files);
  constexpr int kStable = 1'000;
  for (int i = 0; i < kStable; ++i) catalogue.put(fmt::format("b/{:04}", i));
  std::atomic<bool> is_over{false};
  std::jthread writer([&] {
    Random random(1);
    while (!is_over) {
      // Keys between the stable ones come and go, and the stable ones are written again.
      const std::string key = fmt::format("b/{:04}", random.uniform(kStable));
      catalogue.put(key);
      if (random.uniform(2) == 0) catalogue.put(key + "x");
      if (random.uniform(2) == 0) catalogue.forget(key + "x");
      if (random.uniform(100) == 0) {
        EXPECT_TRUE(catalogue.flush().ok());
      }
      if (random.uniform(200) == 0) {
        EXPECT_TRUE((*catalogue).merge().ok());
      }
    }
  });
  for (int walk = 0; walk < 50; ++walk) {
    const auto cursor = (*catalogue).cursor();
    ASSERT_TRUE(cursor->seek("").ok());
    int next = 0;
    std::string last;
    while (cursor->valid()) {
      EXPECT_LT(last, cursor->key());
      last = cursor->key();
      if (last.size() == 6) {
        EXPECT_EQ(last, fmt::format("b/{:04}", next));
        EXPECT_TRUE(cursor->entry().is_visible());
        ++next;
      }
      ASSERT_TRUE(cursor->next().ok());
    }
    EXPECT_EQ(next, kStable);
  }
  is_over = true;
  writer.join();
  catalogue.expect_listing();
  catalogue.reopen();
}

TEST(Catalogue, DamageIsFoundWhenItIsOpenedOrWalked) {
  SimulatedFileSystem files;
  ModelledCatalogue catalogue(files);
  for (int i = 0; i < 30; ++i) catalogue.put(fmt::format("b/{}", i));
  ASSERT_TRUE(catalogue.flush().ok());
  for (const std::string& path : files.paths()) {
    const auto whole = files.disk_bytes(path);
    ASSERT_TRUE(whole.ok());
    for (std::size_t i = 0; i < whole->size(); ++i) {
      const std::byte flipped = (*whole)[i] ^ std::byte{0x08};
      ASSERT_TRUE(files.overwrite_disk(path, i, std::span(&flipped, 1)).ok());
      NameTable table;
      const auto opened = Catalogue::open(files, {}, table);
      if (opened.ok()) {
        const auto cursor = (*opened)->cursor();
        Status status = cursor->seek("");
        while (status.ok() && cursor->valid()) status = cursor->next();
        EXPECT_TRUE(status.failed_with(ErrorCode::kCorrupted)) << path << " " << i;
      } else {
        EXPECT_EQ(opened.error().code(), ErrorCode::kCorrupted) << path << " " << i;
      }
      ASSERT_TRUE(files.overwrite_disk(path, i, std::span(&(*whole)[i], 1)).ok());
    }
  }
}

TEST(Catalogue, WhatIsMissingMustBeRebuilt) {
  SimulatedFileSystem files;
  NameTable table;
  EXPECT_TRUE(Catalogue::open(files, {}, table).failed_with(ErrorCode::kNotFound));
  ModelledCatalogue catalogue(files);
  catalogue.put("b/k");
  ASSERT_TRUE(catalogue.flush().ok());
  ASSERT_TRUE(files.remove_file("catalogue/00000001.run").ok());
  EXPECT_TRUE(Catalogue::open(files, {}, table).failed_with(ErrorCode::kNotFound));
  const std::vector<std::byte> large((1 << 20) + 1);
  ASSERT_TRUE(files.replace_file(kManifest, large).ok());
  EXPECT_TRUE(Catalogue::open(files, {}, table).failed_with(ErrorCode::kCorrupted));
  ASSERT_TRUE(Catalogue::create(files, {}).ok());
  EXPECT_TRUE(files.paths().empty());
}

TEST(Catalogue, AFailedCallLosesNothingAndLeavesNoLitter) {
  for (std::uint64_t n = 0;; ++n) {
    SimulatedFileSystem files;
    ModelledCatalogue catalogue(files);
    for (int i = 0; i < 20; ++i) catalogue.put(fmt::format("b/{}", i));
    ASSERT_TRUE(catalogue.flush().ok());
    for (int i = 0; i < 20; i += 2) catalogue.forget(fmt::format("b/{}", i));
    files.fail_call(files.calls() + n, {});
    (void)catalogue.flush();
    for (int i = 0; i < 20; i += 3) catalogue.put(fmt::format("b/{}", i));
    (void)(*catalogue).merge();
    const bool is_over = files.failed_calls() == 0;
    files.clear_faults();
    catalogue.expect_listing();
    ASSERT_TRUE(catalogue.flush().ok());
    catalogue.reopen();
    catalogue.expect_listing();
    ASSERT_TRUE((*catalogue).merge().ok());
    catalogue.put("b/more");
    catalogue.reopen();
    EXPECT_LE(files.paths().size(), 5u);
    if (is_over) break;
  }
}

TEST(Catalogue, APowerCutLeavesOneThatIsRightOrNone) {
  for (std::uint64_t n = 0;; ++n) {
    bool is_over = false;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SimulatedFileSystem files;
      ModelledCatalogue catalogue(files);
      for (int i = 0; i < 20; ++i) catalogue.put(fmt::format("b/{}", i));
      ASSERT_TRUE(catalogue.flush().ok());
      files.cut_at_call(files.calls() + n);
      catalogue.put("b/new");
      is_over = catalogue.flush().ok() && (*catalogue).merge().ok();
      files.power_cut(seed);
      NameTable table;
      const auto opened = Catalogue::open(files, {}, table);
      if (!opened.ok()) {
        EXPECT_TRUE(opened.failed_with(ErrorCode::kNotFound) ||
                    opened.failed_with(ErrorCode::kCorrupted));
        EXPECT_FALSE(is_over);
        continue;
      }
      const bool has_new = (*opened)->checkpoint().block == 21;
      EXPECT_EQ(table.size(), has_new ? 21u : 20u);
      EXPECT_TRUE(has_new || !is_over);
    }
    if (is_over) break;
  }
}

}  // namespace
}  // namespace leat::local
