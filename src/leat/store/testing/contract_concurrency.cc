// The contract suite: many threads; and calls that the caller no longer wants.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "leat/store/testing/contract.h"

namespace leat::testing {
namespace {

// Bytes that say in every place which version they belong to, so that a mixture is noticed.
Bytes version_bytes(std::size_t size, std::uint8_t version) {
  return Bytes(size, std::byte{version});
}

bool is_one_version(const Bytes& bytes) {
  // Equal to itself, moved by one.
  return bytes.size() < 2 || std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

TEST_P(StoreContract, AReaderKeepsItsVersion) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  for (const std::size_t size : {std::size_t{100}, std::size_t{3} << 20}) {
    const Bytes bytes = put("pinned", pattern_bytes(size, 1));
    const auto reader = store().open("pinned", {}, context_);
    ASSERT_TRUE(succeeds(reader));
    Bytes target(size);
    ASSERT_TRUE(succeeds((*reader)->read_at(0, std::span(target).first(size / 2), context_)));
    put("pinned", pattern_bytes(size * 2, 2));
    put("pinned", bytes_of("short"));
    ASSERT_TRUE(succeeds(store().remove("pinned", {}, context_)));
    const auto count = (*reader)->read_at(size / 2, std::span(target).subspan(size / 2), context_);
    ASSERT_TRUE(succeeds(count));
    EXPECT_EQ(*count, size - size / 2);
    EXPECT_TRUE(target == bytes);
    EXPECT_EQ((*reader)->info().size_bytes, size);
  }
}

TEST_P(StoreContract, ReadersNeverSeeAMixture) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  put("hot", version_bytes(1000, 0));
  std::vector<std::jthread> threads;  // stopped when the test ends, also by a failure
  for (std::size_t number = 0; number < 3; ++number) {
    threads.emplace_back([&, number](std::stop_token stop) {
      for (std::size_t round = 0; !stop.stop_requested(); ++round) {
        const std::size_t size = 1 + round * 7919 % 200'000;
        const auto version = static_cast<std::uint8_t>(number * 80 + round % 80);
        EXPECT_TRUE(succeeds(try_put("hot", version_bytes(size, version))));
      }
    });
  }
  for (int round = 0; round < 100; ++round) {
    const auto bytes = get("hot");
    ASSERT_TRUE(succeeds(bytes));
    EXPECT_FALSE(bytes->empty());
    EXPECT_TRUE(is_one_version(*bytes));
    BatchRead reads[] = {{.name = "hot", .range = {}, .target = {}}};
    store().read_batch(reads, context_);
    ASSERT_TRUE(succeeds(reads[0].result));
    const auto slice = reads[0].result->bytes;
    EXPECT_TRUE(is_one_version(Bytes(slice.begin(), slice.end())));
  }
}

TEST_P(StoreContract, OneOfManyWritersIsLeftWhole) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  for (int round = 0; round < 5; ++round) {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 8; ++number) {
      threads.emplace_back([&, number] {
        auto writer = store().create("fought over", with_durability(Durability::kMemory), context_);
        ASSERT_TRUE(succeeds(writer));
        for (int part = 0; part <= number; ++part) {
          ASSERT_TRUE(succeeds((*writer)->append(version_bytes(10'000, number), context_)));
        }
        EXPECT_TRUE(succeeds((*writer)->commit({}, context_)));
      });
    }
    threads.clear();
    const auto bytes = get("fought over");
    ASSERT_TRUE(succeeds(bytes));
    ASSERT_FALSE(bytes->empty());
    EXPECT_TRUE(is_one_version(*bytes));
    EXPECT_EQ(bytes->size(), 10'000u * (std::to_integer<std::size_t>(bytes->front()) + 1));
  }
}

TEST_P(StoreContract, ThreadsDoNotDisturbEachOther) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  constexpr int kThreads = 8;
  constexpr int kObjects = 25;
  const auto name_of = [](int number, int index) {
    return "thread/" + std::to_string(number) + "/" + std::to_string(index);
  };
  std::vector<std::jthread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      for (int index = 0; index < kObjects; ++index) {
        const Bytes bytes = pattern_bytes(1 + index * 331, number * 1000 + index);
        const std::string name = name_of(number, index);
        // Seen by its own thread, and in every call, as soon as it is committed.
        ASSERT_TRUE(succeeds(try_put(name, bytes)));
        expect_holds(name, bytes);
        if (index % 3 != 0) continue;
        ASSERT_TRUE(succeeds(store().remove(name, {}, context_)));
        EXPECT_TRUE(fails_with(store().stat(name, context_), ErrorCode::kNotFound));
      }
    });
  }
  threads.clear();
  std::size_t left = 0;
  for (int number = 0; number < kThreads; ++number) {
    for (int index = 0; index < kObjects; ++index) {
      if (index % 3 == 0) continue;
      expect_holds(name_of(number, index), pattern_bytes(1 + index * 331, number * 1000 + index));
      ++left;
    }
  }
  if (capabilities().listable) {
    EXPECT_EQ(list_names().size(), left);
  }
}

TEST_P(StoreContract, AReaderServesManyThreads) {
  if (!capabilities().writable) GTEST_SKIP() << "not writable";
  const Bytes bytes = put("shared", pattern_bytes(1'000'000, 3));
  const auto reader = store().open("shared", {}, context_);
  ASSERT_TRUE(succeeds(reader));
  std::vector<std::jthread> threads;
  for (std::size_t number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (std::size_t round = 0; round < 50; ++round) {
        const std::size_t offset = (number * 50 + round) * 4799 % bytes.size();
        Bytes target(10'000);
        const auto count = (*reader)->read_at(offset, target, context_);
        ASSERT_TRUE(succeeds(count));
        ASSERT_EQ(*count, std::min(target.size(), bytes.size() - offset));
        EXPECT_TRUE(std::equal(target.begin(), target.begin() + static_cast<long>(*count),
                               bytes.begin() + static_cast<long>(offset)));
      }
    });
  }
}

class UnwantedCalls {
 public:
  UnwantedCalls(Context context, ErrorCode code) : context_(std::move(context)), code_(code) {}

  void expect_refused_reads(ObjectStore& store, ObjectReader& reader) const {
    EXPECT_TRUE(fails_with(store.stat("name", context_), code_));
    EXPECT_TRUE(fails_with(store.open("name", {}, context_), code_));
    if (store.capabilities().listable) {
      EXPECT_TRUE(fails_with(store.list({}, context_), code_));
    }
    Bytes target(10);
    EXPECT_TRUE(fails_with(reader.read_at(0, target, context_), code_));
    const auto extents = reader.local_extents({}, context_);
    EXPECT_TRUE(extents.failed_with(code_) || extents.failed_with(ErrorCode::kUnsupported));
    std::vector<BatchRead> reads(3);
    for (BatchRead& read : reads) read.name = "name";
    store.read_batch(reads, context_);
    for (const BatchRead& read : reads) EXPECT_TRUE(fails_with(read.result, code_));
  }

  void expect_refused_changes(ObjectStore& store, const Context& wanted) const {
    EXPECT_TRUE(fails_with(store.create("name", {}, context_), code_));
    EXPECT_TRUE(fails_with(store.remove("name", {}, context_), code_));
    EXPECT_TRUE(fails_with(store.copy("name", "copied", {}, context_), code_));
    auto appending = store.create("name", {}, wanted);
    ASSERT_TRUE(succeeds(appending));
    EXPECT_TRUE(fails_with((*appending)->append(bytes_of("new"), context_), code_));
    auto committing = store.create("name", {}, wanted);
    ASSERT_TRUE(succeeds(committing));
    ASSERT_TRUE(succeeds((*committing)->append(bytes_of("new"), wanted)));
    EXPECT_TRUE(fails_with((*committing)->commit({}, context_), code_));
  }

 private:
  const Context context_;
  const ErrorCode code_;
};

TEST_P(StoreContract, UnwantedCallsFailAndChangeNothing) {
  if (!capabilities().writable) GTEST_SKIP() << "not writable";
  const Bytes bytes = put("name", pattern_bytes(5000, 4));
  const auto reader = store().open("name", {}, context_);
  ASSERT_TRUE(succeeds(reader));
  std::stop_source cancelled;
  cancelled.request_stop();
  const auto past = Clock::system().now() - std::chrono::seconds(1);
  for (const auto& calls :
       {UnwantedCalls(context_.with_cancellation(cancelled.get_token()), ErrorCode::kCancelled),
        UnwantedCalls(context_.with_deadline(past), ErrorCode::kDeadlineExceeded)}) {
    calls.expect_refused_reads(store(), **reader);
    calls.expect_refused_changes(store(), context_);
  }
  expect_holds("name", bytes);
  if (lists_objects()) {
    EXPECT_EQ(list_names(), std::vector<std::string>{"name"});
  }
}

TEST_P(StoreContract, CallsWithinTheirDeadlineSucceed) {
  if (!capabilities().writable) GTEST_SKIP() << "not writable";
  std::stop_source source;
  const Context context =
      context_.with_timeout(std::chrono::hours(1)).with_cancellation(source.get_token());
  ASSERT_TRUE(succeeds(write_object(store(), "timely", bytes_of("x"), {}, context)));
  EXPECT_TRUE(succeeds(read_object(store(), "timely", context)));
  EXPECT_TRUE(succeeds(store().remove("timely", {}, context)));
}

}  // namespace
}  // namespace leat::testing
