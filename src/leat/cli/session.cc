#include "leat/cli/session.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

namespace leat::cli {
namespace {

constexpr std::size_t kMostDefaultJobs = 16;

std::size_t job_count(std::size_t wanted) {
  if (wanted > 0) return wanted;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return std::min(2 * cores, kMostDefaultJobs);
}

constexpr std::array<std::string_view, 4> kRemoteSchemes{"leat://", "leats://", "http://",
                                                         "https://"};

// Whether it is about a server and not about a disk.
bool is_remote(std::string_view what) {
  return std::any_of(kRemoteSchemes.begin(), kRemoteSchemes.end(),
                     [&](std::string_view scheme) { return what.find(scheme) != what.npos; });
}

// URLs of servers without user names, passwords and queries, which may hold tokens.
std::string without_secrets(std::string_view text) {
  std::string result;
  while (is_remote(text)) {
    const std::size_t host = text.find("://") + 3;
    result += text.substr(0, host);
    const bool is_here = is_remote(text.substr(0, host));
    text.remove_prefix(host);
    if (!is_here) continue;
    const std::string_view authority = text.substr(0, text.find_first_of("/?# "));
    const std::size_t user = authority.rfind('@');
    if (user != authority.npos) text.remove_prefix(user + 1);
    result += text.substr(0, text.find_first_of("? "));
    text.remove_prefix(std::min(text.find(' '), text.size()));
  }
  return result.append(text);
}

std::string_view remote_advice(ErrorCode code) {
  if (code == ErrorCode::kPermissionDenied) {
    return "use a key that may do this: LEAT_KEYS=FILE, or ?keys=FILE at the end of a leat:// URL";
  }
  if (code == ErrorCode::kUnavailable) {
    return "is the server running? 'leat serve --data DIRECTORY' starts one";
  }
  return {};
}

std::string_view usual_advice(std::string_view what, ErrorCode code) {
  if (is_remote(what) && !remote_advice(code).empty()) return remote_advice(code);
  switch (code) {
    case ErrorCode::kNotFound:
      return "'leat ls' on the folder above shows what is there";
    case ErrorCode::kAlreadyExists:
      return "choose another name, or remove what is there with 'leat rm'";
    case ErrorCode::kInvalidArgument:
      return "'leat VERB --help' has examples of every kind of URL";
    case ErrorCode::kPermissionDenied:
      return "check who owns it, or run as a user who may";
    case ErrorCode::kNoSpace:
      return "free some space, or add a drive with 'leat drive add'";
    case ErrorCode::kUnsupported:
      return "use a store that can do this, such as leat+local:";
    case ErrorCode::kBusy:
      return "wait until the other process is done, or use the URL under which it serves";
    case ErrorCode::kDeadlineExceeded:
      return "give it more time with --timeout";
    case ErrorCode::kCorrupted:
      return "'leat cp -r --checksum' from where it came copies what is damaged again; "
             "'leat verify' tells what is";
    default:
      return "run the same command again: what is done already is not done twice";
  }
}

}  // namespace

Session::Session(const GlobalFlags& flags, Stores stores, Context context)
    : output_({.json = flags.json, .quiet = flags.quiet}),
      stores_(std::move(stores)),
      context_(std::move(context)),
      jobs_(job_count(flags.jobs)) {}

Executor& Session::executor() {
  if (!executor_) {
    executor_ = std::make_unique<ThreadPoolExecutor>(
        ThreadPoolOptions{.thread_count = jobs_, .queue_capacity = 4 * jobs_});
  }
  return *executor_;
}

ProgressOptions Session::progress_options(std::string label) const {
  ProgressOptions options;
  options.label = std::move(label);
  if (output_.is_quiet() || output_.is_json()) options.show = ProgressOptions::Show::kNever;
  return options;
}

ExitCode Session::fail(std::string_view what, const Error& error, std::string_view advice) {
  if (error.code() == ErrorCode::kCancelled && context_.cancellation().stop_requested()) {
    output_.note("leat: interrupted");
    return ExitCode::kInterrupted;
  }
  output_.error(without_secrets(what), error,
                advice.empty() ? usual_advice(what, error.code()) : advice);
  return ExitCode::kFailed;
}

ExitCode Session::refuse(std::string_view message, std::string_view advice) {
  output_.usage_error(message, advice);
  return ExitCode::kUsage;
}

}  // namespace leat::cli
