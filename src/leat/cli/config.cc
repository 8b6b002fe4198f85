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

void add_config(Syntax& program, Verb& chosen) {
  Syntax& group = program.add_group("config", "Check a configuration file",
                                    "  leat config check leat.toml\n"
                                    "  leat --config leat.toml ls leat+local:///data/store\n");
  auto options = std::make_shared<ConfigOptions>();
  Syntax& check =
      add_verb(group, chosen, "check", "Check a file, and show all settings that follow from it",
               "  leat config check leat.toml\n"
               "  leat config check --quiet leat.toml && echo good\n"
               "\nA file with every setting:\n" +
                   Settings().schema().to_toml(),
               options, run_check);
  check.value("file", options->file, "FILE", "a TOML file");
  check.require("file");
}

}  // namespace leat::cli
