#include "leat/base/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "leat/base/testing/captured_descriptor.h"

namespace leat {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = 1 << 20;

ProgressSnapshot half_done() {
  ProgressSnapshot snapshot;
  snapshot.label = "copy";
  snapshot.done = 50 * kMiB;
  snapshot.total = 100 * kMiB;
  snapshot.rate_per_second = 10 * kMiB;
  snapshot.elapsed = 5s;
  return snapshot;
}

TEST(ProgressLine, ShowsEverythingWhenThereIsRoom) {
  EXPECT_EQ(progress_line(half_done(), 80),
            "copy  [===============>               ]   50% 50.0MiB/100MiB  10.0MiB/s  5s left");
}

TEST(ProgressLine, DropsWhatMattersLeastWhenNarrow) {
  EXPECT_EQ(progress_line(half_done(), 50), "copy   50% 50.0MiB/100MiB  10.0MiB/s  5s left");
  EXPECT_EQ(progress_line(half_done(), 40), "copy   50% 50.0MiB/100MiB  10.0MiB/s");
  EXPECT_EQ(progress_line(half_done(), 30), "copy   50% 50.0MiB/100MiB");
  EXPECT_EQ(progress_line(half_done(), 22), " 50% 50.0MiB/100MiB");
  EXPECT_EQ(progress_line(half_done(), 5), " 50% ");
  EXPECT_EQ(progress_line(half_done(), 0), "");
}

TEST(ProgressLine, NeverExceedsTheWidth) {
  ProgressSnapshot snapshot = half_done();
  snapshot.label = "l\u00e4bel";
  for (std::size_t width = 0; width < 200; ++width) {
    const std::string line = progress_line(snapshot, width);
    const auto continuations = std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    });
    ASSERT_LE(line.size() - static_cast<std::size_t>(continuations), width);
  }
}

TEST(ProgressLine, WithoutTotalThereIsNoBarAndNoEnd) {
  ProgressSnapshot snapshot = half_done();
  snapshot.total.reset();
  EXPECT_EQ(progress_line(snapshot, 80), "copy  50.0MiB  10.0MiB/s");
}

TEST(ProgressLine, OddNumbers) {
  ProgressSnapshot snapshot = half_done();
  snapshot.rate_per_second = 0;
  EXPECT_EQ(progress_line(snapshot, 40), "copy   50% 50.0MiB/100MiB  0B/s");
  snapshot.done = 200 * kMiB;  // more than was promised
  EXPECT_EQ(progress_line(snapshot, 40), "copy  100% 200MiB/100MiB  0B/s");
  snapshot.done = 0;
  snapshot.total = 0;
  EXPECT_EQ(progress_line(snapshot, 40), "copy  [==============]  100% 0B/0B  0B/s");
  snapshot.unit = ProgressUnit::kItems;
  snapshot.done = 7;
  snapshot.total = UINT64_MAX - 1;
  snapshot.rate_per_second = 2.5;
  EXPECT_EQ(progress_line(snapshot, 40), "copy    0% 7/18446744073709551614  2.5/s");
}

class ProgressTest : public ::testing::Test {
 protected:
  ProgressOptions options() {
    ProgressOptions result;
    result.label = "copy";
    result.total = 100 * kMiB;
    result.descriptor = captured_.descriptor();
    result.show = ProgressOptions::Show::kAlways;
    result.width = 80;
    result.clock = &clock_;
    return result;
  }
  std::size_t draws() const {
    const std::string text = captured_.text();
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\r'));
  }

  ManualClock clock_;
  CapturedDescriptor captured_;
};

TEST_F(ProgressTest, IsSilentWhenNotATerminal) {
  ProgressOptions quiet = options();
  quiet.show = ProgressOptions::Show::kOnTerminal;
  {
    Progress progress(quiet);
    clock_.advance(1s);
    progress.add(kMiB);
    EXPECT_EQ(progress.done(), kMiB);
  }
  EXPECT_EQ(captured_.text(), "");
}

TEST_F(ProgressTest, RedrawsAtMostTenTimesASecond) {
  Progress progress(options());
  for (int i = 0; i < 1000; ++i) {
    clock_.advance(1ms);
    progress.add(1);
  }
  EXPECT_EQ(draws(), 10u);
}

TEST_F(ProgressTest, FinishLeavesOneFinalLine) {
  {
    Progress progress(options());
    clock_.advance(2s);
    progress.add(50 * kMiB);
    clock_.advance(2s);
    progress.add(50 * kMiB);
    progress.finish();
    const std::string text = captured_.text();
    EXPECT_TRUE(text.ends_with("\rcopy: 100MiB in 4.00s, 25.0MiB/s\x1b[K\n")) << text;
    clock_.advance(2s);
    progress.add(1);
    progress.finish();
    EXPECT_EQ(captured_.text(), text);
  }
  const std::string text = captured_.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST_F(ProgressTest, ShowsTheRateOfTheLastSeconds) {
  Progress progress(options());
  for (int i = 0; i < 20; ++i) {  // 10 MiB/s for 2 s
    clock_.advance(100ms);
    progress.add(kMiB);
  }
  EXPECT_NE(captured_.text().find("20.0MiB/100MiB  10.0MiB/s  8s left"), std::string::npos);
  for (int i = 0; i < 300; ++i) {  // 1 MiB/s for 30 s
    clock_.advance(100ms);
    progress.add(kMiB / 10);
  }
  const std::string text = captured_.text();
  const std::string last = text.substr(text.rfind('\r'));
  EXPECT_NE(last.find("  1.0"), std::string::npos) << last;
}

TEST_F(ProgressTest, LearnsItsTotalLate) {
  ProgressOptions unknown = options();
  unknown.total.reset();
  Progress progress(unknown);
  clock_.advance(100ms);
  progress.add(kMiB);
  EXPECT_EQ(captured_.text().find('%'), std::string::npos);
  progress.set_total(2 * kMiB);
  clock_.advance(100ms);
  progress.add(0);
  EXPECT_NE(captured_.text().find("50%"), std::string::npos);
}

TEST_F(ProgressTest, ThreadsReportWhileTheOwnerFinishes) {
  ProgressOptions real = options();
  real.clock = &Clock::system();
  Progress progress(real);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&progress] {
      const MonotonicTime end = Clock::system().now() + 250ms;
      while (Clock::system().now() < end) progress.add(1);
    });
  }
  Clock::system().sleep_for(150ms);
  progress.finish();
  const std::string text = captured_.text();
  threads.clear();
  EXPECT_EQ(captured_.text(), text);
  EXPECT_TRUE(text.ends_with("\n"));
}

}  // namespace
}  // namespace leat
