#include <fmt/format.h>

#include <memory>
#include <string>

#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

struct CompletionOptions {
  std::string shell;
};

constexpr const char* kScriptHead =
    R"script(# leat completion bash: add to ~/.bashrc  source <(leat completion bash)
_leat_words() {
  local words
  case "$1" in
)script";

constexpr const char* kScriptTail = R"script(    *) return 1 ;;
  esac
  echo "$words"
}
_leat() {
  local current="${COMP_WORDS[COMP_CWORD]}" path="" word i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word="${COMP_WORDS[i]}"
    [[ $word == -* ]] && continue
    _leat_words "${path:+$path }$word" >/dev/null || break
    path="${path:+$path }$word"
  done
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(compgen -W "$(_leat_words "$path")" -- "$current"; compgen -f -- "$current")
}
complete -o filenames -F _leat leat
)script";

// One case of the script for each verb, "bucket create" after "bucket". As flags may follow a verb,
// those of the words before it are `outer`.
void append_cases(const Syntax& verb, const std::string& path, const std::string& outer,
                  std::string& cases) {
  const std::string flags = fmt::format("{}{}", fmt::join(verb.flag_names(), " "), outer);
  cases += fmt::format("    \"{}\") words=\"{}", path, flags);
  for (const auto& child : verb.verbs()) cases += " " + child->name();
  cases += "\" ;;\n";
  for (const auto& child : verb.verbs()) {
    append_cases(*child, path.empty() ? child->name() : path + " " + child->name(), " " + flags,
                 cases);
  }
}

// The verb is what was typed without flags, as far as it is a verb; everything else is a file.
std::string bash_script(const Syntax& program) {
  std::string cases;
  append_cases(program, "", "", cases);
  return kScriptHead + cases + kScriptTail;
}

std::string zsh_script(const Syntax& program) {
  return "#compdef leat\n# leat completion zsh: add to ~/.zshrc  source <(leat completion zsh)\n"
         "autoload -Uz bashcompinit && bashcompinit\n" +
         bash_script(program);
}

}  // namespace

void add_completion(Syntax& program, Verb& chosen) {
  auto options = std::make_shared<CompletionOptions>();
  const auto run = [&program](Session& session, const CompletionOptions& chosen_options) {
    session.output().line(chosen_options.shell == "zsh" ? zsh_script(program)
                                                        : bash_script(program));
    return ExitCode::kOk;
  };
  Syntax& verb = add_verb(program, chosen, "completion", "Print a script that completes commands",
                          "  source <(leat completion bash)\n"
                          "  leat completion zsh > ~/.zsh/_leat\n",
                          options, run);
  verb.choice("shell", options->shell, {"bash", "zsh"}, "bash or zsh");
  verb.require("shell");
}

}  // namespace leat::cli
