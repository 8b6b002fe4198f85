#include "leat/cli/interruption.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "leat/base/check.h"

namespace leat::cli {

namespace {
constexpr int kInterruptedExitCode = 130;
}

Interruption::Interruption() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  end_ = eventfd(0, EFD_CLOEXEC);
  CHECK(signals_ >= 0 && end_ >= 0);
  watcher_ = std::thread([this] { watch(); });
}

Interruption::~Interruption() {
  const std::uint64_t one = 1;
  CHECK(write(end_, &one, sizeof one) == sizeof one);
  watcher_.join();
  close(signals_);
  close(end_);
}

void Interruption::watch() {
  for (;;) {
    std::array<pollfd, 2> events = {pollfd{signals_, POLLIN, 0}, pollfd{end_, POLLIN, 0}};
    if (poll(events.data(), events.size(), -1) < 0) continue;
    if (events[1].revents != 0) return;
    signalfd_siginfo signal{};
    if (read(signals_, &signal, sizeof signal) != sizeof signal) continue;
    if (!stop_.request_stop()) _exit(kInterruptedExitCode);
  }
}

}  // namespace leat::cli
