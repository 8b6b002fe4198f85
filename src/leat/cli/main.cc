// leat: the command line. Parses, opens a session, runs one verb, and ends with its exit code:
// 0 done, 1 something failed, 2 the command makes no sense, 130 interrupted.
#include <iostream>
#include <string>
#include <utility>

#include "leat/base/units.h"
#include "leat/cli/interruption.h"
#include "leat/cli/session.h"
#include "leat/cli/syntax.h"
#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

constexpr const char* kAbout =
    "Leat stores data sets for deep learning and brings them to the accelerator.\n\n"
    "Every store has a URL: a plain path or file:///dir, leat+local:///dir/bucket/name,\n"
    "leat://host:port/bucket/name (a server; leats: with TLS), https://host/dir/ (to read), mem:,\n"
    "null:?size=1MiB&count=1000. Every verb takes any of them. In a URL with a scheme, '%' is\n"
    "written %25 and '?' %3F.";

constexpr const char* kExamples =
    "  leat bucket create leat+local:///data/store/images\n"
    "  leat cp -r /data/imagenet leat+local:///data/store/images/\n"
    "  leat ls -l leat+local:///data/store/images/\n"
    "  leat VERB --help        examples of every verb\n";

void add_global_flags(Syntax& program, GlobalFlags& flags) {
  program.number("--jobs", flags.jobs, 1, 1024,
                 "objects at once; by default twice the cores, at most 16");
  program.flag("--quiet", flags.quiet, "no progress, no summary");
  program.flag("--json", flags.json,
               "results as JSON on standard output, errors on standard error");
  program.value("--config", flags.config, "FILE", "settings; see 'leat config check --help'");
  program.value("--timeout", flags.timeout, "DURATION",
                "give up after this time, such as 30s or 1h30m");
}

void add_verbs(Syntax& program, Verb& chosen) {
  add_put(program, chosen);
  add_get(program, chosen);
  add_cat(program, chosen);
  add_ls(program, chosen);
  add_stat(program, chosen);
  add_du(program, chosen);
  add_cp(program, chosen);
  add_sync(program, chosen);
  add_rm(program, chosen);
  add_bucket(program, chosen);
  add_shard(program, chosen);
  add_verify(program, chosen);
  add_drive(program, chosen);
  add_serve(program, chosen);
  add_top(program, chosen);
  add_keys(program, chosen);
  add_config(program, chosen);
  add_version(program, chosen);
  add_completion(program, chosen);
}

int usage_error(const GlobalFlags& flags, const std::string& message, const std::string& verb) {
  Output output({.json = flags.json, .quiet = flags.quiet});
  output.usage_error(message, verb + " --help");
  return static_cast<int>(ExitCode::kUsage);
}

int run(const GlobalFlags& flags, const Verb& verb, const std::string& verb_name,
        const Interruption& interruption) {
  Settings settings;
  if (!flags.config.empty()) {
    Result<Settings> loaded = Settings::load(flags.config);
    if (!loaded) {
      Output output({.json = flags.json, .quiet = flags.quiet});
      output.error("use " + flags.config, loaded.error(), "leat config check --help");
      return static_cast<int>(ExitCode::kUsage);
    }
    settings = *std::move(loaded);
  }
  Context context = Context().with_cancellation(interruption.token());
  if (!flags.timeout.empty()) {
    const auto timeout = parse_duration(flags.timeout);
    if (!timeout) {
      return usage_error(flags, "--timeout: " + std::string(timeout.error().message()), verb_name);
    }
    context = context.with_timeout(*timeout);
  }
  settings.store.opening = context;
  Session session(flags, Stores(std::move(settings)), std::move(context));
  const ExitCode code = verb(session);
  if (code == ExitCode::kOk && !session.output().flush()) {
    return static_cast<int>(session.fail("write the result", Error(ErrorCode::kIoError)));
  }
  return static_cast<int>(code);
}

int parse_and_run(int argument_count, char** arguments) {
  const Interruption interruption;
  GlobalFlags flags;
  Verb chosen;
  Syntax program("leat", kAbout, kExamples);
  add_global_flags(program, flags);
  add_verbs(program, chosen);
  const Syntax::Typed typed = program.parse(argument_count, arguments);
  switch (typed.outcome) {
    case Syntax::Typed::Outcome::kAskedForHelp:
      std::cout << typed.text;
      return static_cast<int>(ExitCode::kOk);
    case Syntax::Typed::Outcome::kMisunderstood:
      return usage_error(flags, typed.text, typed.verb);
    case Syntax::Typed::Outcome::kUnderstood:
      break;
  }
  if (!chosen) {
    std::cout << program.help();
    return static_cast<int>(ExitCode::kUsage);
  }
  return run(flags, chosen, typed.verb, interruption);
}

}  // namespace
}  // namespace leat::cli

int main(int argument_count, char** arguments) {
  return leat::cli::parse_and_run(argument_count, arguments);
}
