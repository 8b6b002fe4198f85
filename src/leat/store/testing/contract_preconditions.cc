// The contract suite: preconditions of changes, and readers pinned to a generation.
#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "leat/store/testing/contract.h"

namespace leat::testing {
namespace {

constexpr auto kFailed = ErrorCode::kPreconditionFailed;

RemoveOptions remove_only_if(Precondition precondition) {
  RemoveOptions options;
  options.precondition = std::move(precondition);
  return options;
}

TEST_P(StoreContract, RefusesPreconditionsThatItCannotCheck) {
  if (!keeps_objects()) GTEST_SKIP() << "keeps no objects";
  const auto info = try_put("name", bytes_of("old"));
  ASSERT_TRUE(succeeds(info));
  std::vector<Precondition> refused;
  if (!capabilities().preconditions) {
    refused = {Precondition::absent(), Precondition::present(), Precondition::has_etag(info->etag)};
  }
  if (!capabilities().generations || !capabilities().preconditions) {
    refused.push_back(Precondition::has_generation(info->generation));
  }
  for (const Precondition& precondition : refused) {
    EXPECT_TRUE(is_refused(try_put("name", bytes_of("new"), with_precondition(precondition))));
    EXPECT_TRUE(is_refused(store().remove("name", remove_only_if(precondition), context_)));
  }
  if (!capabilities().generations) {
    EXPECT_TRUE(is_refused(store().open("name", {.generation = 0}, context_)));
    EXPECT_TRUE(is_refused(store().open("name", {.generation = 1}, context_)));
  }
  expect_holds("name", bytes_of("old"));
}

TEST_P(StoreContract, CreatesOnlyIfAbsentOrPresent) {
  if (!keeps_objects() || !capabilities().preconditions) GTEST_SKIP() << "no preconditions";
  EXPECT_TRUE(fails_with(try_put("name", bytes_of("1"), with_precondition(Precondition::present())),
                         kFailed));
  expect_absent("name");
  EXPECT_TRUE(succeeds(try_put("name", bytes_of("2"), with_precondition(Precondition::absent()))));
  EXPECT_TRUE(fails_with(try_put("name", bytes_of("3"), with_precondition(Precondition::absent())),
                         kFailed));
  expect_holds("name", bytes_of("2"));
  EXPECT_TRUE(succeeds(try_put("name", bytes_of("4"), with_precondition(Precondition::present()))));
  expect_holds("name", bytes_of("4"));
  EXPECT_TRUE(succeeds(store().remove("name", {}, context_)));
  EXPECT_TRUE(succeeds(try_put("name", bytes_of("5"), with_precondition(Precondition::absent()))));
  expect_holds("name", bytes_of("5"));
}

TEST_P(StoreContract, CreatesOnlyIfTheEtagIs) {
  if (!keeps_objects() || !capabilities().preconditions) GTEST_SKIP() << "no preconditions";
  EXPECT_TRUE(fails_with(
      try_put("name", bytes_of("1"), with_precondition(Precondition::has_etag("x"))), kFailed));
  expect_absent("name");
  const auto first = try_put("name", bytes_of("first"));
  ASSERT_TRUE(succeeds(first));
  const auto second =
      try_put("name", bytes_of("second"), with_precondition(Precondition::has_etag(first->etag)));
  ASSERT_TRUE(succeeds(second));
  EXPECT_TRUE(fails_with(
      try_put("name", bytes_of("third"), with_precondition(Precondition::has_etag(first->etag))),
      kFailed));
  EXPECT_TRUE(fails_with(
      try_put("name", bytes_of("4"), with_precondition(Precondition::has_etag(""))), kFailed));
  expect_holds("name", bytes_of("second"));
}

TEST_P(StoreContract, CreatesOnlyIfTheGenerationIs) {
  if (!keeps_objects() || !capabilities().preconditions || !capabilities().generations) {
    GTEST_SKIP() << "no generations";
  }
  const auto first = try_put("name", bytes_of("first"));
  ASSERT_TRUE(succeeds(first));
  const auto only_first = with_precondition(Precondition::has_generation(first->generation));
  EXPECT_TRUE(succeeds(try_put("name", bytes_of("second"), only_first)));
  EXPECT_TRUE(fails_with(try_put("name", bytes_of("third"), only_first), kFailed));
  expect_holds("name", bytes_of("second"));
  ASSERT_TRUE(succeeds(store().remove("name", {}, context_)));
  EXPECT_TRUE(fails_with(try_put("name", bytes_of("fourth"), only_first), kFailed));
  expect_absent("name");
}

TEST_P(StoreContract, ChecksThePreconditionAtCommit) {
  if (!keeps_objects() || !capabilities().preconditions) GTEST_SKIP() << "no preconditions";
  auto slow = store().create("name", with_precondition(Precondition::absent()), context_);
  ASSERT_TRUE(succeeds(slow));
  ASSERT_TRUE(succeeds((*slow)->append(bytes_of("slow"), context_)));
  auto fast = store().create("name", with_precondition(Precondition::absent()), context_);
  ASSERT_TRUE(succeeds(fast));
  ASSERT_TRUE(succeeds((*fast)->append(bytes_of("fast"), context_)));
  const auto info = (*fast)->commit({}, context_);
  ASSERT_TRUE(succeeds(info));
  EXPECT_TRUE(fails_with((*slow)->commit({}, context_), kFailed));
  expect_holds("name", bytes_of("fast"));

  auto stale =
      store().create("name", with_precondition(Precondition::has_etag(info->etag)), context_);
  ASSERT_TRUE(succeeds(stale));
  ASSERT_TRUE(succeeds((*stale)->append(bytes_of("stale"), context_)));
  put("name", bytes_of("newer"));
  EXPECT_TRUE(fails_with((*stale)->commit({}, context_), kFailed));
  expect_holds("name", bytes_of("newer"));
}

TEST_P(StoreContract, OneOfManyWritersFindsTheNameAbsent) {
  if (!keeps_objects() || !capabilities().preconditions) GTEST_SKIP() << "no preconditions";
  for (int round = 0; round < 20; ++round) {
    const std::string name = "contended/" + std::to_string(round);
    std::atomic<int> winners{0};
    std::atomic<int> losers{0};
    std::atomic<int> winner{-1};
    std::vector<std::jthread> threads;
    for (int number = 0; number < 8; ++number) {
      threads.emplace_back([&, number] {
        const auto info =
            try_put(name, pattern_bytes(1000, number), with_precondition(Precondition::absent()));
        if (info.ok()) {
          ++winners;
          winner = number;
        } else if (info.failed_with(kFailed)) {
          ++losers;
        }
      });
    }
    threads.clear();
    EXPECT_EQ(winners, 1);
    EXPECT_EQ(losers, 7);
    expect_holds(name, pattern_bytes(1000, winner));
  }
}

TEST_P(StoreContract, CountsExactlyByCompareAndSwap) {
  if (!keeps_objects() || !capabilities().preconditions) GTEST_SKIP() << "no preconditions";
  put("counter", bytes_of("0"));
  constexpr int kThreads = 4;
  constexpr int kSteps = 10;
  const auto step_once = [&] {
    while (true) {
      const auto reader = store().open("counter", {}, context_);
      ASSERT_TRUE(succeeds(reader));
      Bytes bytes((*reader)->info().size_bytes);
      ASSERT_TRUE(succeeds((*reader)->read_at(0, bytes, context_)));
      const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      const auto info = try_put("counter", bytes_of(std::to_string(std::stoi(text) + 1)),
                                with_precondition(Precondition::has_etag((*reader)->info().etag)));
      if (info.ok()) return;
      ASSERT_TRUE(fails_with(info, kFailed));
    }
  };
  std::vector<std::jthread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&] {
      for (int step = 0; step < kSteps; ++step) step_once();
    });
  }
  threads.clear();
  expect_holds("counter", bytes_of(std::to_string(kThreads * kSteps)));
}

TEST_P(StoreContract, RemovesOnlyIf) {
  if (!keeps_objects() || !capabilities().preconditions) GTEST_SKIP() << "no preconditions";
  const auto info = try_put("name", bytes_of("bytes"));
  ASSERT_TRUE(succeeds(info));
  const auto remove = [&](Precondition precondition) {
    return store().remove("name", remove_only_if(std::move(precondition)), context_);
  };
  EXPECT_TRUE(fails_with(remove(Precondition::absent()), kFailed));
  EXPECT_TRUE(fails_with(remove(Precondition::has_etag("other")), kFailed));
  if (capabilities().generations) {
    EXPECT_TRUE(fails_with(remove(Precondition::has_generation(info->generation + 1)), kFailed));
  }
  expect_holds("name", bytes_of("bytes"));
  EXPECT_TRUE(succeeds(remove(Precondition::has_etag(info->etag))));
  expect_absent("name");
  EXPECT_TRUE(fails_with(remove(Precondition::absent()), ErrorCode::kNotFound));
  for (const auto& precondition : {Precondition::present(), Precondition::has_etag(info->etag)}) {
    const auto status = remove(precondition);
    EXPECT_TRUE(status.failed_with(kFailed) || status.failed_with(ErrorCode::kNotFound));
  }
  put("name", bytes_of("again"));
  EXPECT_TRUE(succeeds(remove(Precondition::present())));
  expect_absent("name");
}

TEST_P(StoreContract, RemovesOnlyIfTheGenerationIs) {
  if (!keeps_objects() || !capabilities().preconditions || !capabilities().generations) {
    GTEST_SKIP() << "no generations";
  }
  const auto first = try_put("name", bytes_of("first"));
  const auto second = try_put("name", bytes_of("second"));
  ASSERT_TRUE(succeeds(first));
  ASSERT_TRUE(succeeds(second));
  const auto remove = [&](std::uint64_t generation) {
    return store().remove("name", remove_only_if(Precondition::has_generation(generation)),
                          context_);
  };
  EXPECT_TRUE(fails_with(remove(first->generation), kFailed));
  expect_holds("name", bytes_of("second"));
  EXPECT_TRUE(succeeds(remove(second->generation)));
  expect_absent("name");
}

TEST_P(StoreContract, CopiesOnlyIf) {
  if (!keeps_objects() || !capabilities().preconditions) GTEST_SKIP() << "no preconditions";
  put("source", bytes_of("source"));
  put("target", bytes_of("target"));
  EXPECT_TRUE(fails_with(
      store().copy("source", "target", with_precondition(Precondition::absent()), context_),
      kFailed));
  expect_holds("target", bytes_of("target"));
  EXPECT_TRUE(succeeds(
      store().copy("source", "target", with_precondition(Precondition::present()), context_)));
  expect_holds("target", bytes_of("source"));
}

TEST_P(StoreContract, OpensAPinnedGeneration) {
  if (!keeps_objects() || !capabilities().generations) GTEST_SKIP() << "no generations";
  const auto first = try_put("name", bytes_of("first"));
  ASSERT_TRUE(succeeds(first));
  EXPECT_TRUE(succeeds(store().open("name", {.generation = first->generation}, context_)));
  const auto second = try_put("name", bytes_of("second"));
  ASSERT_TRUE(succeeds(second));
  EXPECT_TRUE(fails_with(store().open("name", {.generation = first->generation}, context_),
                         ErrorCode::kNotFound));
  EXPECT_TRUE(succeeds(store().open("name", {.generation = second->generation}, context_)));
  ASSERT_TRUE(succeeds(store().remove("name", {}, context_)));
  EXPECT_TRUE(fails_with(store().open("name", {.generation = second->generation}, context_),
                         ErrorCode::kNotFound));
}

}  // namespace
}  // namespace leat::testing
