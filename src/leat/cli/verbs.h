// The verbs of the command line: each adds itself to the parser and, when it is the one that was
// typed, sets `chosen` to what is to be done. main.cc calls them all; the order is that of --help.
#pragma once

#include <CLI/CLI.hpp>

#include "leat/cli/session.h"

namespace leat::cli {

void add_put(CLI::App& app, Verb& chosen);
void add_get(CLI::App& app, Verb& chosen);
void add_cat(CLI::App& app, Verb& chosen);
void add_ls(CLI::App& app, Verb& chosen);
void add_stat(CLI::App& app, Verb& chosen);
void add_du(CLI::App& app, Verb& chosen);
void add_cp(CLI::App& app, Verb& chosen);
void add_sync(CLI::App& app, Verb& chosen);
void add_rm(CLI::App& app, Verb& chosen);
void add_bucket(CLI::App& app, Verb& chosen);
void add_shard(CLI::App& app, Verb& chosen);
void add_verify(CLI::App& app, Verb& chosen);
void add_drive(CLI::App& app, Verb& chosen);
void add_serve(CLI::App& app, Verb& chosen);
void add_top(CLI::App& app, Verb& chosen);
void add_keys(CLI::App& app, Verb& chosen);
void add_config(CLI::App& app, Verb& chosen);
void add_version(CLI::App& app, Verb& chosen);
void add_completion(CLI::App& app, Verb& chosen);

// Adds a verb with its options, which live as long as the parser, and ends its help with examples.
// `run` gets the session and the options.
template <typename Options, typename Run>
CLI::App& add_verb(CLI::App& app, Verb& chosen, const std::string& name, const std::string& about,
                   const std::string& examples, std::shared_ptr<Options> options, Run run) {
  CLI::App* verb = app.add_subcommand(name, about);
  verb->fallthrough();
  verb->footer("Examples:\n" + examples);
  verb->callback([&chosen, options = std::move(options), run] {
    chosen = [options, run](Session& session) { return run(session, *options); };
  });
  return *verb;
}

}  // namespace leat::cli
