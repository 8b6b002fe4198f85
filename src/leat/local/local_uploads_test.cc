// Objects that come in parts: over restarts, while drives change, on a disk that is full or cut
// off.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "leat/local/testing/local_fixture.h"
#include "leat/local/upload_keys.h"
#include "leat/store/testing/contract.h"

namespace leat::local {
namespace {

using leat::testing::Bytes;
using leat::testing::pattern_bytes;
using leat::testing::succeeds;
using testing::simulated_options;
using testing::small_options;
using testing::TemporaryDirectory;
using Fault = SimulatedFileSystem::Fault;

TEST(UploadKeysTest, PartSizesAreWrittenInRuns) {
  const std::vector<std::uint64_t> sizes = {8, 8, 8, 5, 7, 7};
  EXPECT_EQ(encode_part_sizes(sizes), "8*3,5,7*2");
  EXPECT_EQ(decode_part_sizes("8*3,5,7*2"), sizes);
  EXPECT_EQ(decode_part_sizes(""), std::vector<std::uint64_t>());
  for (const char* bad : {"x", "8*", "*3", "8*99999999999", "8,,9", "8*10001", "-1"}) {
    EXPECT_TRUE(decode_part_sizes(bad).empty()) << bad;
  }
}

TEST(UploadKeysTest, APartLeadsToItsUpload) {
  const std::string id = make_upload_id(5, 7);
  EXPECT_TRUE(is_upload_id(id));
  EXPECT_EQ(upload_of_part(part_key("data", "a/b", id, 3)), upload_key("data", "a/b", id));
  EXPECT_EQ(upload_of_part(upload_key("data", "a/b", id)), std::nullopt);
  EXPECT_TRUE(is_upload_or_part(upload_key("data", "a/b", id)));
  EXPECT_FALSE(
      is_upload_or_part(std::string("data/a.tar\0"
                                    "0123456789abcdef",
                                    27)));
  EXPECT_FALSE(is_upload_or_part("data/upload"));
}

class UploadsTest : public ::testing::Test {
 protected:
  void create(int drives = 1) {
    for (int i = 0; i < drives; ++i)
      directories_.push_back(directory_.make("drive" + std::to_string(i)));
    options_.clock = &clock_;
    store_ = *LocalStore::create(directories_, options_);
    ASSERT_TRUE(succeeds(store_->create_bucket("data", {}, context_)));
    attach();
  }
  void attach() {
    bucket_ = *store_->bucket("data");
    uploads_ = *store_->uploads("data");
  }
  void restart() {
    bucket_.reset();
    uploads_.reset();
    store_.reset();
    store_ = *LocalStore::open(directories_, options_);
    attach();
  }
  std::string begin(const std::string& name) {
    const auto upload = uploads_->begin(name, {}, {}, context_);
    EXPECT_TRUE(succeeds(upload));
    return upload->id;
  }
  PartInfo put(const std::string& name, const std::string& id, std::uint32_t number,
               const Bytes& bytes) {
    auto writer = uploads_->create_part(name, id, number, {}, context_);
    EXPECT_TRUE(succeeds(writer));
    EXPECT_TRUE(succeeds((*writer)->append(bytes, context_)));
    const auto info = (*writer)->commit({}, context_);
    EXPECT_TRUE(succeeds(info));
    return {number, *info};
  }
  Result<ObjectInfo> complete(const std::string& name, const std::string& id,
                              const CreateOptions& options = {}) {
    ASSIGN_OR_RETURN(const auto parts, uploads_->parts(name, id, 0, kMaxPartNumber, context_));
    return uploads_->complete(name, id, parts, options, {"etag-3", {}}, context_);
  }
  std::size_t files() const {
    std::size_t count = 0;
    for (const std::string& directory : directories_) {
      if (!std::filesystem::exists(directory + "/objects")) continue;
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator(directory + "/objects"))
        count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  }

  TemporaryDirectory directory_;
  std::vector<std::string> directories_;
  ManualClock clock_;
  StoreOptions options_ = small_options();
  Context context_;
  std::shared_ptr<LocalStore> store_;
  std::shared_ptr<ObjectStore> bucket_;
  std::shared_ptr<Uploads> uploads_;
};

const Bytes kFirst = pattern_bytes(10'000, 1);
const Bytes kSecond = pattern_bytes(20'000, 2);
const Bytes kSmall = pattern_bytes(100, 3);
Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST_F(UploadsTest, BecomeOneObjectWithoutMovingBytes) {
  create(3);
  Metadata metadata;
  metadata.user["kind"] = "cat";
  const auto upload = *uploads_->begin("dir/cat", metadata, {{"algorithm", "crc32"}}, context_);
  // In any order; the last of two wins.
  put("dir/cat", upload.id, 7, kSmall);
  put("dir/cat", upload.id, 2, kSmall);
  put("dir/cat", upload.id, 2, kSecond);
  put("dir/cat", upload.id, 1, kFirst);
  restart();
  const auto found = uploads_->find("dir/cat", upload.id, context_);
  ASSERT_TRUE(succeeds(found));
  EXPECT_EQ(found->metadata, metadata);
  EXPECT_EQ(found->options.at("algorithm"), "crc32");
  EXPECT_EQ(files(), 2u);
  EXPECT_TRUE(bucket_->list({}, context_)->entries.empty());
  const auto parts = *uploads_->parts("dir/cat", upload.id, 1, 1, context_);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].number, 2u);
  EXPECT_EQ(parts[0].info.size_bytes, kSecond.size());

  const auto info = complete("dir/cat", upload.id, {{}, found->metadata, {}, {}});
  ASSERT_TRUE(succeeds(info));
  EXPECT_EQ(info->etag, "etag-3");
  EXPECT_EQ(files(), 3u);  // the small part is a file now, the others are where they were
  restart();
  EXPECT_EQ(*read_object(*bucket_, "dir/cat", context_), joined({kFirst, kSecond, kSmall}));
  EXPECT_EQ(bucket_->stat("dir/cat", context_)->metadata->user, metadata.user);
  EXPECT_EQ(*uploads_->part_sizes("dir/cat", info->generation, context_),
            (std::vector<std::uint64_t>{10'000, 20'000, 100}));
  EXPECT_TRUE(uploads_->find("dir/cat", upload.id, context_).failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(uploads_->list({}, context_)->uploads.empty());
  EXPECT_EQ(uploads_->completed("dir/cat", upload.id, context_)->etag, "etag-3");
  ASSERT_TRUE(succeeds(bucket_->copy("dir/cat", "copy", {}, context_)));
  EXPECT_FALSE(uploads_->completed("copy", upload.id, context_).ok());
  ASSERT_TRUE(succeeds(bucket_->remove("copy", {}, context_)));
  ASSERT_TRUE(succeeds(bucket_->remove("dir/cat", {}, context_)));
  EXPECT_EQ(files(), 0u);
}

TEST_F(UploadsTest, ThatAreSmallArePacked) {
  create();
  const std::string id = begin("tiny");
  put("tiny", id, 1, kSmall);
  ASSERT_TRUE(succeeds(complete("tiny", id)));
  EXPECT_EQ(*read_object(*bucket_, "tiny", context_), kSmall);
  EXPECT_EQ(files(), 0u);
  const std::string empty = begin("empty");
  put("empty", empty, 1, {});
  ASSERT_TRUE(succeeds(complete("empty", empty)));
  EXPECT_EQ(bucket_->stat("empty", context_)->size_bytes, 0u);
}

TEST_F(UploadsTest, BelongToOneName) {
  create();
  const std::string id = begin("a");
  put("a", id, 1, kFirst);
  for (const auto& [name, other] :
       std::vector<std::pair<std::string, std::string>>{{"b", id},
                                                        {"a", ""},
                                                        {"a", std::string(32, '0')},
                                                        {"a", id + "0"},
                                                        {"a", std::string("x\0upload\0a", 10)}}) {
    EXPECT_TRUE(uploads_->find(name, other, context_).failed_with(ErrorCode::kNotFound));
    EXPECT_TRUE(
        uploads_->create_part(name, other, 1, {}, context_).failed_with(ErrorCode::kNotFound));
    EXPECT_TRUE(uploads_->parts(name, other, 0, 9, context_).failed_with(ErrorCode::kNotFound));
    EXPECT_TRUE(uploads_->abort(name, other, context_).failed_with(ErrorCode::kNotFound));
    EXPECT_TRUE(complete(name, other).failed_with(ErrorCode::kNotFound));
  }
  for (const std::uint32_t number : {0u, kMaxPartNumber + 1}) {
    EXPECT_TRUE(uploads_->create_part("a", id, number, {}, context_)
                    .failed_with(ErrorCode::kInvalidArgument));
  }
  ASSERT_TRUE(succeeds(complete("a", id)));
}

TEST_F(UploadsTest, LoseNothingWhenTheyCannotBeCompleted) {
  create();
  ASSERT_TRUE(succeeds(write_object(*bucket_, "a", kSmall, {}, context_)));
  const std::string id = begin("a");
  std::vector<PartInfo> parts = {put("a", id, 1, kFirst), put("a", id, 2, kSecond)};
  CreateOptions absent;
  absent.precondition = Precondition::absent();
  EXPECT_TRUE(complete("a", id, absent).failed_with(ErrorCode::kPreconditionFailed));
  // A part that was replaced since the caller looked at it.
  put("a", id, 2, kFirst);
  EXPECT_TRUE(
      uploads_->complete("a", id, parts, {}, {}, context_).failed_with(ErrorCode::kNotFound));
  EXPECT_EQ(*read_object(*bucket_, "a", context_), kSmall);
  ASSERT_TRUE(succeeds(complete("a", id)));
  EXPECT_EQ(*read_object(*bucket_, "a", context_), joined({kFirst, kFirst}));
  EXPECT_EQ(files(), 2u);
}

TEST_F(UploadsTest, LeaveNothingWhenAborted) {
  create();
  const std::string id = begin("a");
  put("a", id, 1, kFirst);
  put("a", id, 2, kSmall);
  // One that is still on its way.
  auto late = uploads_->create_part("a", id, 3, {}, context_);
  ASSERT_TRUE(succeeds((*late)->append(kSecond, context_)));
  ASSERT_TRUE(succeeds(uploads_->abort("a", id, context_)));
  EXPECT_TRUE((*late)->commit({}, context_).failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(uploads_->abort("a", id, context_).failed_with(ErrorCode::kNotFound));
  EXPECT_EQ(files(), 0u);
  ASSERT_TRUE(succeeds(store_->remove_bucket("data", context_)));
}

TEST_F(UploadsTest, GoWithTheirBucket) {
  create(2);
  const std::string id = begin("a");
  put("a", id, 1, kFirst);
  put("a", id, 2, kSmall);
  ASSERT_TRUE(succeeds(store_->remove_bucket("data", context_)));
  EXPECT_EQ(files(), 0u);
  EXPECT_TRUE(uploads_->find("a", id, context_).failed_with(ErrorCode::kNotFound));
  ASSERT_TRUE(succeeds(store_->create_bucket("data", {}, context_)));
  attach();
  EXPECT_TRUE(uploads_->list({}, context_)->uploads.empty());
  EXPECT_TRUE(uploads_->find("a", id, context_).failed_with(ErrorCode::kNotFound));
}

TEST_F(UploadsTest, AreCompletedWhileDrivesChange) {
  create(2);
  std::vector<std::string> ids;
  for (int i = 0; i < 8; ++i) {
    const std::string name = "object" + std::to_string(i);
    ids.push_back(begin(name));
    put(name, ids.back(), 1, kFirst);
    put(name, ids.back(), 2, kSmall);
  }
  directories_.push_back(directory_.make("drive9"));
  ASSERT_TRUE(succeeds(store_->add_drive(directories_.back(), context_)));
  for (int i = 0; i < 8; ++i) {
    const std::string name = "object" + std::to_string(i);
    if (i == 4) {
      ASSERT_TRUE(succeeds(store_->settle(context_)));
    }
    ASSERT_TRUE(succeeds(complete(name, ids[i])));
    EXPECT_EQ(*read_object(*bucket_, name, context_), joined({kFirst, kSmall}));
  }
  ASSERT_TRUE(succeeds(store_->settle(context_)));
  VerifyOptions repair;
  repair.repair = true;
  EXPECT_TRUE(store_->verify(repair, context_)->ok());
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(*read_object(*bucket_, "object" + std::to_string(i), context_),
              joined({kFirst, kSmall}));
  }
}

TEST_F(UploadsTest, SurviveARepair) {
  create();
  const std::string id = begin("a.tar");
  put("a.tar", id, 1, kFirst);
  put("a.tar", id, 2, kSmall);
  clock_.advance(std::chrono::hours(48));
  VerifyOptions repair;
  repair.repair = true;
  const auto report = store_->verify(repair, context_);
  ASSERT_TRUE(succeeds(report));
  EXPECT_TRUE(report->ok());
  EXPECT_EQ(report->objects, 0u);
  EXPECT_EQ(report->orphan_bytes, 0u);
  ASSERT_TRUE(succeeds(complete("a.tar", id)));
  EXPECT_EQ(*read_object(*bucket_, "a.tar", context_), joined({kFirst, kSmall}));
}

TEST_F(UploadsTest, AreListedInPages) {
  create();
  std::vector<std::pair<std::string, std::string>> expected;
  for (const char* name : {"a", "b/1", "b/1", "b/2", "c"}) {
    clock_.advance(std::chrono::seconds(1));
    expected.emplace_back(name, begin(name));
  }
  for (const std::uint32_t limit : {1u, 2u, 1000u}) {
    UploadsRequest request;
    request.limit = limit;
    std::vector<std::pair<std::string, std::string>> listed;
    for (;;) {
      const auto page = uploads_->list(request, context_);
      ASSERT_TRUE(succeeds(page));
      for (const UploadInfo& upload : page->uploads) listed.emplace_back(upload.name, upload.id);
      if (page->is_last) break;
      request.after_name = page->next_after_name;
      request.after_id = page->next_after_id;
    }
    EXPECT_EQ(listed, expected);
  }
  UploadsRequest folders;
  folders.delimiter = "/";
  folders.limit = 2;
  const auto first = *uploads_->list(folders, context_);
  EXPECT_EQ(first.uploads.size(), 1u);
  EXPECT_EQ(first.common_prefixes, std::vector<std::string>{"b/"});
  EXPECT_FALSE(first.is_last);
  folders.after_name = first.next_after_name;
  folders.after_id = first.next_after_id;
  const auto second = *uploads_->list(folders, context_);
  ASSERT_EQ(second.uploads.size(), 1u);
  EXPECT_EQ(second.uploads[0].name, "c");
  EXPECT_TRUE(second.common_prefixes.empty());
  EXPECT_TRUE(second.is_last);
  UploadsRequest after;
  after.after_name = "b/1";
  EXPECT_EQ(uploads_->list(after, context_)->uploads.size(), 2u);
  UploadsRequest inside;
  inside.prefix = "b/";
  EXPECT_EQ(uploads_->list(inside, context_)->uploads.size(), 3u);
}

TEST_F(UploadsTest, AreSweptWhenNothingCame) {
  create();
  const std::string old_id = begin("old");
  put("old", old_id, 1, kFirst);
  const std::string slow_id = begin("slow");
  clock_.advance(std::chrono::hours(24));
  put("slow", slow_id, 1, kSecond);
  const std::string new_id = begin("new");
  const std::int64_t hour_ns = 3'600'000'000'000;
  EXPECT_EQ(*uploads_->sweep(clock_.wall_ns() - 48 * hour_ns, context_), 0u);
  EXPECT_EQ(*uploads_->sweep(clock_.wall_ns() - hour_ns, context_), 1u);
  EXPECT_TRUE(uploads_->find("old", old_id, context_).failed_with(ErrorCode::kNotFound));
  EXPECT_EQ(uploads_->list({}, context_)->uploads.size(), 2u);
  EXPECT_EQ(files(), 1u);
  ASSERT_TRUE(succeeds(complete("slow", slow_id)));
}

// A life of uploads on a disk that fails or is cut off at some call.
class UploadLife {
 public:
  // True at the end.
  bool run(SimulatedFileSystem& disk) {
    auto created = LocalStore::create({"drive0"}, simulated_options(disk));
    if (!created.ok() || !(*created)->create_bucket("data", {}, {}).ok()) return false;
    has_bucket_ = true;
    store_ = *created;
    const auto uploads = *store_->uploads("data");
    for (int round = 0; round < 3; ++round) {
      const std::string name = round == 2 ? "x.tar" : "x";
      const auto upload = uploads->begin(name, {}, {}, {});
      if (!upload.ok()) return false;
      name_ = name;
      id_ = upload->id;
      parts_.clear();
      is_ending_ = false;
      for (std::uint32_t number = 1; number <= 3; ++number) {
        const Bytes bytes = pattern_bytes(number == 3 ? 50 : 5'000 + number, 10 * round + number);
        if (!put(*uploads, number, bytes)) return false;
      }
      is_ending_ = true;
      if (round == 1) {
        if (!uploads->abort(name, id_, {}).ok()) return false;
      } else {
        const auto parts = uploads->parts(name, id_, 0, 10, {});
        if (!parts.ok() || !uploads->complete(name, id_, *parts, {}, {}, {}).ok()) return false;
        objects_[name] = all();
      }
      id_.clear();
    }
    return store_->close({}).ok();
  }

  void expect_kept(SimulatedFileSystem& disk) {
    store_.reset();
    if (!has_bucket_) return;
    auto opened = LocalStore::open({"drive0"}, simulated_options(disk));
    ASSERT_TRUE(succeeds(opened));
    const auto bucket = *(*opened)->bucket("data");
    const auto uploads = *(*opened)->uploads("data");
    bool is_completed = false;
    if (!id_.empty()) {
      is_completed = uploads->completed(name_, id_, {}).ok();
      const auto parts = uploads->parts(name_, id_, 0, 10, {});
      ASSERT_TRUE(is_completed || is_ending_ || parts.ok()) << "the upload is lost";
      if (is_completed) objects_[name_] = all();
      if (parts.ok() && !is_completed && !is_ending_) {
        std::size_t kept = 0;
        for (const PartInfo& part : *parts) kept += parts_.contains(part.number) ? 1 : 0;
        ASSERT_EQ(kept, parts_.size()) << "an acknowledged part is lost";
        // And it goes on.
        ASSERT_TRUE(succeeds(uploads->complete(name_, id_, *parts, {}, {}, {})));
        Bytes whole = *read_object(*bucket, name_, {});
        whole.resize(all().size());
        ASSERT_EQ(whole, all());
        objects_.erase(name_);
      }
    }
    for (const auto& [name, bytes] : objects_) {
      ASSERT_EQ(*read_object(*bucket, name, {}), bytes) << name;
    }
    // A sweep leaves objects alone, and of uploads nothing.
    const auto swept = uploads->sweep(std::numeric_limits<std::int64_t>::max(), {});
    ASSERT_TRUE(succeeds(swept));
    VerifyOptions repair;
    repair.repair = true;
    const auto report = (*opened)->verify(repair, {});
    ASSERT_TRUE(succeeds(report));
    EXPECT_TRUE(report->ok());
    for (const auto& [name, bytes] : objects_) {
      ASSERT_EQ(*read_object(*bucket, name, {}), bytes) << name;
    }
    const auto listed = *bucket->list({}, {});
    for (const auto& entry : listed.entries) {
      ASSERT_TRUE(succeeds(bucket->remove(entry.name, {}, {})));
    }
    for (const std::string& path : disk.paths()) {
      EXPECT_EQ(path.find("/objects/"), path.npos) << path;
    }
  }
  void stop() { store_.reset(); }

 private:
  bool put(Uploads& uploads, std::uint32_t number, const Bytes& bytes) {
    auto writer = uploads.create_part(name_, id_, number, {}, {});
    if (!writer.ok() || !(*writer)->append(bytes, {}).ok()) return false;
    if (!(*writer)->commit({}, {}).ok()) return false;
    parts_[number] = bytes;
    return true;
  }
  Bytes all() const {
    Bytes whole;
    for (const auto& [number, bytes] : parts_)
      whole.insert(whole.end(), bytes.begin(), bytes.end());
    return whole;
  }

  std::shared_ptr<LocalStore> store_;
  bool has_bucket_ = false;
  std::map<std::string, Bytes> objects_;  // acknowledged
  std::string name_;
  std::string id_;  // of the upload under way
  std::map<std::uint32_t, Bytes> parts_;
  bool is_ending_ = false;
};

TEST(UploadFaultsTest, APowerCutLosesNothingThatWasAcknowledged) {
  for (std::uint64_t n = 0;; ++n) {
    SimulatedFileSystem disk;
    disk.cut_at_call(n);
    UploadLife life;
    const bool finished = life.run(disk);
    life.stop();
    n % 2 == 0 ? disk.power_cut(n) : disk.power_cut(PowerCut::Unsynced::kLost);
    life.expect_kept(disk);
    if (::testing::Test::HasFailure()) FAIL() << "cut at call " << n;
    if (finished) break;
  }
}

class UploadFailedCallTest : public ::testing::TestWithParam<Fault> {};

TEST_P(UploadFailedCallTest, LosesNothingThatWasAcknowledged) {
  for (std::uint64_t n = 0;; ++n) {
    SimulatedFileSystem disk;
    disk.fail_call(n, GetParam());
    UploadLife life;
    const bool finished = life.run(disk);
    life.stop();
    const bool failed = disk.failed_calls() > 0;
    disk.clear_faults();
    life.expect_kept(disk);
    if (HasFailure()) FAIL() << "failed call " << n;
    if (finished && !failed) break;
  }
}
INSTANTIATE_TEST_SUITE_P(Faults, UploadFailedCallTest,
                         ::testing::Values(Fault{Fault::Kind::kNoSpace, Fault::Lasts::kForever,
                                                 SimulatedFileSystem::Calls::kMutating},
                                           Fault{Fault::Kind::kIoError, Fault::Lasts::kOnce,
                                                 SimulatedFileSystem::Calls::kAny}));

}  // namespace
}  // namespace leat::local
