#include <memory>

#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

struct ConfigOptions {
  std::string file;
};

ExitCode run_check(Session& session, const ConfigOptions& options) {
  Settings settings;
  ConfigSchema schema = settings.schema();
  const Status status = schema.load_file(options.file);
  if (!status) {
    return session.fail("use " + options.file, status.error(),
                        "correct the file; leat config check --help shows a complete one");
  }
  if (session.output().is_json()) {
    session.output().json({{"ok", true}});
  } else if (!session.output().is_quiet()) {
    session.output().line(schema.to_toml());
  }
  return ExitCode::kOk;
}

}  // namespace

void add_config(CLI::App& app, Verb& chosen) {
  CLI::App* group = app.add_subcommand("config", "Check a configuration file");
  group->fallthrough()->require_subcommand(1);
  group->footer(
      "Examples:\n  leat config check leat.toml\n"
      "  leat --config leat.toml ls leat+local:///data/store\n");
  auto options = std::make_shared<ConfigOptions>();
  CLI::App& check =
      add_verb(*group, chosen, "check", "Check a file, and show all settings that follow from it",
               "  leat config check leat.toml\n"
               "  leat config check --quiet leat.toml && echo good\n"
               "\nA file with every setting:\n" +
                   Settings().schema().to_toml(),
               options, run_check);
  check.add_option("file", options->file, "a TOML file")->required()->type_name("FILE");
}

}  // namespace leat::cli
