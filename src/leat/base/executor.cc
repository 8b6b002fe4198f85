#include "leat/base/executor.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "leat/base/mutex.h"

namespace leat {
namespace {

// Threads made while one of these lives block all signals.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

class ThreadPoolExecutor::Pool {
 public:
  // `inherited`: the parent's pool, if this process was forked. It cannot be destroyed: its threads
  // are not here and its lock may be held for ever. It stays reachable from here instead.
  Pool(const ThreadPoolOptions& options, Pool* inherited)
      : options_(options), inherited_(inherited) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { drain_and_join(); }

  bool belongs_here() const { return process_id_ == getpid(); }

  void submit(Task task) {
    if (!try_enqueue(task)) task();
  }

 private:
  // False when the caller has to run the task itself.
  bool try_enqueue(Task& task) {
    const MutexLock lock(mutex_);
    if (!started_) start();
    if (worker_ids_.empty()) return false;
    while (queue_.size() >= options_.queue_capacity) {
      if (is_worker(std::this_thread::get_id())) return false;
      has_room_.wait(mutex_);
    }
    queue_.push_back(std::move(task));
    has_work_.notify_one();
    return true;
  }

  void start() REQUIRES(mutex_) {
    started_ = true;
    const SignalsBlocked signals_blocked;
    try {
      for (std::size_t i = 0; i < options_.thread_count; ++i) {
        threads_.emplace_back([this] { work(); });
        worker_ids_.push_back(threads_.back().get_id());
        const std::string name = options_.thread_name.substr(0, 15);
        pthread_setname_np(threads_.back().native_handle(), name.c_str());
      }
    } catch (const std::system_error&) {
      // Out of threads: those that exist do the work, or the submitters if there are none.
    }
  }

  bool is_worker(std::thread::id id) REQUIRES(mutex_) {
    return std::find(worker_ids_.begin(), worker_ids_.end(), id) != worker_ids_.end();
  }

  void work() {
    while (std::optional<Task> task = next_task()) (*task)();
  }

  // None when the pool is stopping and nothing is left to do.
  std::optional<Task> next_task() {
    const MutexLock lock(mutex_);
    while (queue_.empty()) {
      if (stopping_) return std::nullopt;
      has_work_.wait(mutex_);
    }
    Task task = std::move(queue_.front());
    queue_.pop_front();
    has_room_.notify_one();
    return task;
  }

  void drain_and_join() {
    std::vector<std::thread> threads;
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
      has_work_.notify_all();
      threads.swap(threads_);
    }
    for (std::thread& thread : threads) thread.join();
  }

  const ThreadPoolOptions& options_;
  [[maybe_unused]] Pool* const inherited_;
  const pid_t process_id_ = getpid();
  Mutex mutex_;
  CondVar has_work_;
  CondVar has_room_;
  std::deque<Task> queue_ GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
  std::vector<std::thread::id> worker_ids_ GUARDED_BY(mutex_);
  bool started_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
};

ThreadPoolExecutor::ThreadPoolExecutor(ThreadPoolOptions options) : options_(std::move(options)) {}

ThreadPoolExecutor::~ThreadPoolExecutor() {
  Pool* pool = pool_.load(std::memory_order_acquire);
  if (pool != nullptr && pool->belongs_here()) delete pool;
}

void ThreadPoolExecutor::submit(Task task) {
  current_pool().submit(std::move(task));
}

// Without a lock: another thread could hold it at the moment of a fork, and the child would wait
// for it in vain.
ThreadPoolExecutor::Pool& ThreadPoolExecutor::current_pool() {
  Pool* pool = pool_.load(std::memory_order_acquire);
  while (pool == nullptr || !pool->belongs_here()) {
    auto fresh = std::make_unique<Pool>(options_, pool);
    if (pool_.compare_exchange_strong(pool, fresh.get(), std::memory_order_acq_rel)) {
      return *fresh.release();
    }
  }
  return *pool;
}

struct WorkGroup::State {
  Mutex mutex;
  CondVar all_done;
  std::size_t running GUARDED_BY(mutex) = 0;
  std::optional<Error> first_error GUARDED_BY(mutex);

  void finish(Status status) {
    const MutexLock lock(mutex);
    if (!status.ok() && !first_error) first_error = std::move(status).error();
    if (--running == 0) all_done.notify_all();
  }
};

WorkGroup::WorkGroup(Executor& executor) : executor_(executor), state_(std::make_shared<State>()) {}

WorkGroup::~WorkGroup() {
  (void)wait();  // an owner that wanted the error asked for it
}

void WorkGroup::run(std::function<Status()> task) {
  {
    const MutexLock lock(state_->mutex);
    ++state_->running;
  }
  // The state is shared: the last task may still be inside finish() when the group is gone.
  executor_.submit([state = state_, task = std::move(task)]() mutable {
    Status status = task();
    task = nullptr;  // what it refers to may go once wait() returns
    state->finish(std::move(status));
  });
}

Status WorkGroup::wait() {
  const MutexLock lock(state_->mutex);
  while (state_->running != 0) state_->all_done.wait(state_->mutex);
  if (!state_->first_error) return ok_status();
  Error error = *std::exchange(state_->first_error, std::nullopt);
  return error;
}

bool WorkGroup::failed() const {
  const MutexLock lock(state_->mutex);
  return state_->first_error.has_value();
}

}  // namespace leat
