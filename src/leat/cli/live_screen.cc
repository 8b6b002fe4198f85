#include "leat/cli/live_screen.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace leat::cli {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // nobody is there to look
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

// The first `columns` characters.
std::string_view cut(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool begins_character = (static_cast<unsigned char>(text[at]) >> 6) != 2;
    if (begins_character && columns-- == 0) break;
  }
  return text.substr(0, at);
}

}  // namespace

std::unique_ptr<LiveScreen> LiveScreen::open() {
  termios before{};
  if (isatty(STDOUT_FILENO) == 0 || tcgetattr(STDIN_FILENO, &before) != 0) return nullptr;
  termios raw = before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VSUSP] = _POSIX_VDISABLE;  // a shell would be left with our screen
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0) return nullptr;
  write_all(kEnter);
  return std::unique_ptr<LiveScreen>(new LiveScreen(before));
}

LiveScreen::~LiveScreen() {
  write_all(kLeave);
  (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
}

void LiveScreen::draw(const std::vector<std::string>& lines) const {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size = {24, 80, 0, 0};
  std::string text = "\x1b[H";
  const std::size_t shown = std::min<std::size_t>(lines.size(), size.ws_row);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += "\r\n";
    if (i == 0) text += "\x1b[1m";
    text += cut(lines[i], size.ws_col);
    text += i == 0 ? "\x1b[0m\x1b[K" : "\x1b[K";
  }
  write_all(text + "\x1b[J");
}

LiveScreen::Wish LiveScreen::wait(std::chrono::milliseconds duration,
                                  const std::stop_token& token) {
  const int stopped = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (stopped < 0) return Wish::kLeave;
  Wish wish = Wish::kGoOn;
  {
    const std::stop_callback on_stop(token, [stopped] {
      const std::uint64_t one = 1;
      (void)!write(stopped, &one, sizeof(one));
    });
    const auto end = std::chrono::steady_clock::now() + duration;
    for (;;) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      if (left.count() <= 0) break;
      std::array<pollfd, 2> watched{{{STDIN_FILENO, POLLIN, 0}, {stopped, POLLIN, 0}}};
      const int count = poll(watched.data(), watched.size(), static_cast<int>(left.count()));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      if (watched[1].revents != 0) wish = Wish::kLeave;
      char key = 0;
      // A terminal that is gone reads as its end.
      if (watched[0].revents != 0 && (read(STDIN_FILENO, &key, 1) != 1 || key == 'q')) {
        wish = Wish::kLeave;
      }
      if (wish == Wish::kLeave) break;
    }
  }
  close(stopped);
  return wish;
}

}  // namespace leat::cli
