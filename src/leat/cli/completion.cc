#include <fmt/format.h>

#include <memory>

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

// "--jobs -j --json …" of a verb and, as flags may follow a verb, of the program.
std::string words_of(const CLI::App& verb) {
  std::string words;
  for (const CLI::App* app = &verb; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) words += " --" + name;
      for (const std::string& name : option->get_snames()) words += " -" + name;
    }
  }
  for (const CLI::App* child : verb.get_subcommands([](const CLI::App*) { return true; })) {
    words += " " + child->get_name();
  }
  return words.empty() ? words : words.substr(1);
}

// One case of the script for each verb, "bucket create" after "bucket".
void append_cases(const CLI::App& app, const std::string& path, std::string& cases) {
  cases += fmt::format("    \"{}\") words=\"{}\" ;;\n", path, words_of(app));
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    append_cases(*verb, path.empty() ? verb->get_name() : path + " " + verb->get_name(), cases);
  }
}

// The verb is what was typed without flags, as far as it is a verb; everything else is a file.
std::string bash_script(const CLI::App& root) {
  std::string cases;
  append_cases(root, "", cases);
  return kScriptHead + cases + kScriptTail;
}

std::string zsh_script(const CLI::App& root) {
  return "#compdef leat\n# leat completion zsh: add to ~/.zshrc  source <(leat completion zsh)\n"
         "autoload -Uz bashcompinit && bashcompinit\n" +
         bash_script(root);
}

}  // namespace

void add_completion(CLI::App& app, Verb& chosen) {
  auto options = std::make_shared<CompletionOptions>();
  const auto run = [&app](Session& session, const CompletionOptions& chosen_options) {
    session.output().line(chosen_options.shell == "zsh" ? zsh_script(app) : bash_script(app));
    return ExitCode::kOk;
  };
  CLI::App& verb = add_verb(app, chosen, "completion", "Print a script that completes commands",
                            "  source <(leat completion bash)\n"
                            "  leat completion zsh > ~/.zsh/_leat\n",
                            options, run);
  verb.add_option("shell", options->shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}))
      ->type_name("bash|zsh");
}

}  // namespace leat::cli
