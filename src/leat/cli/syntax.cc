#include "leat/cli/syntax.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "leat/cli/suggestion.h"

namespace leat::cli {
namespace {

std::string footer(const std::string& examples) {
  return "Examples:\n" + examples;
}

// The innermost verb that was typed: where help is to be had.
const CLI::App& innermost(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? app : innermost(*verbs.front());
}

std::string path_of(const CLI::App& app) {
  if (app.get_parent() == nullptr) return app.get_name();
  return path_of(*app.get_parent()) + " " + app.get_name();
}

// What is left over after parsing: a verb that does not exist, or one argument too many.
std::optional<std::string> complaint(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining(true);
  if (rest.empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const CLI::App* child :
       innermost(app).get_subcommands([](const CLI::App*) { return true; })) {
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

}  // namespace

Syntax::Syntax(const std::string& name, const std::string& about, const std::string& examples)
    : program_(std::make_unique<CLI::App>(about, name)), app_(*program_) {
  app_.footer(footer(examples));
  app_.allow_extras();
}

Syntax::Syntax(CLI::App& app) : app_(app) {
  app_.fallthrough();
}

Syntax::~Syntax() = default;

Syntax& Syntax::add_verb(const std::string& name, const std::string& about,
                         const std::string& examples, std::function<void()> on_typed) {
  CLI::App* const app = app_.add_subcommand(name, about);
  app->footer(footer(examples));
  app->callback(std::move(on_typed));
  verbs_.push_back(std::unique_ptr<Syntax>(new Syntax(*app)));
  return *verbs_.back();
}

Syntax& Syntax::add_group(const std::string& name, const std::string& about,
                          const std::string& examples) {
  Syntax& group = add_verb(name, about, examples, {});
  group.app_.require_subcommand(1);
  return group;
}

template <typename Target>
CLI::Option& Syntax::add(const std::string& name, Target& target, const std::string& kind,
                         const std::string& about) {
  return *app_.add_option(name, target, about)->type_name(kind);
}

void Syntax::value(const std::string& name, std::string& target, const std::string& kind,
                   const std::string& about) {
  add(name, target, kind, about);
}

void Syntax::value(const std::string& name, std::uint64_t& target, const std::string& kind,
                   const std::string& about) {
  add(name, target, kind, about);
}

void Syntax::value(const std::string& name, std::optional<std::uint64_t>& target,
                   const std::string& kind, const std::string& about) {
  add(name, target, kind, about);
}

void Syntax::number(const std::string& name, std::uint64_t& target, std::uint64_t least,
                    std::uint64_t most, const std::string& about) {
  add(name, target, "", about).check(CLI::Range(least, most))->type_name("N");
}

void Syntax::choice(const std::string& name, std::string& target,
                    const std::vector<std::string>& words, const std::string& about) {
  add(name, target, "", about)
      .check(CLI::IsMember(words))
      ->type_name(CLI::detail::join(words, "|"));
}

void Syntax::values(const std::string& name, std::vector<std::string>& target,
                    const std::string& kind, const std::string& about) {
  add(name, target, kind, about);
}

void Syntax::repeated(const std::string& name, std::vector<std::string>& target,
                      const std::string& kind, const std::string& about) {
  add(name, target, kind, about).take_all()->expected(1);
}

void Syntax::flag(const std::string& name, bool& target, const std::string& about) {
  app_.add_flag(name, target, about);
}

void Syntax::require(const std::string& name) {
  app_.get_option(name)->required();
}

std::string Syntax::name() const {
  return app_.get_name();
}

std::vector<std::string> Syntax::flag_names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : std::as_const(app_).get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// CLI11 throws; nothing else sees its exceptions.
Syntax::Typed Syntax::parse(int argument_count, char** arguments) {
  using enum Typed::Outcome;
  try {
    app_.parse(argument_count, arguments);
  } catch (const CLI::CallForHelp&) {
    return {kAskedForHelp, innermost(app_).help(), path_of(innermost(app_))};
  } catch (const CLI::ParseError& error) {
    return {kMisunderstood, complaint(app_).value_or(error.what()), path_of(innermost(app_))};
  }
  if (const auto text = complaint(app_)) return {kMisunderstood, *text, path_of(innermost(app_))};
  return {kUnderstood, {}, path_of(innermost(app_))};
}

std::string Syntax::help() const {
  return app_.help();
}

}  // namespace leat::cli
