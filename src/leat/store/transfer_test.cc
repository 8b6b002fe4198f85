#include "leat/store/transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <stop_token>

#include "leat/base/hash.h"
#include "leat/store/copy_object.h"
#include "leat/store/forwarding.h"
#include "leat/store/testing/plain_store.h"

namespace leat {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::PlainStore;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// A PlainStore with faults: names that cannot be read or written, a commit that lies.
class FaultyStore final : public ObjectStore {
 public:
  std::string_view url() const noexcept override { return inner.url(); }
  Capabilities capabilities() const noexcept override {
    Capabilities capabilities = inner.capabilities();
    capabilities.any_name = any_name;
    return capabilities;
  }
  Result<ObjectInfo> stat(std::string_view name, const Context& context) override {
    return inner.stat(name, context);
  }
  Result<ListPage> list(const ListRequest& request, const Context& context) override {
    if (listings_left == 0) return Error(ErrorCode::kUnavailable, "no more listings");
    --listings_left;
    ListRequest small = request;
    small.limit = page_limit;
    return inner.list(small, context);
  }
  Result<std::unique_ptr<ObjectReader>> open(std::string_view name, const OpenOptions& options,
                                             const Context& context) override {
    ++opened;
    if (name == bad_name) return Error(ErrorCode::kIoError, "a bad block");
    if (name == damaged_name) return Error(ErrorCode::kCorrupted, "other bytes than were written");
    return inner.open(name, options, context);
  }
  Result<std::unique_ptr<ObjectWriter>> create(std::string_view name, const CreateOptions& options,
                                               const Context& context) override {
    ++created;
    if (on_create) on_create();
    if (name == bad_name) return Error(ErrorCode::kNoSpace, "full");
    ASSIGN_OR_RETURN(auto writer, inner.create(name, options, context));
    std::unique_ptr<ObjectWriter> lying = std::make_unique<Writer>(*this, std::move(writer));
    return lying;
  }
  Status remove(std::string_view name, const RemoveOptions& options,
                const Context& context) override {
    if (name == bad_name) return Error(ErrorCode::kPermissionDenied, "not yours");
    return inner.remove(name, options, context);
  }

  PlainStore inner;
  std::string bad_name;
  std::string damaged_name;  // cannot be read, but written
  std::optional<std::uint32_t> stated_crc;
  bool any_name = true;
  std::uint32_t page_limit = 3;
  std::atomic<int> listings_left{1000};
  std::atomic<int> created{0};
  std::atomic<int> opened{0};
  std::function<void()> on_create;

 private:
  class Writer final : public ObjectWriter {
   public:
    Writer(FaultyStore& store, std::unique_ptr<ObjectWriter> inner)
        : store_(store), inner_(std::move(inner)) {}
    Status append(std::span<const std::byte> bytes, const Context& context) override {
      return inner_->append(bytes, context);
    }
    Result<ObjectInfo> commit(const CommitOptions& options, const Context& context) override {
      ASSIGN_OR_RETURN(ObjectInfo info, inner_->commit(options, context));
      info.crc32c = store_.stated_crc;
      return info;
    }

   private:
    FaultyStore& store_;
    const std::unique_ptr<ObjectWriter> inner_;
  };
};

class TransferTest : public ::testing::Test {
 protected:
  static void put(ObjectStore& store, const std::string& name, std::string_view text) {
    ASSERT_TRUE(write_object(store, name, bytes_of(text), {}, Context()).ok()) << name;
  }
  static std::map<std::string, std::string> content(FaultyStore& store) {
    std::map<std::string, std::string> all;
    ListRequest request;
    const auto page = store.inner.list(request, Context());
    EXPECT_TRUE(page.ok());
    for (const auto& entry : page->entries) {
      const auto bytes = read_object(store.inner, entry.name, Context());
      EXPECT_TRUE(bytes.ok());
      all[entry.name] = std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    }
    return all;
  }
  TransferReport run(const TransferOptions& options = {}, const Context& context = Context()) {
    return transfer({&source_, source_prefix_}, {&target_, target_prefix_}, options, executor_,
                    context);
  }

  FaultyStore source_;
  FaultyStore target_;
  std::string source_prefix_;
  std::string target_prefix_;
  ThreadPoolExecutor executor_{{.thread_count = 4, .queue_capacity = 8}};
};

TEST_F(TransferTest, CopiesAFolderAndOnlyThat) {
  source_prefix_ = "a/";
  target_prefix_ = "x/y/";
  put(source_, "a/1", "one");
  put(source_, "a/b/2", "");
  put(source_, "a/", "the folder itself");
  put(source_, "ab", "beside");
  const TransferReport report = run();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.copied, 2u);
  EXPECT_EQ(report.copied_bytes, 3u);
  const std::map<std::string, std::string> expected = {{"x/y/1", "one"}, {"x/y/b/2", ""}};
  EXPECT_EQ(content(target_), expected);
}

TEST_F(TransferTest, CopiesManyInParallelOverManyPages) {
  for (int i = 0; i < 300; ++i) put(source_, "n" + std::to_string(i), std::to_string(i));
  const TransferReport report = run();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.copied, 300u);
  EXPECT_EQ(content(target_), content(source_));
}

TEST_F(TransferTest, ASecondRunCopiesOnlyWhatChanged) {
  put(source_, "a", "1");
  put(source_, "b", "2");
  put(source_, "c", "3");
  EXPECT_EQ(run().copied, 3u);
  TransferReport report = run();
  EXPECT_EQ(report.copied, 0u);
  EXPECT_EQ(report.unchanged, 3u);
  EXPECT_EQ(target_.created, 3);
  put(source_, "a", "other size");
  put(source_, "b", "9");  // newer than the copy
  report = run();
  EXPECT_EQ(report.copied, 2u);
  EXPECT_EQ(content(target_), content(source_));
}

TEST_F(TransferTest, ChecksumsDecideWhereTheyAreKnown) {
  put(target_, "a", "1");
  put(source_, "a", "1");  // newer
  const std::uint32_t crc = crc32c(0, bytes_of("1"));
  source_.inner.report_crc32c("a", crc);
  target_.inner.report_crc32c("a", crc);
  EXPECT_EQ(run().unchanged, 1u);
  target_.inner.report_crc32c("a", crc + 1);
  EXPECT_EQ(run().copied, 1u);
}

TEST_F(TransferTest, ChecksumModeReadsBothSides) {
  put(source_, "same", "1");
  put(source_, "other", "1");
  put(target_, "same", "1");
  put(target_, "other", "2");  // same size, newer
  EXPECT_EQ(run().unchanged, 2u);
  TransferOptions options;
  options.compare = TransferOptions::Compare::kChecksum;
  const TransferReport report = run(options);
  EXPECT_EQ(report.unchanged, 1u);
  EXPECT_EQ(report.copied, 1u);
  EXPECT_EQ(content(target_), content(source_));
  options.compare = TransferOptions::Compare::kNever;
  EXPECT_EQ(run(options).copied, 2u);
}

TEST_F(TransferTest, ChecksumModeMendsADamagedTarget) {
  const std::uint32_t crc = crc32c(0, bytes_of("1"));
  for (const char* name : {"refused", "silent", "whole"}) {
    for (FaultyStore* store : {&source_, &target_}) {
      put(*store, name, "1");
      store->inner.report_crc32c(name, crc);
    }
  }
  target_.damaged_name = "refused";   // the store notices
  target_.inner.damage("silent", 0);  // it does not
  EXPECT_EQ(run().unchanged, 3u);
  TransferOptions options;
  options.compare = TransferOptions::Compare::kChecksum;
  source_.opened = 0;
  const TransferReport report = run(options);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.copied, 2u);
  EXPECT_EQ(report.unchanged, 1u);
  EXPECT_EQ(source_.opened, 2);  // to copy: its checksums are known
  EXPECT_EQ(content(target_), content(source_));
}

TEST_F(TransferTest, ChecksumModeDoesNotWriteOverWhatItCannotRead) {
  put(source_, "a", "1");
  put(target_, "a", "2");
  target_.bad_name = "a";
  TransferOptions options;
  options.compare = TransferOptions::Compare::kChecksum;
  const TransferReport report = run(options);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].error.code(), ErrorCode::kIoError);
  EXPECT_EQ(content(target_)["a"], "2");
}

TEST_F(TransferTest, OneFailureDoesNotStopTheOthers) {
  for (const char* name : {"a", "b", "c"}) put(source_, name, name);
  source_.bad_name = "b";
  const TransferReport report = run();
  EXPECT_FALSE(report.ok());
  EXPECT_FALSE(report.stopped);
  EXPECT_EQ(report.copied, 2u);
  EXPECT_EQ(report.failed, 1u);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].name, "b");
  EXPECT_EQ(report.failures[0].error.code(), ErrorCode::kIoError);
}

TEST_F(TransferTest, KeepsABoundedNumberOfFailures) {
  for (std::size_t i = 0; i < TransferReport::kMaxFailures + 5; ++i) {
    put(source_, "n" + std::to_string(i), "1");
    source_.inner.report_crc32c("n" + std::to_string(i), 1);  // of none of them
  }
  const TransferReport report = run();
  EXPECT_EQ(report.failed, TransferReport::kMaxFailures + 5);
  EXPECT_EQ(report.failures.size(), TransferReport::kMaxFailures);
  EXPECT_THAT(content(target_), IsEmpty());
}

TEST_F(TransferTest, ADamagedSourceIsNotCommitted) {
  put(source_, "a", "bytes");
  source_.inner.report_crc32c("a", crc32c(0, bytes_of("bytes")));
  source_.inner.damage("a", 2);
  const TransferReport report = run();
  ASSERT_EQ(report.failed, 1u);
  EXPECT_EQ(report.failures[0].error.code(), ErrorCode::kCorrupted);
  EXPECT_THAT(content(target_), IsEmpty());
}

TEST_F(TransferTest, ATargetThatStoredOtherBytesDoesNotKeepThem) {
  put(source_, "a", "bytes");
  target_.stated_crc = 1;
  const TransferReport report = run();
  ASSERT_EQ(report.failed, 1u);
  EXPECT_EQ(report.failures[0].error.code(), ErrorCode::kCorrupted);
  EXPECT_THAT(content(target_), IsEmpty());
  target_.stated_crc = crc32c(0, bytes_of("bytes"));
  EXPECT_TRUE(run().ok());
}

class TransferRemovalTest : public TransferTest {
 protected:
  TransferRemovalTest() { options_.extraneous = TransferOptions::Extraneous::kRemove; }
  TransferOptions options_;
};

TEST_F(TransferRemovalTest, RemovesWhatTheSourceDoesNotHave) {
  for (const char* name : {"b", "d"}) put(source_, name, name);
  for (const char* name : {"a", "b", "c", "e", "f"}) put(target_, name, "old");
  const TransferReport report = run(options_);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.removed, 4u);
  EXPECT_EQ(content(target_), content(source_));
}

TEST_F(TransferRemovalTest, IsRefusedWhenTheSourceIsEmpty) {
  put(target_, "precious", "1");
  const TransferReport report = run(options_);
  ASSERT_TRUE(report.stopped);
  EXPECT_EQ(report.stopped->code(), ErrorCode::kPreconditionFailed);
  EXPECT_EQ(content(target_).size(), 1u);
}

TEST_F(TransferRemovalTest, DoesNotHappenWhenSomethingFailed) {
  put(source_, "a", "1");
  put(target_, "z", "1");
  target_.bad_name = "a";
  const TransferReport report = run(options_);
  EXPECT_EQ(report.failed, 1u);
  EXPECT_EQ(report.removed, 0u);
  EXPECT_EQ(content(target_).count("z"), 1u);
}

TEST_F(TransferRemovalTest, DoesNotHappenWhenAListingFailed) {
  for (int i = 0; i < 20; ++i) put(source_, "s" + std::to_string(i), "1");
  put(target_, "a", "1");
  source_.listings_left = 2;
  const TransferReport report = run(options_);
  ASSERT_TRUE(report.stopped);
  EXPECT_EQ(report.stopped->code(), ErrorCode::kUnavailable);
  EXPECT_EQ(report.removed, 0u);
  EXPECT_EQ(content(target_).count("a"), 1u);
}

TEST_F(TransferRemovalTest, LeavesFilteredNamesAlone) {
  put(source_, "a.jpg", "1");
  put(source_, "a.txt", "1");
  put(target_, "old.jpg", "1");
  put(target_, "notes.txt", "1");
  options_.filter = *NameFilter::parse({"*.jpg"}, {});
  const TransferReport report = run(options_);
  EXPECT_EQ(report.copied, 1u);
  EXPECT_EQ(report.removed, 1u);
  const std::map<std::string, std::string> expected = {{"a.jpg", "1"}, {"notes.txt", "1"}};
  EXPECT_EQ(content(target_), expected);
}

TEST_F(TransferRemovalTest, OverlapIsRefused) {
  put(source_, "a/1", "1");
  const auto stopped = [&](std::string from, std::string to) {
    return transfer({&source_, std::move(from)}, {&source_, std::move(to)}, options_, executor_,
                    Context())
        .stopped;
  };
  EXPECT_TRUE(stopped("a/", "a/"));
  EXPECT_TRUE(stopped("", "a/"));
  EXPECT_TRUE(stopped("a/", ""));
  EXPECT_FALSE(stopped("a/", "b/"));
  options_.extraneous = TransferOptions::Extraneous::kKeep;
  EXPECT_FALSE(stopped("a/", ""));
  EXPECT_TRUE(stopped("a/", "a/b/"));
}

class Recorder final : public TransferObserver {
 public:
  void found(std::uint64_t size_bytes) override { found_bytes += size_bytes; }
  void moved(std::uint64_t bytes) override { moved_bytes += bytes; }
  void planned(TransferAction action, std::string_view name) override {
    plan.push_back((action == TransferAction::kCopy ? "copy " : "remove ") + std::string(name));
  }
  std::uint64_t found_bytes = 0;
  std::atomic<std::uint64_t> moved_bytes{0};
  std::vector<std::string> plan;
};

TEST_F(TransferRemovalTest, ADryRunTellsAndChangesNothing) {
  for (const char* name : {"a", "c"}) put(source_, name, name);
  put(target_, "b", "1");
  const auto before = content(target_);
  Recorder recorder;
  options_.mode = TransferOptions::Mode::kDryRun;
  options_.observer = &recorder;
  const TransferReport report = run(options_);
  EXPECT_EQ(report.copied, 2u);
  EXPECT_EQ(report.removed, 1u);
  EXPECT_THAT(recorder.plan, ElementsAre("copy a", "copy c", "remove b"));
  EXPECT_EQ(content(target_), before);
}

TEST_F(TransferTest, TheObserverSeesEveryByte) {
  put(source_, "a", "12");
  put(source_, "b", "345");
  Recorder recorder;
  TransferOptions options;
  options.observer = &recorder;
  run(options);
  run(options);  // what is there counts as moved
  EXPECT_EQ(recorder.found_bytes, 10u);
  EXPECT_EQ(recorder.moved_bytes, 10u);
}

TEST_F(TransferTest, CancellationStopsAndASecondRunCompletes) {
  for (int i = 0; i < 200; ++i) put(source_, "n" + std::to_string(i), "1");
  std::stop_source stop;
  target_.on_create = [&] {
    if (target_.created == 10) stop.request_stop();
  };
  const TransferReport report = run({}, Context().with_cancellation(stop.get_token()));
  ASSERT_TRUE(report.stopped);
  EXPECT_EQ(report.stopped->code(), ErrorCode::kCancelled);
  EXPECT_EQ(report.failed, 0u);
  EXPECT_LT(report.copied, 200u);
  EXPECT_EQ(content(target_).size(), report.copied);
  target_.on_create = nullptr;
  const TransferReport second = run();
  EXPECT_TRUE(second.ok());
  EXPECT_EQ(second.copied + second.unchanged, 200u);
  EXPECT_EQ(content(target_), content(source_));
}

TEST_F(TransferTest, FolderMarkersStayBehindWhenTheTargetIsATree) {
  put(source_, "a/", "");
  put(source_, "a/1", "1");
  target_.any_name = false;
  EXPECT_EQ(run().copied, 1u);
  target_.any_name = true;
  EXPECT_EQ(run().copied, 1u);
}

TEST_F(TransferTest, RemoveFolderRemovesWhatIsBeneath) {
  for (const char* name : {"a/1", "a/2", "ab", "b"}) put(target_, name, name);
  target_.bad_name = "a/2";
  TransferReport report = remove_folder({&target_, "a/"}, {}, executor_, Context());
  EXPECT_EQ(report.removed, 1u);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].name, "2");
  target_.bad_name.clear();
  report = remove_folder({&target_, ""}, {}, executor_, Context());
  EXPECT_EQ(report.removed, 3u);
  EXPECT_THAT(content(target_), IsEmpty());
}

TEST_F(TransferTest, CopiesWhatIsNamed) {
  put(source_, "a", "1");
  put(source_, "b", "2");
  const std::vector<CopyRequest> requests = {{&source_, "a", &target_, "x"},
                                             {&source_, "missing", &target_, "y"}};
  const TransferReport report = copy_objects(requests, {}, executor_, Context());
  EXPECT_EQ(report.copied, 1u);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].name, "missing");
  EXPECT_EQ(content(target_), (std::map<std::string, std::string>{{"x", "1"}}));
  std::stop_source stop;
  stop.request_stop();
  const Context ended = Context().with_cancellation(stop.get_token());
  EXPECT_TRUE(copy_objects(requests, {}, executor_, ended).stopped);
}

TEST_F(TransferTest, WithinOneStoreTheStoreCopies) {
  put(source_, "a", "1");
  std::uint64_t told = 0;
  CopyOptions options;
  options.on_bytes = [&](std::uint64_t bytes) { told += bytes; };
  ASSERT_TRUE(copy_object(source_, "a", source_, "b", options, Context()).ok());
  EXPECT_EQ(told, 1u);
  EXPECT_EQ(content(source_)["b"], "1");
  EXPECT_TRUE(copy_object(source_, "missing", source_, "c", {}, Context())
                  .failed_with(ErrorCode::kNotFound));
}

// One of several handles of a store, which counts its copies.
class Handle final : public ForwardingStore {
 public:
  Handle(std::shared_ptr<ObjectStore> target, std::string url)
      : ForwardingStore(std::move(target)), url_(std::move(url)) {}
  std::string_view url() const noexcept override { return url_; }
  Result<ObjectInfo> copy(std::string_view source, std::string_view target,
                          const CreateOptions& options, const Context& context) override {
    ++copies;
    if (before_copy) before_copy();
    return ForwardingStore::copy(source, target, options, context);
  }

  int copies = 0;
  std::function<void()> before_copy;

 private:
  const std::string url_;
};

TEST_F(TransferTest, HandlesWithOneUrlAreOneStore) {
  const auto plain = std::make_shared<PlainStore>();
  Handle source(plain, "plain://here/bucket");
  Handle target(plain, "plain://here/bucket");
  put(source, "a", "1");
  ASSERT_TRUE(copy_object(source, "a", target, "b", {}, Context()).ok());
  EXPECT_EQ(target.copies, 1);
  EXPECT_EQ(read_object(*plain, "b", Context())->size(), 1u);
}

TEST_F(TransferTest, OtherHandlesAreOtherStores) {
  // mem: names no place.
  for (const auto& [from, to] : {std::pair("plain://here/one", "plain://here/two"),
                                 std::pair("mem:", "mem:"), std::pair("", "")}) {
    Handle source(std::make_shared<PlainStore>(), from);
    Handle target(std::make_shared<PlainStore>(), to);
    put(source, "a", "1");
    ASSERT_TRUE(copy_object(source, "a", target, "b", {}, Context()).ok());
    EXPECT_EQ(source.copies + target.copies, 0);
    EXPECT_EQ(read_object(target, "b", Context())->size(), 1u);
  }
}

TEST_F(TransferTest, ASourceThatIsReplacedMeanwhileIsReadInstead) {
  const auto plain = std::make_shared<PlainStore>();
  Handle store(plain, "plain://here/bucket");
  put(store, "a", "1");
  store.before_copy = [&] { put(*plain, "a", "longer"); };
  const auto copied = copy_object(store, "a", store, "b", {}, Context());
  ASSERT_TRUE(copied.ok());
  EXPECT_EQ(copied->info.size_bytes, 6u);
  EXPECT_EQ(read_object(*plain, "b", Context())->size(), 6u);
}

// Replaces what is being read, the first so many times.
class RestlessStore final : public ForwardingStore {
 public:
  RestlessStore(std::shared_ptr<ObjectStore> target, int replacements)
      : ForwardingStore(target), target_(std::move(target)), replacements_(replacements) {}
  Result<std::unique_ptr<ObjectReader>> open(std::string_view name, const OpenOptions& options,
                                             const Context& context) override {
    auto reader = ForwardingStore::open(name, options, context);
    if (replacements_-- > 0) {
      const std::string text = "version " + std::to_string(replacements_);
      EXPECT_TRUE(write_object(*target_, name, std::as_bytes(std::span(text)), {}, context).ok());
    }
    return reader;
  }

 private:
  const std::shared_ptr<ObjectStore> target_;
  int replacements_;
};

TEST_F(TransferTest, AVersionThatIsReplacedWhileItIsReadIsReadAgain) {
  const auto plain = std::make_shared<PlainStore>();
  put(*plain, "a", "version 9");
  RestlessStore source(plain, 1);
  PlainStore target;
  ASSERT_TRUE(copy_object(source, "a", target, "a", {}, Context()).ok());
  EXPECT_EQ(*read_object(target, "a", Context()), *read_object(*plain, "a", Context()));

  RestlessStore never_at_rest(plain, 1000);
  EXPECT_TRUE(
      copy_object(never_at_rest, "a", target, "a", {}, Context()).failed_with(ErrorCode::kBusy));
}

}  // namespace
}  // namespace leat
