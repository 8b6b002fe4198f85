// leat: the command line. Parses, opens a session, runs one verb, and ends with its exit code:
// 0 done, 1 something failed, 2 the command makes no sense, 130 interrupted.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <optional>

#include "leat/base/units.h"
#include "leat/cli/interruption.h"
#include "leat/cli/session.h"
#include "leat/cli/suggestion.h"
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
    "Examples:\n"
    "  leat bucket create leat+local:///data/store/images\n"
    "  leat cp -r /data/imagenet leat+local:///data/store/images/\n"
    "  leat ls -l leat+local:///data/store/images/\n"
    "  leat VERB --help        examples of every verb\n";

void add_global_flags(CLI::App& app, GlobalFlags& flags) {
  app.add_option("--jobs", flags.jobs, "objects at once; by default twice the cores, at most 16")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  app.add_flag("--quiet", flags.quiet, "no progress, no summary");
  app.add_flag("--json", flags.json,
               "results as JSON on standard output, errors on standard error");
  app.add_option("--config", flags.config, "settings; see 'leat config check --help'")
      ->type_name("FILE");
  app.add_option("--timeout", flags.timeout, "give up after this time, such as 30s or 1h30m")
      ->type_name("DURATION");
}

void add_verbs(CLI::App& app, Verb& chosen) {
  add_put(app, chosen);
  add_get(app, chosen);
  add_cat(app, chosen);
  add_ls(app, chosen);
  add_stat(app, chosen);
  add_du(app, chosen);
  add_cp(app, chosen);
  add_sync(app, chosen);
  add_rm(app, chosen);
  add_bucket(app, chosen);
  add_shard(app, chosen);
  add_verify(app, chosen);
  add_drive(app, chosen);
  add_serve(app, chosen);
  add_top(app, chosen);
  add_keys(app, chosen);
  add_config(app, chosen);
  add_version(app, chosen);
  add_completion(app, chosen);
}

// The innermost verb that was typed: where help is to be had.
const CLI::App& innermost(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? app : innermost(*verbs.front());
}

std::string path_of(const CLI::App& app) {
  if (app.get_parent() == nullptr) return "leat";
  return path_of(*app.get_parent()) + " " + app.get_name();
}

int usage_error(const CLI::App& app, const GlobalFlags& flags, const std::string& message) {
  Output output({.json = flags.json, .quiet = flags.quiet});
  output.usage_error(message, path_of(innermost(app)) + " --help");
  return static_cast<int>(ExitCode::kUsage);
}

// What is left over after parsing: a verb that does not exist, or one argument too many.
std::optional<std::string> complaint(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining(true);
  if (rest.empty()) return std::nullopt;
  const CLI::App& verb = innermost(app);
  std::vector<std::string> names;
  for (const CLI::App* child : verb.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(child->get_name());
  }
  const auto word = std::find_if(rest.begin(), rest.end(),
                                 [](const std::string& text) { return !text.starts_with('-'); });
  if (names.empty() || word == rest.end()) return "unexpected argument '" + rest.front() + "'";
  std::string message = "there is no verb '" + *word + "'";
  if (const auto nearest = nearest_word(*word, names)) {
    message += "; did you mean '" + *nearest + "'?";
  }
  return message;
}

int run(const GlobalFlags& flags, const CLI::App& app, const Verb& verb,
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
      return usage_error(app, flags, "--timeout: " + std::string(timeout.error().message()));
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

// CLI11 throws; nothing else sees its exceptions.
int main_with_parser(int argument_count, char** arguments) {
  const Interruption interruption;
  GlobalFlags flags;
  Verb chosen;
  CLI::App app(kAbout, "leat");
  app.footer(kExamples);
  app.allow_extras();
  add_global_flags(app, flags);
  add_verbs(app, chosen);
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::CallForHelp&) {
    std::cout << innermost(app).help();
    return static_cast<int>(ExitCode::kOk);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, flags, complaint(app).value_or(error.what()));
  }
  if (const auto text = complaint(app)) return usage_error(app, flags, *text);
  if (!chosen) {
    std::cout << app.help();
    return static_cast<int>(ExitCode::kUsage);
  }
  return run(flags, app, chosen, interruption);
}

}  // namespace
}  // namespace leat::cli

int main(int argument_count, char** arguments) {
  return leat::cli::main_with_parser(argument_count, arguments);
}
