#include "leat/base/futex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace leat {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""h;

TEST(FutexCounter, WakesEverybodyAtOnce) {
  FutexCounter turns;
  std::atomic<int> waiting = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const std::uint32_t seen = turns.value();
      ++waiting;
      while (turns.value() == seen) turns.wait_for(seen, 1h);
    });
  }
  while (waiting < 4) std::this_thread::yield();
  turns.notify_all();  // the threads' end is the test
}

TEST(FutexCounter, DoesNotWaitForWhatHasHappened) {
  FutexCounter turns;
  const std::uint32_t seen = turns.value();
  turns.notify_all();
  turns.wait_for(seen, 1h);
  EXPECT_EQ(turns.value(), seen + 1);
}

TEST(FutexCounter, GivesUpAfterTheTimeout) {
  FutexCounter turns;
  turns.wait_for(turns.value(), 1ms);
  EXPECT_EQ(turns.value(), 0u);
}

}  // namespace
}  // namespace leat
