// Executor: where work that may run in parallel goes. Injected, so that a test runs it inline.
//
// One bounded executor per store: a slow source fills its own queue and never starves another.
// All classes here are safe for concurrent use.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "leat/base/result.h"

namespace leat {

class Executor {
 public:
  using Task = std::function<void()>;

  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  // Runs `task` once, now or later, in this thread or another. May block while there is too much
  // to do. A task must not throw, and must not wait for another task of the same executor.
  virtual void submit(Task task) = 0;
};

// Runs every task inside submit().
class InlineExecutor final : public Executor {
 public:
  void submit(Task task) override { task(); }
};

struct ThreadPoolOptions {
  std::size_t thread_count = 4;
  std::size_t queue_capacity = 256;  // tasks that wait; submit() blocks while there are so many
  std::string thread_name = "leat";  // the first 15 bytes are seen in ps and gdb
};

// A fixed number of threads and a bounded queue.
//
// - No thread exists before the first submit(). The threads block all signals: handlers of the
//   host process run in the host's threads.
// - When the queue is full, a task of the pool that submits runs the new task itself, since to
//   wait for its own pool could last for ever. So does everybody when the system refuses threads.
// - The child of a fork inherits no threads: its first submit() starts its own. What was queued at
//   the fork is the parent's and runs there only.
// - The destructor runs everything that was submitted, then joins. Nobody else may be in submit().
class ThreadPoolExecutor final : public Executor {
 public:
  explicit ThreadPoolExecutor(ThreadPoolOptions options);
  ~ThreadPoolExecutor() override;

  void submit(Task task) override;

 private:
  class Pool;
  // The pool of this process; replaces one inherited across a fork.
  Pool& current_pool();

  const ThreadPoolOptions options_;
  std::atomic<Pool*> pool_{nullptr};
};

// Tasks that belong together: run() each, then wait() for all.
//
// Every task runs, even after another failed; a long one can ask failed() and stop early. One
// thread runs and waits, the tasks may call failed() and run(). Reusable after wait().
class WorkGroup {
 public:
  explicit WorkGroup(Executor& executor);
  WorkGroup(const WorkGroup&) = delete;
  WorkGroup& operator=(const WorkGroup&) = delete;
  // Waits: the tasks may refer to what the owner of this group holds.
  ~WorkGroup();

  void run(std::function<Status()> task);
  // Blocks until every task is done. The error of the task that failed first since the last wait.
  Status wait();
  bool failed() const;

 private:
  struct State;
  Executor& executor_;
  const std::shared_ptr<State> state_;
};

}  // namespace leat
