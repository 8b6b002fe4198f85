// LiveScreen: a terminal that shows one thing, drawn again and again, until somebody leaves.
//
// Takes the alternate screen and gives everything back when it is destroyed: what was there before,
// the cursor, the way keys are read. For one thread.
#pragma once

#include <termios.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace leat::cli {

class LiveScreen {
 public:
  // Null when standard input and output are not both a terminal.
  static std::unique_ptr<LiveScreen> open();
  ~LiveScreen();
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  // What does not fit is left out. The first line stands out.
  void draw(const std::vector<std::string>& lines) const;

  enum class Wish : bool { kGoOn, kLeave };
  // After `duration`, or when 'q' is pressed or a stop is asked for.
  static Wish wait(std::chrono::milliseconds duration, const std::stop_token& token);

 private:
  explicit LiveScreen(const termios& before) : before_(before) {}

  const termios before_;
};

}  // namespace leat::cli
