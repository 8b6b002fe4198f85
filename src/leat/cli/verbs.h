// The verbs of the command line: each adds itself to the syntax and, when it is the one that was
// typed, sets `chosen` to what is to be done. main.cc calls them all; the order is that of --help.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "leat/cli/session.h"
#include "leat/cli/syntax.h"

namespace leat::cli {

void add_put(Syntax& program, Verb& chosen);
void add_get(Syntax& program, Verb& chosen);
void add_cat(Syntax& program, Verb& chosen);
void add_ls(Syntax& program, Verb& chosen);
void add_stat(Syntax& program, Verb& chosen);
void add_du(Syntax& program, Verb& chosen);
void add_cp(Syntax& program, Verb& chosen);
void add_sync(Syntax& program, Verb& chosen);
void add_rm(Syntax& program, Verb& chosen);
void add_bucket(Syntax& program, Verb& chosen);
void add_shard(Syntax& program, Verb& chosen);
void add_verify(Syntax& program, Verb& chosen);
void add_drive(Syntax& program, Verb& chosen);
void add_serve(Syntax& program, Verb& chosen);
void add_top(Syntax& program, Verb& chosen);
void add_keys(Syntax& program, Verb& chosen);
void add_config(Syntax& program, Verb& chosen);
void add_version(Syntax& program, Verb& chosen);
void add_completion(Syntax& program, Verb& chosen);

// Adds a verb whose options live as long as it does. `run` gets the session and the options.
template <typename Options, typename Run>
Syntax& add_verb(Syntax& parent, Verb& chosen, const std::string& name, const std::string& about,
                 const std::string& examples, std::shared_ptr<Options> options, Run run) {
  return parent.add_verb(name, about, examples, [&chosen, options = std::move(options), run] {
    chosen = [options, run](Session& session) { return run(session, *options); };
  });
}

}  // namespace leat::cli
