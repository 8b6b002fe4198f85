#include "leat/shard/shard_create.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stop_token>
#include <string>

#include "leat/shard/testing/tar_fixture.h"
#include "leat/store/testing/plain_store.h"

namespace leat {
namespace {

using testing::bytes_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::PlainStore;
using testing::Scan;
using testing::scan;
using testing::text_of;

constexpr std::size_t kLargeBytes = 9 << 20;  // more than goes into a batch

// A store some of whose objects cannot be opened, or not be read to the end.
class FaultySource final : public ObjectStore {
 public:
  enum class Fault : std::uint8_t { kOpen, kRead, kGrown };
  std::map<std::string, Fault, std::less<>> faults;
  std::uint64_t opens = 0;

  std::string_view url() const noexcept override { return "faulty:"; }
  Capabilities capabilities() const noexcept override { return objects.capabilities(); }
  Result<ObjectInfo> stat(std::string_view name, const Context& context) override {
    return objects.stat(name, context);
  }
  Result<ListPage> list(const ListRequest& request, const Context& context) override {
    return objects.list(request, context);
  }
  Result<std::unique_ptr<ObjectReader>> open(std::string_view name, const OpenOptions& options,
                                             const Context& context) override {
    ++opens;
    const auto fault = faults.find(name);
    if (fault != faults.end() && fault->second == Fault::kOpen) {
      return ErrorCode::kPermissionDenied;
    }
    if (fault != faults.end() && fault->second == Fault::kGrown) {
      return objects.open("grown", options, context);
    }
    ASSIGN_OR_RETURN(auto reader, objects.open(name, options, context));
    if (fault == faults.end()) return reader;
    return std::unique_ptr<ObjectReader>(std::make_unique<HalfReader>(std::move(reader)));
  }
  Result<std::unique_ptr<ObjectWriter>> create(std::string_view name, const CreateOptions& options,
                                               const Context& context) override {
    return objects.create(name, options, context);
  }
  Status remove(std::string_view name, const RemoveOptions& options,
                const Context& context) override {
    return objects.remove(name, options, context);
  }

  PlainStore objects;

 private:
  class HalfReader final : public ObjectReader {
   public:
    explicit HalfReader(std::unique_ptr<ObjectReader> whole) : whole_(std::move(whole)) {}
    const ObjectInfo& info() const noexcept override { return whole_->info(); }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                                const Context& context) override {
      if (offset + target.size() > info().size_bytes / 2) return ErrorCode::kIoError;
      return whole_->read_at(offset, target, context);
    }

   private:
    std::unique_ptr<ObjectReader> whole_;
  };
};

class ShardCreateTest : public ::testing::Test {
 protected:
  void put(const std::string& name, std::string_view bytes) {
    ASSERT_TRUE(write_object(source_.objects, name, bytes_of(bytes), {}, context_).ok());
  }
  Result<ShardCreateSummary> create(const ShardCreateOptions& options) {
    auto files = list_source_files(source_, "", context_);
    EXPECT_TRUE(files.ok());
    return create_shards(source_, *std::move(files), target_, options, context_, {});
  }
  Scan shard(const std::string& name) {
    const auto bytes = read_object(target_, name, context_);
    return bytes.ok() ? scan(text_of(*bytes)) : Scan{};
  }

  FaultySource source_;
  PlainStore target_;
  Context context_;
};

TEST_F(ShardCreateTest, PacksSamplesWithTheirFolders) {
  put("n01/1.jpg", "one");
  put("n01/1.cls", "0");
  put("n02/2.jpg", "two");
  put("n02/", "");  // how object stores mark a folder
  put("n03/3.jpg", "");
  ShardCreateOptions options;
  options.name_template = "out/train-%04d.tar";
  options.max_samples = 2;
  const auto summary = create(options);
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  EXPECT_THAT(summary->shards, ElementsAre("out/train-0000.tar", "out/train-0001.tar"));
  EXPECT_THAT(summary->failures, IsEmpty());
  EXPECT_EQ(summary->samples, 3u);
  EXPECT_EQ(summary->files, 4u);
  EXPECT_EQ(summary->bytes, 7u);
  EXPECT_THAT(shard("out/train-0000.tar").names(),
              ElementsAre("n01/1.cls", "n01/1.jpg", "n02/2.jpg"));
  EXPECT_EQ(shard("out/train-0000.tar").members[1].data, "one");
  EXPECT_THAT(shard("out/train-0001.tar").names(), ElementsAre("n03/3.jpg"));
}

TEST_F(ShardCreateTest, TheSameInputMakesTheSameBytes) {
  for (int i = 0; i < 700; ++i) put(std::to_string(i) + ".txt", std::to_string(i * i));
  ShardCreateOptions options;
  options.order = SampleOrder::kShuffled;
  options.seed = 5;
  options.max_shard_bytes = 100'000;
  options.name_template = "a-%d";
  const auto first = create(options);
  options.name_template = "b-%d";
  const auto second = create(options);
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_GT(first->shards.size(), 3u);
  ASSERT_EQ(first->shards.size(), second->shards.size());
  EXPECT_EQ(first->files, 700u);
  for (std::size_t i = 0; i < first->shards.size(); ++i) {
    const auto bytes = read_object(target_, first->shards[i], context_);
    EXPECT_EQ(*bytes, *read_object(target_, second->shards[i], context_));
    EXPECT_LE(bytes->size(), options.max_shard_bytes);
  }
}

TEST_F(ShardCreateTest, LargeAndSmallFilesMix) {
  const std::string large(kLargeBytes, 'l');
  put("1.txt", "small");
  put("2.bin", large);
  put("2.txt", "with large");
  put("3.txt", "small again");
  const auto summary = create({});
  ASSERT_TRUE(summary.ok());
  const Scan found = shard(summary->shards[0]);
  EXPECT_THAT(found.names(), ElementsAre("1.txt", "2.bin", "2.txt", "3.txt"));
  EXPECT_EQ(found.members[1].data, large);
  EXPECT_EQ(found.members[3].data, "small again");
}

TEST_F(ShardCreateTest, AFileThatFailsTakesItsSampleOutAndNothingElse) {
  for (const std::string key : {"1", "2", "3", "4"}) {
    put(key + ".cls", "class");
    put(key + ".jpg", "image");
  }
  put("grown", "longer than it was");
  source_.faults = {{"2.jpg", FaultySource::Fault::kOpen}, {"3.cls", FaultySource::Fault::kGrown}};
  ShardCreateOptions options;
  options.max_samples = 2;
  const auto summary = create(options);
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  EXPECT_EQ(summary->samples_left_out, 2u);
  ASSERT_EQ(summary->failures.size(), 2u);
  EXPECT_EQ(summary->failures[0].name, "2.jpg");
  EXPECT_EQ(summary->failures[0].error.code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(summary->failures[1].name, "3.cls");
  EXPECT_EQ(summary->failures[1].error.code(), ErrorCode::kPreconditionFailed);
  EXPECT_THAT(shard("shard-000000.tar").names(), ElementsAre("1.cls", "1.jpg"));
  EXPECT_THAT(shard("shard-000001.tar").names(), ElementsAre("4.cls", "4.jpg"));
}

TEST_F(ShardCreateTest, LargeFilesThatBreakMidwayCostOneNewBeginning) {
  const std::string large(kLargeBytes, 'l');
  put("1.txt", "small");
  put("2.bin", large);
  put("3.bin", large);
  put("4.bin", large);
  put("5.bin", large);
  put("6.txt", "small");
  source_.faults = {{"2.bin", FaultySource::Fault::kRead},
                    {"3.bin", FaultySource::Fault::kOpen},
                    {"5.bin", FaultySource::Fault::kOpen}};
  const auto summary = create({});
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  EXPECT_EQ(summary->samples, 3u);
  EXPECT_EQ(summary->files, 3u);
  EXPECT_EQ(summary->samples_left_out, 3u);
  EXPECT_EQ(summary->failures.size(), 3u);
  EXPECT_THAT(shard("shard-000000.tar").names(), ElementsAre("1.txt", "4.bin", "6.txt"));
  // Two for the first attempt, five to look for others, three for the second.
  EXPECT_EQ(source_.opens, 10u);
}

TEST_F(ShardCreateTest, AShardWithoutSamplesIsNotWritten) {
  put("1.a", "1");
  put("2.a", "2");
  source_.faults = {{"1.a", FaultySource::Fault::kOpen}};
  ShardCreateOptions options;
  options.max_samples = 1;
  const auto summary = create(options);
  ASSERT_TRUE(summary.ok());
  EXPECT_THAT(summary->shards, ElementsAre("shard-000001.tar"));
  EXPECT_TRUE(target_.stat("shard-000000.tar", context_).failed_with(ErrorCode::kNotFound));
}

TEST_F(ShardCreateTest, NamesWithoutSizesAreLookedUp) {
  put("1.a", "1");
  const auto summary = create_shards(source_, {{"1.a", {}}, {"missing.a", {}}, {"1.a", {}}},
                                     target_, {}, context_, {});
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->files, 1u);
  ASSERT_EQ(summary->failures.size(), 1u);
  EXPECT_EQ(summary->failures[0].name, "missing.a");
  EXPECT_EQ(summary->failures[0].error.code(), ErrorCode::kNotFound);
}

TEST_F(ShardCreateTest, NamesThatDoNotFitAreReported) {
  put("in/1.a", "1");
  put("in/", "a folder with content");
  put("out/2.a", "2");
  ShardCreateOptions options;
  options.strip_prefix = "in/";
  const auto summary = create(options);
  ASSERT_TRUE(summary.ok());
  EXPECT_THAT(shard("shard-000000.tar").names(), ElementsAre("1.a"));
  ASSERT_EQ(summary->failures.size(), 2u);
  for (const ShardCreateFailure& failure : summary->failures) {
    EXPECT_EQ(failure.error.code(), ErrorCode::kInvalidArgument) << failure.name;
  }
}

TEST_F(ShardCreateTest, ProgressEndsAtTheTotal) {
  put("1.a", "one");
  put("2.a", "two");
  ShardCreateProgress last;
  const auto summary = create_shards(source_, {{"1.a", 3}, {"2.a", 3}}, target_, {}, context_,
                                     [&](const ShardCreateProgress& now) { last = now; });
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(last.files_done, 2u);
  EXPECT_EQ(last.files_total, 2u);
  EXPECT_EQ(last.bytes_done, 6u);
  EXPECT_EQ(last.bytes_total, 6u);
  EXPECT_EQ(last.shards_done, 1u);
}

TEST_F(ShardCreateTest, CancellationLeavesNoPartOfAShard) {
  put("1.a", "1");
  put("2.a", std::string(kLargeBytes, 'l'));
  std::stop_source stop;
  context_ = Context().with_cancellation(stop.get_token());
  auto files = list_source_files(source_, "", context_);
  const auto summary = create_shards(source_, *std::move(files), target_, {}, context_,
                                     [&](const ShardCreateProgress&) { stop.request_stop(); });
  EXPECT_TRUE(summary.failed_with(ErrorCode::kCancelled));
  EXPECT_TRUE(target_.stat("shard-000000.tar", Context()).failed_with(ErrorCode::kNotFound));
}

TEST_F(ShardCreateTest, ABadTemplateIsNoticedBeforeAnythingIsRead) {
  put("1.a", "1");
  ShardCreateOptions options;
  options.name_template = "train.tar";
  EXPECT_TRUE(create(options).failed_with(ErrorCode::kInvalidArgument));
  EXPECT_EQ(source_.opens, 0u);
}

TEST_F(ShardCreateTest, ListsEveryPage) {
  for (int i = 0; i < 2500; ++i) put("x/" + std::to_string(i), "");
  put("y", "");
  const auto files = list_source_files(source_, "x/", context_);
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(files->size(), 2500u);
}

}  // namespace
}  // namespace leat
