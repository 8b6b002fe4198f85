// Syntax: what may be typed after the program or one of its verbs: values, flags and further verbs.
//
// CLI11 parses, behind this header: it takes ten seconds to compile wherever it is included.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace leat::cli {

class Syntax {
 public:
  // The program. `examples` end its help.
  Syntax(const std::string& name, const std::string& about, const std::string& examples);
  ~Syntax();
  Syntax(const Syntax&) = delete;
  Syntax& operator=(const Syntax&) = delete;

  // A verb, which lives as long as this, and what to do when it was the one that was typed.
  Syntax& add_verb(const std::string& name, const std::string& about, const std::string& examples,
                   std::function<void()> on_typed);
  // A word that needs a verb after it: "bucket" of "bucket create".
  Syntax& add_group(const std::string& name, const std::string& about, const std::string& examples);

  // A value by its place ("url") or by its name ("--size", "-s,--size"). `kind` stands for it in
  // the help: "URL". The targets keep what they hold unless it is typed.
  void value(const std::string& name, std::string& target, const std::string& kind,
             const std::string& about);
  void value(const std::string& name, std::uint64_t& target, const std::string& kind,
             const std::string& about);
  void value(const std::string& name, std::optional<std::uint64_t>& target, const std::string& kind,
             const std::string& about);
  // From `least` to `most`.
  void number(const std::string& name, std::uint64_t& target, std::uint64_t least,
              std::uint64_t most, const std::string& about);
  // One of `words`.
  void choice(const std::string& name, std::string& target, const std::vector<std::string>& words,
              const std::string& about);
  // One or more after another.
  void values(const std::string& name, std::vector<std::string>& target, const std::string& kind,
              const std::string& about);
  // One each time that the name is typed.
  void repeated(const std::string& name, std::vector<std::string>& target, const std::string& kind,
                const std::string& about);
  void flag(const std::string& name, bool& target, const std::string& about);
  // The value of this name must be typed.
  void require(const std::string& name);

  // In the order of the help.
  const std::vector<std::unique_ptr<Syntax>>& verbs() const { return verbs_; }
  std::string name() const;
  // With their dashes.
  std::vector<std::string> flag_names() const;

  struct Typed {
    enum class Outcome { kUnderstood, kAskedForHelp, kMisunderstood };
    Outcome outcome;
    std::string text;  // the help, or what is wrong
    std::string verb;  // "leat bucket create"
  };
  // For the program, once.
  Typed parse(int argument_count, char** arguments);
  std::string help() const;

 private:
  explicit Syntax(CLI::App& app);
  template <typename Target>
  CLI::Option& add(const std::string& name, Target& target, const std::string& kind,
                   const std::string& about);

  std::unique_ptr<CLI::App> program_;  // of the outermost only
  CLI::App& app_;
  std::vector<std::unique_ptr<Syntax>> verbs_;
};

}  // namespace leat::cli
