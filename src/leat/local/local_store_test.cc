// The local store as users see it: the contract, buckets, restarts, drives.
#include "leat/local/local_store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>

#include "leat/base/random.h"
#include "leat/local/testing/local_fixture.h"
#include "leat/store/testing/contract.h"

namespace leat::local {
namespace {

using leat::testing::bytes_of;
using leat::testing::ContractSubject;
using leat::testing::pattern_bytes;
using leat::testing::StoreContract;
using leat::testing::succeeds;
using testing::small_options;
using testing::TemporaryDirectory;

// Keeps the directory of a contract subject alive as long as its bucket.
std::shared_ptr<ObjectStore> bucket_in_directory(int drives, const StoreOptions& options) {
  struct Kept {
    TemporaryDirectory directory;
    std::shared_ptr<ObjectStore> bucket;
  };
  auto kept = std::make_shared<Kept>();
  std::vector<std::string> directories;
  for (int i = 0; i < drives; ++i)
    directories.push_back(kept->directory.make("drive" + std::to_string(i)));
  auto store = LocalStore::create(directories, options);
  if (!store.ok() || !(*store)->create_bucket("data", {}, {}).ok()) return nullptr;
  auto bucket = (*store)->bucket("data");
  if (!bucket.ok()) return nullptr;
  kept->bucket = *bucket;
  return {kept, kept->bucket.get()};
}

INSTANTIATE_TEST_SUITE_P(
    Local, StoreContract,
    ::testing::Values(ContractSubject{"one_drive", [] { return bucket_in_directory(1, {}); }},
                      ContractSubject{"small_limits",
                                      [] {
                                        auto options = small_options();
                                        options.upkeep = StoreOptions::Upkeep::kInBackground;
                                        return bucket_in_directory(1, options);
                                      }},
                      ContractSubject{"three_drives",
                                      [] { return bucket_in_directory(3, small_options()); }}),
    leat::testing::contract_subject_name);

class LocalStoreTest : public ::testing::Test {
 protected:
  std::shared_ptr<LocalStore> open(const StoreOptions& options = small_options()) {
    auto store = LocalStore::open(directories_, options);
    EXPECT_TRUE(succeeds(store));
    return store.ok() ? *store : nullptr;
  }
  std::shared_ptr<LocalStore> create(int drives = 1,
                                     const StoreOptions& options = small_options()) {
    for (int i = 0; i < drives; ++i)
      directories_.push_back(directory_.make("drive" + std::to_string(i)));
    auto store = LocalStore::create(directories_, options);
    EXPECT_TRUE(succeeds(store));
    EXPECT_TRUE(succeeds((*store)->create_bucket("data", {}, context_)));
    return *store;
  }
  static std::shared_ptr<ObjectStore> data(const std::shared_ptr<LocalStore>& store) {
    return *store->bucket("data");
  }
  // `count` objects of mixed sizes, some of them large.
  void fill(ObjectStore& bucket, int count) {
    for (int i = 0; i < count; ++i) {
      const std::size_t size = i % 10 == 0 ? 10'000 : static_cast<std::size_t>(i % 700);
      ASSERT_TRUE(succeeds(write_object(bucket, name(i), pattern_bytes(size, i), {}, context_)));
    }
  }
  void expect_filled(ObjectStore& bucket, int count) {
    for (int i = 0; i < count; ++i) {
      const std::size_t size = i % 10 == 0 ? 10'000 : static_cast<std::size_t>(i % 700);
      const auto bytes = read_object(bucket, name(i), context_);
      ASSERT_TRUE(succeeds(bytes)) << name(i);
      ASSERT_EQ(*bytes, pattern_bytes(size, i)) << name(i);
    }
    ListRequest request;
    request.limit = 100'000;
    const auto page = bucket.list(request, context_);
    ASSERT_TRUE(succeeds(page));
    EXPECT_EQ(page->entries.size(), static_cast<std::size_t>(count));
  }
  static std::string name(int i) {
    return "train/" + std::to_string(i % 7) + "/sample" + std::to_string(i);
  }

  TemporaryDirectory directory_;
  std::vector<std::string> directories_;
  Context context_;
};

TEST_F(LocalStoreTest, EverythingIsThereAfterAnOrderlyRestart) {
  {
    auto store = create();
    fill(*data(store), 300);
    ASSERT_TRUE(succeeds(store->close(context_)));
  }
  expect_filled(*data(open()), 300);
}

TEST_F(LocalStoreTest, ASmallObjectThatWasReadIsThereWithoutWaiting) {
  auto store = create();
  auto bucket = data(store);
  CreateOptions described;
  described.metadata.headers["content-type"] = "image/jpeg";
  ASSERT_TRUE(succeeds(write_object(*bucket, "plain", pattern_bytes(784, 1), {}, context_)));
  ASSERT_TRUE(
      succeeds(write_object(*bucket, "with type", pattern_bytes(784, 2), described, context_)));
  ASSERT_TRUE(succeeds(write_object(*bucket, "large", pattern_bytes(10'000, 3), {}, context_)));
  std::vector<std::byte> space(64 << 10);
  ObjectInfo info;
  for (const char* name : {"plain", "with type"}) {
    EXPECT_FALSE(bucket->read_now(name, space, info)) << "not compared with its checksum yet";
    const auto bytes = read_object(*bucket, name, context_);
    const auto now = bucket->read_now(name, space, info);
    ASSERT_TRUE(now) << name;
    EXPECT_TRUE(std::equal(now->begin(), now->end(), bytes->begin(), bytes->end()));
    EXPECT_FALSE(bucket->read_now(name, std::span(space).first(800), info)) << "no room";
  }
  ASSERT_TRUE(succeeds(read_object(*bucket, "large", context_)));
  EXPECT_FALSE(bucket->read_now("large", space, info));
}

TEST_F(LocalStoreTest, AnObjectThatWasReadStaysOpenUntilItChanges) {
  auto store = create();
  auto bucket = data(store);
  const auto put = [&](std::uint64_t seed) {
    ASSERT_TRUE(
        succeeds(write_object(*bucket, "large", pattern_bytes(200'000, seed), {}, context_)));
  };
  put(1);
  EXPECT_EQ(bucket->open_now("large"), nullptr) << "nobody opened it yet";
  const auto bytes = read_object(*bucket, "large", context_);
  const auto reader = bucket->open_now("large");
  ASSERT_NE(reader, nullptr);
  std::vector<LocalExtent> extents;
  EXPECT_TRUE(reader->local_extents_now({0, 200'000}, extents)) << "it was compared";
  put(2);
  EXPECT_EQ(bucket->open_now("large"), nullptr);
  std::vector<std::byte> again(200'000);
  ASSERT_TRUE(succeeds(reader->read_at(0, again, context_)));
  EXPECT_EQ(again, *bytes) << "who has it open keeps it";
  ASSERT_TRUE(succeeds(read_object(*bucket, "large", context_)));
  EXPECT_NE(bucket->open_now("large"), nullptr);
  ASSERT_TRUE(succeeds(bucket->remove("large", {}, context_)));
  EXPECT_EQ(bucket->open_now("large"), nullptr);
}

TEST_F(LocalStoreTest, TheCatalogueIsRebuiltWhenItIsLost) {
  {
    auto store = create();
    fill(*data(store), 300);
    ASSERT_TRUE(succeeds(data(store)->remove(name(5), {}, context_)));
    ASSERT_TRUE(succeeds(store->close(context_)));
  }
  std::filesystem::remove_all(directories_[0] + "/catalogue");
  auto store = open();
  EXPECT_TRUE(data(store)->stat(name(5), context_).failed_with(ErrorCode::kNotFound));
  ASSERT_TRUE(succeeds(write_object(*data(store), name(5), pattern_bytes(5, 5), {}, context_)));
  expect_filled(*data(store), 300);
}

TEST_F(LocalStoreTest, MaintenanceChangesNothingThatIsSeen) {
  auto store = create();
  for (int round = 0; round < 4; ++round) {
    fill(*data(store), 200);
    for (;;) {
      const auto worked = store->maintain(context_);
      ASSERT_TRUE(succeeds(worked));
      if (!*worked) break;
    }
    expect_filled(*data(store), 200);
  }
}

TEST_F(LocalStoreTest, CompactionGivesSpaceBack) {
  auto store = create();
  fill(*data(store), 400);
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(succeeds(data(store)->remove(name(i), {}, context_)));
  ASSERT_TRUE(succeeds(store->compact(context_)));
  ASSERT_TRUE(succeeds(store->compact(context_)));
  const auto drives = store->drives();
  ASSERT_TRUE(succeeds(drives));
  EXPECT_LT(drives->front().usage.pack_bytes, 16u << 10);
  EXPECT_LE(drives->front().usage.objects, 1u);  // the bucket
  EXPECT_TRUE(std::filesystem::is_empty(directories_[0] + "/objects"));
  ASSERT_TRUE(succeeds(store->close(context_)));
  store.reset();
  expect_filled(*data(open()), 0);
}

TEST_F(LocalStoreTest, PacksAreTarFiles) {
  auto store = create();
  ASSERT_TRUE(succeeds(write_object(*data(store), "a b/ü", bytes_of("hello"), {}, context_)));
  CreateOptions options;
  options.metadata.user["colour"] = "red and green";
  ASSERT_TRUE(
      succeeds(write_object(*data(store), "with metadata", bytes_of("there"), options, context_)));
  ASSERT_TRUE(
      succeeds(write_object(*data(store), std::string(600, 'x'), bytes_of("long"), {}, context_)));
  ASSERT_TRUE(succeeds(data(store)->remove("a b/ü", {}, context_)));
  const std::string extract = "cd " + directory_.make("extracted") + " && tar xf " +
                              directories_[0] +
                              "/packs/00000001.tar 2> messages && test ! -s messages && test "
                              "\"$(cat 'data/with metadata')\" = there";
  EXPECT_EQ(system(extract.c_str()), 0);
}

TEST_F(LocalStoreTest, BucketsSurviveAndAreRefusedWhenNotEmpty) {
  auto store = create();
  EXPECT_TRUE(store->create_bucket("data", {}, context_).failed_with(ErrorCode::kAlreadyExists));
  EXPECT_TRUE(
      store->create_bucket("Bad Name", {}, context_).failed_with(ErrorCode::kInvalidArgument));
  ASSERT_TRUE(succeeds(store->create_bucket("scratch", {Durability::kMemory}, context_)));
  ASSERT_TRUE(succeeds(write_object(*data(store), "x", {}, {}, context_)));
  EXPECT_TRUE(store->remove_bucket("data", context_).failed_with(ErrorCode::kPreconditionFailed));
  ASSERT_TRUE(succeeds(write_object(*data(store), "y", {}, {}, context_)));
  ASSERT_TRUE(succeeds(store->close(context_)));
  store = open();
  const auto buckets = store->list_buckets(context_);
  ASSERT_TRUE(succeeds(buckets));
  ASSERT_EQ(buckets->size(), 2u);
  EXPECT_EQ((*buckets)[1].options.durability, Durability::kMemory);
  const auto handle = data(store);
  ASSERT_TRUE(succeeds(handle->remove("x", {}, context_)));
  ASSERT_TRUE(succeeds(handle->remove("y", {}, context_)));
  ASSERT_TRUE(succeeds(store->remove_bucket("data", context_)));
  EXPECT_TRUE(write_object(*handle, "z", {}, {}, context_).failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(store->bucket("data").failed_with(ErrorCode::kNotFound));
}

TEST_F(LocalStoreTest, ASecondOwnerIsToldWhoTheFirstIs) {
  auto store = create();
  auto options = small_options();
  options.lock_patience = std::chrono::milliseconds(0);
  auto second = LocalStore::open(directories_, options);
  ASSERT_TRUE(second.failed_with(ErrorCode::kBusy));
  EXPECT_NE(second.error().message().find(std::to_string(getpid())), std::string_view::npos);
  ASSERT_TRUE(succeeds(store->announce("leat://localhost:9000")));
  second = LocalStore::open(directories_, options);
  EXPECT_NE(second.error().message().find("leat://localhost:9000"), std::string_view::npos);
}

TEST_F(LocalStoreTest, AForkedChildReadsAndCannotWrite) {
  auto store = create();
  fill(*data(store), 50);
  const auto bucket = data(store);
  const pid_t child = fork();
  if (child == 0) {
    bool good = write_object(*bucket, "new", {}, {}, {}).failed_with(ErrorCode::kPermissionDenied);
    for (int i = 0; i < 50; ++i) good &= read_object(*bucket, name(i), {}).ok();
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  fill(*bucket, 60);
  expect_filled(*bucket, 60);
}

TEST_F(LocalStoreTest, AForkedChildMayEndItsHandles) {
  auto options = small_options();
  options.upkeep = StoreOptions::Upkeep::kInBackground;
  options.scrub_bytes_per_second = 1 << 20;
  auto store = create(1, options);
  auto bucket = data(store);
  fill(*bucket, 50);  // upkeep runs now
  auto writer = *bucket->create("half", {}, context_);
  ASSERT_TRUE(succeeds(writer->append(pattern_bytes(10'000, 1), context_)));  // a file by now
  const pid_t child = fork();
  if (child == 0) {
    constexpr auto kRefused = ErrorCode::kPermissionDenied;
    bool good = read_object(*bucket, name(0), {}).ok();
    good &= writer->append(pattern_bytes(10, 1), {}).failed_with(kRefused);
    good &= writer->commit({}, {}).failed_with(kRefused);
    good &= store->create_bucket("other", {}, {}).failed_with(kRefused);
    good &= store->remove_bucket("data", {}).failed_with(kRefused);
    good &= store->compact({}).failed_with(kRefused);
    good &= store->maintain({}).failed_with(kRefused);
    good &= store->close({}).ok();
    writer.reset();
    bucket.reset();
    store.reset();
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  expect_filled(*bucket, 50);
  ASSERT_TRUE(succeeds(writer->commit({}, context_)));
  EXPECT_EQ(*read_object(*bucket, "half", context_), pattern_bytes(10'000, 1));
}

// Overwrites the first byte of a file.
void damage(const std::string& path, std::streamoff offset = 0) {
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::fstream file(path, std::ios::in | std::ios::out);
  file.seekp(offset);
  file << '\x7f';
}

TEST_F(LocalStoreTest, TheScrubFindsDamageByItself) {
  auto options = small_options();
  options.scrub_bytes_per_second = 1 << 30;
  options.scrub_pause = std::chrono::milliseconds(1);
  auto store = create(1, options);
  fill(*data(store), 50);
  expect_filled(*data(store), 50);  // good when they were first read
  damage(directories_[0] + "/objects/data/" + name(0));
  const auto small = data(store)->open(name(1), {}, context_);
  const auto place = (*small)->local_extents({}, context_);
  ASSERT_TRUE(succeeds(place));
  damage(directories_[0] + "/packs/00000001.tar",
         static_cast<std::streamoff>(place->front().offset));
  const std::uint64_t rounds = store->scrub_status().rounds;
  while (store->scrub_status().rounds < rounds + 2) std::this_thread::yield();
  const ScrubStatus status = store->scrub_status();
  ASSERT_EQ(status.last.damaged.size(), 2u);
  EXPECT_GT(status.ended_ns, 0);
  for (const int i : {0, 1}) {
    EXPECT_TRUE(read_object(*data(store), name(i), context_).failed_with(ErrorCode::kCorrupted));
    BatchRead read;
    const std::string asked = name(i);
    read.name = asked;
    data(store)->read_batch({&read, 1}, context_);
    EXPECT_TRUE(read.result.failed_with(ErrorCode::kCorrupted));
  }
  EXPECT_TRUE(succeeds(read_object(*data(store), name(2), context_)));

  // A slow one does not keep the store from being closed.
  ASSERT_TRUE(succeeds(store->close(context_)));
  options.scrub_bytes_per_second = 1;
  ASSERT_TRUE(succeeds(open(options)->close(context_)));
}

TEST_F(LocalStoreTest, CopiesOfLargeObjectsShareTheirFile) {
  auto store = create();
  const auto bucket = data(store);
  ASSERT_TRUE(succeeds(write_object(*bucket, "big", pattern_bytes(100'000, 1), {}, context_)));
  ASSERT_TRUE(succeeds(bucket->copy("big", "copy", {}, context_)));
  EXPECT_EQ(
      std::distance(std::filesystem::directory_iterator(directories_[0] + "/objects/data"), {}), 1);
  ASSERT_TRUE(succeeds(bucket->remove("big", {}, context_)));
  EXPECT_EQ(*read_object(*bucket, "copy", context_), pattern_bytes(100'000, 1));
  ASSERT_TRUE(succeeds(store->close(context_)));
  store = open();
  EXPECT_EQ(*read_object(*data(store), "copy", context_), pattern_bytes(100'000, 1));
  ASSERT_TRUE(succeeds(data(store)->remove("copy", {}, context_)));
  EXPECT_FALSE(std::filesystem::exists(directories_[0] + "/objects/data"));
}

TEST_F(LocalStoreTest, ComposeJoinsPartsWithoutMovingThem) {
  auto store = create();
  const auto bucket = data(store);
  std::vector<std::string> parts;
  std::vector<std::byte> all;
  for (int i = 0; i < 5; ++i) {
    const auto bytes = pattern_bytes(i == 4 ? 100 : 1'500'000 + static_cast<std::size_t>(i), i);
    parts.push_back("part" + std::to_string(i));
    ASSERT_TRUE(succeeds(write_object(*bucket, parts.back(), bytes, {}, context_)));
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  const auto info = store->compose("data", parts, "whole", {}, {"etag-5", {}}, context_);
  ASSERT_TRUE(succeeds(info));
  EXPECT_EQ(info->etag, "etag-5");
  EXPECT_EQ(*read_object(*bucket, "whole", context_), all);
  EXPECT_TRUE(bucket->stat("part0", context_).failed_with(ErrorCode::kNotFound));
  ASSERT_TRUE(succeeds(store->close(context_)));
  store = open();
  EXPECT_EQ(*read_object(*data(store), "whole", context_), all);
  ASSERT_TRUE(succeeds(data(store)->remove("whole", {}, context_)));
  EXPECT_FALSE(std::filesystem::exists(directories_[0] + "/objects/data"));
}

TEST_F(LocalStoreTest, WritersOfOneNameAndTheSweepLeaveEachOthersFilesAlone) {
  auto store = create();
  const auto bucket = data(store);
  std::vector<std::jthread> writers;
  for (int number = 0; number < 2; ++number) {
    writers.emplace_back([&, number](const std::stop_token& stop) {
      for (int i = 0; !stop.stop_requested(); ++i) {
        const auto bytes = pattern_bytes(5'000, number);
        EXPECT_TRUE(succeeds(write_object(*bucket, "hot", bytes, {}, {})));
        if (i % 3 == 0) (void)bucket->remove("hot", {}, {});
      }
    });
  }
  VerifyOptions options;
  options.repair = true;  // removes files that no record refers to
  for (int round = 0; round < 100; ++round) {
    const auto report = store->verify(options, context_);
    ASSERT_TRUE(succeeds(report));
    EXPECT_TRUE(report->ok()) << report->damaged.front().what;
    const auto bytes = read_object(*bucket, "hot", context_);
    ASSERT_TRUE(bytes.ok() || bytes.failed_with(ErrorCode::kNotFound));
  }
}

TEST_F(LocalStoreTest, ComposeMayReplaceOneOfItsParts) {
  auto store = create();
  const auto bucket = data(store);
  const auto first = pattern_bytes(10'000, 1);
  const auto second = pattern_bytes(20'000, 2);
  ASSERT_TRUE(succeeds(write_object(*bucket, "log", first, {}, context_)));
  ASSERT_TRUE(succeeds(write_object(*bucket, "part", second, {}, context_)));
  const std::vector<std::string> parts = {"log", "part"};
  ASSERT_TRUE(succeeds(store->compose("data", parts, "log", {}, {}, context_)));
  auto all = first;
  all.insert(all.end(), second.begin(), second.end());
  EXPECT_EQ(*read_object(*bucket, "log", context_), all);
  EXPECT_TRUE(bucket->stat("part", context_).failed_with(ErrorCode::kNotFound));
}

TEST_F(LocalStoreTest, ComposeTakesOneVersionOfAPartThatIsReplacedMeanwhile) {
  auto store = create();
  const auto bucket = data(store);
  const auto large = pattern_bytes(10'000, 1);
  const auto small = pattern_bytes(100, 2);
  std::jthread writer([&](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i)
      EXPECT_TRUE(succeeds(write_object(*bucket, "part", i % 2 == 0 ? small : large, {}, {})));
  });
  const std::vector<std::string> parts = {"part"};
  for (int round = 0; round < 200; ++round) {
    if (!store->compose("data", parts, "whole", {}, {}, context_).ok()) continue;
    const auto whole = read_object(*bucket, "whole", context_);
    ASSERT_TRUE(succeeds(whole));
    EXPECT_TRUE(*whole == small || *whole == large);
  }
}

TEST_F(LocalStoreTest, ADriveIsAddedToWhatAnInterruptedTryLeft) {
  auto store = create(1);
  const std::string left = directory_.make("left");
  for (const char* name : {"packs", "objects", "catalogue", "lost+found"})
    std::filesystem::create_directory(left + "/" + name);
  ASSERT_TRUE(succeeds(store->add_drive(left, context_)));

  const std::string used = directory_.make("used");
  std::filesystem::create_directories(used + "/packs");
  std::ofstream(used + "/packs/00000001.tar") << "somebody's";
  EXPECT_TRUE(store->add_drive(used, context_).failed_with(ErrorCode::kInvalidArgument));
  const std::string foreign = directory_.make("foreign");
  std::ofstream(foreign + "/thesis.txt") << "somebody's";
  EXPECT_TRUE(store->add_drive(foreign, context_).failed_with(ErrorCode::kInvalidArgument));
  // Its own drive, and one of another store.
  EXPECT_TRUE(store->add_drive(left, context_).failed_with(ErrorCode::kInvalidArgument));
  const std::string other = directory_.make("other");
  ASSERT_TRUE(succeeds(LocalStore::create({other}, {})));
  EXPECT_TRUE(store->add_drive(other, context_).failed_with(ErrorCode::kInvalidArgument));
}

TEST_F(LocalStoreTest, ADriveCanBeAddedEmptiedAndLost) {
  auto store = create(2);
  fill(*data(store), 300);
  ASSERT_TRUE(succeeds(store->add_drive(directory_.make("drive2"), context_)));
  expect_filled(*data(store), 300);  // before anything has moved
  ASSERT_TRUE(succeeds(store->settle(context_)));
  expect_filled(*data(store), 300);
  EXPECT_GT((*store->drives())[2].usage.objects, 60u);
  ASSERT_TRUE(succeeds(store->remove_drive(directories_[0], context_)));
  expect_filled(*data(store), 300);
  ASSERT_EQ(store->drives()->size(), 2u);
  ASSERT_TRUE(succeeds(store->close(context_)));
  store.reset();

  directories_ = {directory_.path() / "drive2"};  // drive1 is lost
  store = open();
  const auto drives = store->drives();
  ASSERT_EQ(drives->size(), 2u);
  EXPECT_TRUE((*drives)[0].is_missing || (*drives)[1].is_missing);
  int there = 0;
  for (int i = 0; i < 300; ++i) {
    const auto bytes = read_object(*data(store), name(i), context_);
    if (bytes.ok()) {
      ++there;
    } else {
      EXPECT_TRUE(bytes.failed_with(ErrorCode::kUnavailable));
    }
  }
  EXPECT_GT(there, 80);
  EXPECT_LT(there, 220);
  // What is written meanwhile wins over what the lost drive brings back.
  for (int i = 0; i < 300; ++i)
    ASSERT_TRUE(succeeds(write_object(*data(store), name(i), bytes_of("new"), {}, context_)));
  ASSERT_TRUE(succeeds(store->close(context_)));
  store.reset();
  directories_ = {directory_.path() / "drive1", directory_.path() / "drive2"};
  store = open();
  for (int i = 0; i < 300; ++i)
    EXPECT_EQ(*read_object(*data(store), name(i), context_), bytes_of("new"));
  ASSERT_TRUE(succeeds(store->settle(context_)));
  for (int i = 0; i < 300; ++i)
    EXPECT_EQ(*read_object(*data(store), name(i), context_), bytes_of("new"));
}

}  // namespace
}  // namespace leat::local
