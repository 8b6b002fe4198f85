#include "leat/base/executor.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <latch>
#include <set>
#include <thread>

#include "leat/base/mutex.h"

namespace leat {
namespace {

using namespace std::chrono_literals;

std::size_t thread_count_of_this_process() {
  std::size_t count = 0;
  FILE* status = std::fopen("/proc/self/status", "r");
  char line[256];
  while (status != nullptr && std::fgets(line, sizeof line, status) != nullptr) {
    if (std::sscanf(line, "Threads: %zu", &count) == 1) break;
  }
  if (status != nullptr) std::fclose(status);
  return count;
}

TEST(ThreadPoolExecutor, RunsEverythingBeforeItIsGone) {
  std::atomic<int> ran{0};
  {
    ThreadPoolExecutor executor({.thread_count = 3, .queue_capacity = 4});
    for (int i = 0; i < 1000; ++i) executor.submit([&ran] { ++ran; });
  }
  EXPECT_EQ(ran.load(), 1000);
}

TEST(ThreadPoolExecutor, HasNoThreadsBeforeFirstUse) {
  const std::size_t before = thread_count_of_this_process();
  ThreadPoolExecutor executor({.thread_count = 3});
  EXPECT_EQ(thread_count_of_this_process(), before);
  executor.submit([] {});
  EXPECT_EQ(thread_count_of_this_process(), before + 3);
}

TEST(ThreadPoolExecutor, UsesItsThreadsInParallelAndNoMore) {
  Mutex mutex;
  std::set<std::thread::id> ids;
  {
    std::latch all_three(3);
    ThreadPoolExecutor executor({.thread_count = 3});
    for (int i = 0; i < 3; ++i) {
      executor.submit([&] {
        all_three.arrive_and_wait();
        const MutexLock lock(mutex);
        ids.insert(std::this_thread::get_id());
      });
    }
    for (int i = 0; i < 100; ++i) {
      executor.submit([&] {
        const MutexLock lock(mutex);
        ids.insert(std::this_thread::get_id());
      });
    }
  }
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_FALSE(ids.contains(std::this_thread::get_id()));
}

TEST(ThreadPoolExecutor, SubmitBlocksWhileTheQueueIsFull) {
  std::latch started(1);
  std::latch release(1);
  std::atomic<int> submitted{0};
  ThreadPoolExecutor executor({.thread_count = 1, .queue_capacity = 2});
  executor.submit([&] {
    started.count_down();
    release.wait();
  });
  started.wait();
  std::jthread submitter([&] {
    for (int i = 0; i < 3; ++i) {
      executor.submit([] {});
      ++submitted;
    }
  });
  while (submitted.load() < 2) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(submitted.load(), 2);
  release.count_down();
  submitter.join();
  EXPECT_EQ(submitted.load(), 3);
}

TEST(ThreadPoolExecutor, ATaskThatSubmitsToItsFullPoolDoesNotWaitForItself) {
  std::atomic<int> ran{0};
  {
    ThreadPoolExecutor executor({.thread_count = 1, .queue_capacity = 1});
    executor.submit([&] {
      for (int i = 0; i < 10; ++i) executor.submit([&ran] { ++ran; });
    });
  }
  EXPECT_EQ(ran.load(), 10);
}

TEST(ThreadPoolExecutor, WithoutThreadsTheCallerWorks) {
  ThreadPoolExecutor executor({.thread_count = 0});
  std::thread::id id;
  executor.submit([&id] { id = std::this_thread::get_id(); });
  EXPECT_EQ(id, std::this_thread::get_id());
}

TEST(ThreadPoolExecutor, ThreadsBlockSignals) {
  sigset_t mask;
  sigemptyset(&mask);
  {
    ThreadPoolExecutor executor({.thread_count = 1});
    executor.submit([&mask] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); });
  }
  EXPECT_EQ(sigismember(&mask, SIGTERM), 1);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGTERM), 0);
}

// ThreadSanitizer cannot follow threads that are started in the child of a fork.
#if !defined(__SANITIZE_THREAD__)
// The child gets threads of its own, and what the parent had queued runs in the parent only.
TEST(ThreadPoolExecutor, SurvivesFork) {
  std::atomic<int> ran{0};
  auto executor = std::make_unique<ThreadPoolExecutor>(
      ThreadPoolOptions{.thread_count = 1, .queue_capacity = 8});
  std::latch started(1);
  std::latch release(1);
  executor->submit([&] {
    started.count_down();
    release.wait();
  });
  executor->submit([&ran] { ++ran; });
  started.wait();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::latch ran_in_child(1);
    executor->submit([&ran_in_child] { ran_in_child.count_down(); });
    ran_in_child.wait();
    executor.reset();
    _exit(ran.load() == 0 ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  release.count_down();
  executor.reset();
  EXPECT_EQ(ran.load(), 1);
}

TEST(ThreadPoolExecutor, AnInheritedPoolCanBeDestroyedUnused) {
  auto executor = std::make_unique<ThreadPoolExecutor>(ThreadPoolOptions{.thread_count = 2});
  executor->submit([] {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    executor.reset();
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
}
#endif

TEST(WorkGroup, WaitsForAllAndKeepsTheFirstError) {
  InlineExecutor executor;
  WorkGroup group(executor);
  int ran = 0;
  EXPECT_TRUE(group.wait().ok());
  group.run([&] {
    ++ran;
    return ok_status();
  });
  EXPECT_FALSE(group.failed());
  group.run([&]() -> Status { return Error(ErrorCode::kNoSpace, "first"); });
  group.run([&]() -> Status { return Error(ErrorCode::kIoError, "second"); });
  group.run([&] {
    ++ran;
    return ok_status();
  });
  EXPECT_TRUE(group.failed());
  const Status status = group.wait();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(), "first");
  EXPECT_EQ(ran, 2);
  EXPECT_TRUE(group.wait().ok());
}

TEST(WorkGroup, RunsOnThreads) {
  ThreadPoolExecutor executor({.thread_count = 4, .queue_capacity = 8});
  for (int round = 0; round < 50; ++round) {
    std::vector<int> results(64);
    WorkGroup group(executor);
    for (std::size_t i = 0; i < results.size(); ++i) {
      group.run([&results, i]() -> Status {
        results[i] = static_cast<int>(i);
        if (i == 40) return ErrorCode::kCorrupted;
        return ok_status();
      });
    }
    EXPECT_TRUE(group.wait().failed_with(ErrorCode::kCorrupted));
    for (std::size_t i = 0; i < results.size(); ++i) ASSERT_EQ(results[i], static_cast<int>(i));
  }
}

TEST(WorkGroup, TasksMayAddTasks) {
  ThreadPoolExecutor executor({.thread_count = 2, .queue_capacity = 2});
  WorkGroup group(executor);
  std::atomic<int> ran{0};
  for (int i = 0; i < 10; ++i) {
    group.run([&] {
      for (int k = 0; k < 10; ++k) {
        group.run([&] {
          ++ran;
          return ok_status();
        });
      }
      return ok_status();
    });
  }
  EXPECT_TRUE(group.wait().ok());
  EXPECT_EQ(ran.load(), 100);
}

}  // namespace
}  // namespace leat
