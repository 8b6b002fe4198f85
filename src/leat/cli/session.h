// Session: what a verb needs to do its work: the global flags, where output goes, how stores are
// opened, and the context that Ctrl-C cancels.
//
// A verb is one file: a function that adds it to the parser, and one that runs it. For the main
// thread only, apart from executor().
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "leat/base/context.h"
#include "leat/base/executor.h"
#include "leat/base/progress.h"
#include "leat/base/result.h"
#include "leat/cli/output.h"
#include "leat/cli/stores.h"

namespace leat::cli {

enum class ExitCode : int { kOk = 0, kFailed = 1, kUsage = 2, kInterrupted = 130 };

struct GlobalFlags {
  std::size_t jobs = 0;  // 0: twice the cores, at most 16
  bool quiet = false;
  bool json = false;
  std::string config;
  std::string timeout;
};

class Session {
 public:
  Session(const GlobalFlags& flags, Stores stores, Context context);

  Output& output() { return output_; }
  Stores& stores() { return stores_; }
  const Context& context() const { return context_; }
  // Has --jobs threads once it is used.
  Executor& executor();

  // A line of progress that --quiet and --json silence.
  ProgressOptions progress_options(std::string label) const;

  // Reports on standard error that `what` ("read mem:x") could not be done. Without advice, the
  // error's code decides what to try.
  ExitCode fail(std::string_view what, const Error& error, std::string_view advice = {});
  // The same for a command that makes no sense as it is.
  ExitCode refuse(std::string_view message, std::string_view advice);

 private:
  Output output_;
  Stores stores_;
  const Context context_;
  const std::size_t jobs_;
  std::unique_ptr<ThreadPoolExecutor> executor_;
};

using Verb = std::function<ExitCode(Session&)>;

}  // namespace leat::cli
