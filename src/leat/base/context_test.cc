#include "leat/base/context.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace leat {
namespace {

using namespace std::chrono_literals;

TEST(Context, DefaultHasNoLimits) {
  const Context context;
  EXPECT_TRUE(context.check().ok());
  EXPECT_FALSE(context.deadline().has_value());
  EXPECT_GT(context.remaining(), 24h);
  EXPECT_EQ(context.memory_budget(), nullptr);
  EXPECT_EQ(context.priority(), Priority::kForeground);
}

TEST(Context, DeadlinePassesWithTheClock) {
  const ManualClock clock;
  const Context context = Context(clock).with_timeout(10s);
  EXPECT_TRUE(context.check().ok());
  EXPECT_EQ(context.remaining(), 10s);
  clock.advance(9s);
  EXPECT_TRUE(context.check().ok());
  clock.advance(1s);
  EXPECT_TRUE(context.check().failed_with(ErrorCode::kDeadlineExceeded));
  clock.advance(1s);
  EXPECT_EQ(context.remaining(), 0s);
}

TEST(Context, DeadlineOnlyTightens) {
  const ManualClock clock;
  const Context tight = Context(clock).with_timeout(1s);
  EXPECT_EQ(tight.with_timeout(10s).remaining(), 1s);
  EXPECT_EQ(tight.with_timeout(500ms).remaining(), 500ms);
  EXPECT_EQ(tight.remaining(), 1s);
}

TEST(Context, CancellationComesFirst) {
  const ManualClock clock;
  std::stop_source source;
  const Context context =
      Context(clock).with_timeout(1s).with_cancellation(source.get_token()).with_trace_id(9);
  EXPECT_TRUE(context.check().ok());
  EXPECT_EQ(context.trace_id(), 9u);
  clock.advance(2s);
  source.request_stop();
  EXPECT_TRUE(context.check().failed_with(ErrorCode::kCancelled));
}

TEST(Context, TightenedCopiesLeaveTheOriginal) {
  const Context original;
  const Context copy = original.with_priority(Priority::kBackground)
                           .with_memory_budget(std::make_shared<MemoryBudget>(10));
  EXPECT_EQ(original.priority(), Priority::kForeground);
  EXPECT_EQ(copy.priority(), Priority::kBackground);
  EXPECT_EQ(copy.memory_budget()->capacity_bytes(), 10u);
}

TEST(MemoryBudget, GivesBack) {
  MemoryBudget budget(100);
  {
    Result<MemoryBudget::Reservation> first = budget.reserve(60);
    ASSERT_TRUE(first.ok());
    EXPECT_TRUE(budget.reserve(41).failed_with(ErrorCode::kUnavailable));
    EXPECT_TRUE(budget.reserve(UINT64_MAX).failed_with(ErrorCode::kUnavailable));
    MemoryBudget::Reservation moved = *std::move(first);
    EXPECT_EQ(budget.used_bytes(), 60u);
    Result<MemoryBudget::Reservation> second = budget.reserve(40);
    ASSERT_TRUE(second.ok());
    moved = *std::move(second);
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(MemoryBudget, IsNeverOverdrawnByThreads) {
  MemoryBudget budget(3);
  std::atomic<int> refused{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5000; ++i) {
          const Result<MemoryBudget::Reservation> held = budget.reserve(2);
          EXPECT_LE(budget.used_bytes(), 3u);
          if (!held.ok()) ++refused;
        }
      });
    }
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
  EXPECT_LE(refused.load(), 20'000);
}

}  // namespace
}  // namespace leat
