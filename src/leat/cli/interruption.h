// Interruption: Ctrl-C (SIGINT) and SIGTERM, turned into a stop token.
//
// The first signal asks the work to stop and clean up, the second ends the process at once with
// exit code 130. The signals are blocked, in this thread and those started after, and waited for by
// a thread of their own, so no code runs in a signal handler. One per process, made first in main.
#pragma once

#include <stop_token>
#include <thread>

namespace leat::cli {

class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  void watch();

  std::stop_source stop_;
  int signals_ = -1;  // descriptors
  int end_ = -1;
  std::thread watcher_;
};

}  // namespace leat::cli
