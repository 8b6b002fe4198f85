#include "leat/base/clock.h"

#include <gtest/gtest.h>

namespace leat {
namespace {

using namespace std::chrono_literals;

TEST(ManualClock, MovesOnlyWhenTold) {
  const ManualClock clock;
  const MonotonicTime start = clock.now();
  const std::int64_t wall = clock.wall_ns();
  EXPECT_EQ(clock.now(), start);
  clock.advance(5s);
  EXPECT_EQ(clock.now() - start, 5s);
  clock.sleep_for(1s);
  EXPECT_EQ(clock.now() - start, 6s);
  EXPECT_EQ(clock.wall_ns() - wall, 6'000'000'000);
}

TEST(SystemClock, Moves) {
  const Clock& clock = Clock::system();
  const MonotonicTime start = clock.now();
  clock.sleep_for(2ms);
  EXPECT_GE(clock.now() - start, 2ms);
  EXPECT_GT(clock.wall_ns(), 1'600'000'000'000'000'000);
}

}  // namespace
}  // namespace leat
