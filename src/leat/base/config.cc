#include "leat/base/config.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "leat/base/check.h"
#include "leat/base/units.h"
#include "leat/base/utf8.h"

namespace leat {
namespace {

constexpr std::size_t kMaxShownBytes = 64;   // of a key or value in a message
constexpr std::size_t kMaxShownErrors = 50;  // of one file

// What came out of the file, fit for a message on one line.
std::string shown(std::string_view text) {
  const std::string_view prefix = utf8_prefix(text, kMaxShownBytes);
  std::string result = to_valid_utf8(prefix);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  if (prefix.size() < text.size()) result += "\u2026";
  return result;
}

// Levenshtein's distance: insertions, deletions and replacements of bytes.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// The candidate that a person may have meant, if any is near enough.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  if (word.size() > kMaxShownBytes) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  if (const std::optional<std::string> candidate = nearest(word, candidates)) {
    return fmt::format("; did you mean '{}'?", *candidate);
  }
  if (candidates.empty()) return "";
  return fmt::format("; known are {}", fmt::join(candidates, ", "));
}

// What stands in the file, for a message.
std::string found(const TomlNode& node) {
  if (const auto* text = std::get_if<std::string>(&node.value)) return "'" + shown(*text) + "'";
  if (const auto* number = std::get_if<std::int64_t>(&node.value)) return std::to_string(*number);
  return std::string(node.kind);
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : to_valid_utf8(text)) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string child_name(const std::string& section, const std::string& key) {
  return section.empty() ? key : section + "." + key;
}

// The error of an option says what it expects; where and what was found is added by the loader.
Error expected(std::string what) {
  return Error(ErrorCode::kInvalidArgument, std::move(what));
}

Result<std::string> read_whole(int descriptor, const std::string& path) {
  std::string text(ConfigSchema::kMaxFileBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(descriptor, text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno(errno, "read " + path);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  if (size > ConfigSchema::kMaxFileBytes) {
    return Error(ErrorCode::kTooLarge, path + ": a configuration has at most 1MiB");
  }
  text.resize(size);
  return text;
}

}  // namespace

// One pass over one file: collects what is wrong and what is to be set.
class ConfigSchema::Loader {
 public:
  Loader(const ConfigSchema& schema, std::string_view file) : schema_(schema), file_(file) {}

  Status load(std::string_view text) {
    const std::variant<TomlNode, TomlProblem> document = parse_toml(text);
    if (const auto* problem = std::get_if<TomlProblem>(&document)) {
      report(problem->line, "not TOML: " + shown(problem->text));
    } else {
      visit_table(std::get<TomlNode>(document), "");
    }
    if (!problems_.empty()) return Error(ErrorCode::kInvalidArgument, message());
    for (const Section::Assignment& assign : assignments_) assign();
    return ok_status();
  }

 private:
  void visit_table(const TomlNode& table, const std::string& name) {
    for (const TomlNode& node : table.children) {
      if (const Section::Option* option = find_option(name, node.key)) {
        visit_option(name, *option, node);
      } else if (is_section(name, node.key)) {
        visit_section(child_name(name, node.key), node);
      } else {
        report(node.line, fmt::format("unknown {} '{}'{}{}", node.is_table ? "section" : "key",
                                      shown(node.key), within(name),
                                      did_you_mean(node.key, known_names(name))));
      }
    }
  }

  const Section::Option* find_option(const std::string& section, const std::string& key) const {
    const auto position = schema_.sections_.find(section);
    if (position == schema_.sections_.end()) return nullptr;
    const auto option = position->second.options_.find(key);
    return option == position->second.options_.end() ? nullptr : &option->second;
  }

  void visit_option(const std::string& section, const Section::Option& option,
                    const TomlNode& node) {
    Result<Section::Assignment> assignment = option.accept(node.value);
    if (assignment) {
      assignments_.push_back(*std::move(assignment));
    } else {
      report(node.line, fmt::format("'{}'{} must be {}, not {}", node.key, within(section),
                                    assignment.error().message(), found(node)));
    }
  }

  void visit_section(const std::string& name, const TomlNode& node) {
    if (node.is_table) {
      visit_table(node, name);
    } else {
      report(node.line, fmt::format("'{}' must be a section [{}], not {}", name, name, node.kind));
    }
  }

  // Whether `key` in `parent` is a section, or has one within.
  bool is_section(const std::string& parent, const std::string& key) const {
    if (key.find('.') != std::string::npos) return false;  // "a.b" in quotes is one key
    const std::string name = child_name(parent, key);
    if (schema_.sections_.contains(name)) return !name.empty();
    const auto within_it = schema_.sections_.lower_bound(name + ".");
    return within_it != schema_.sections_.end() && within_it->first.starts_with(name + ".");
  }

  // Keys and sections that may stand in `section`.
  std::vector<std::string> known_names(const std::string& section) const {
    std::vector<std::string> names;
    const auto position = schema_.sections_.find(section);
    if (position != schema_.sections_.end()) {
      for (const auto& [key, option] : position->second.options_) names.push_back(key);
    }
    const std::string prefix = section.empty() ? "" : section + ".";
    for (const auto& [name, unused] : schema_.sections_) {
      if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
      std::string child = name.substr(prefix.size());
      child.resize(std::min(child.find('.'), child.size()));
      names.push_back(std::move(child));
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  static std::string within(const std::string& section) {
    return section.empty() ? "" : " in [" + section + "]";
  }

  void report(std::size_t line, std::string text) { problems_.push_back({line, std::move(text)}); }

  std::string message() {
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const TomlProblem& a, const TomlProblem& b) { return a.line < b.line; });
    std::string text;
    for (std::size_t i = 0; i < std::min(problems_.size(), kMaxShownErrors); ++i) {
      if (i != 0) text += '\n';
      text += fmt::format("{}:{}: {}", file_, problems_[i].line, problems_[i].text);
    }
    if (problems_.size() > kMaxShownErrors) {
      text += fmt::format("\n{}: and {} more errors", file_, problems_.size() - kMaxShownErrors);
    }
    return text;
  }

  const ConfigSchema& schema_;
  const std::string_view file_;
  std::vector<TomlProblem> problems_;
  std::vector<Section::Assignment> assignments_;
};

ConfigSchema::Section& ConfigSchema::section(std::string name) {
  return sections_[std::move(name)];
}

Status ConfigSchema::load(std::string_view text, std::string_view file) {
  return Loader(*this, file).load(text);
}

Status ConfigSchema::load_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return Error::from_errno(errno, "open " + path);
  Result<std::string> text = read_whole(descriptor, path);
  ::close(descriptor);
  if (!text) return std::move(text).error();
  return load(*text, path);
}

std::string ConfigSchema::to_toml() const {
  std::string text;
  for (const auto& [name, section] : sections_) {
    if (section.options_.empty()) continue;
    if (!text.empty()) text += '\n';
    if (!name.empty()) text += "[" + name + "]\n";
    for (const auto& [key, option] : section.options_) {
      text += fmt::format("# {}\n{} = {}\n", option.help, key, option.show());
    }
  }
  return text;
}

ConfigSchema::Section& ConfigSchema::Section::add(std::string key, Option option) {
  const bool is_new = options_.emplace(std::move(key), std::move(option)).second;
  CHECK(is_new);
  return *this;
}

ConfigSchema::Section& ConfigSchema::Section::size(std::string key, std::uint64_t* target,
                                                   std::string help) {
  const auto accept = [target](const TomlValue& value) -> Result<Assignment> {
    Result<std::uint64_t> bytes = Error(ErrorCode::kInvalidArgument);
    if (const auto* text = std::get_if<std::string>(&value)) bytes = parse_size(*text);
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number != nullptr && *number >= 0) bytes = static_cast<std::uint64_t>(*number);
    if (!bytes) return expected("a size such as \"64MiB\" or a number of bytes");
    return Assignment([target, size_bytes = *bytes] { *target = size_bytes; });
  };
  const auto show = [target] { return quoted(format_size(*target)); };
  return add(std::move(key), {std::move(help), accept, show});
}

ConfigSchema::Section& ConfigSchema::Section::duration(std::string key,
                                                       std::chrono::nanoseconds* target,
                                                       std::string help) {
  const auto accept = [target](const TomlValue& value) -> Result<Assignment> {
    Result<std::chrono::nanoseconds> parsed = Error(ErrorCode::kInvalidArgument);
    if (const auto* text = std::get_if<std::string>(&value)) parsed = parse_duration(*text);
    if (!parsed) return expected("a duration such as \"375us\" or \"1h30m\"");
    return Assignment([target, duration = *parsed] { *target = duration; });
  };
  const auto show = [target] { return quoted(format_duration(*target)); };
  return add(std::move(key), {std::move(help), accept, show});
}

ConfigSchema::Section& ConfigSchema::Section::string(std::string key, std::string* target,
                                                     std::string help) {
  const auto accept = [target](const TomlValue& value) -> Result<Assignment> {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return expected("a string");
    return Assignment([target, copy = *text] { *target = copy; });
  };
  const auto show = [target] { return quoted(*target); };
  return add(std::move(key), {std::move(help), accept, show});
}

ConfigSchema::Section& ConfigSchema::Section::string_list(std::string key,
                                                          std::vector<std::string>* target,
                                                          std::string help) {
  const auto accept = [target](const TomlValue& value) -> Result<Assignment> {
    const auto* list = std::get_if<std::vector<std::string>>(&value);
    if (list == nullptr) return expected("an array of strings");
    return Assignment([target, copy = *list] { *target = copy; });
  };
  const auto show = [target] {
    std::vector<std::string> elements;
    for (const std::string& element : *target) elements.push_back(quoted(element));
    return fmt::format("[{}]", fmt::join(elements, ", "));
  };
  return add(std::move(key), {std::move(help), accept, show});
}

ConfigSchema::Section& ConfigSchema::Section::boolean(std::string key, bool* target,
                                                      std::string help) {
  const auto accept = [target](const TomlValue& value) -> Result<Assignment> {
    const auto* flag = std::get_if<bool>(&value);
    if (flag == nullptr) return expected("true or false");
    return Assignment([target, copy = *flag] { *target = copy; });
  };
  const auto show = [target] { return std::string(*target ? "true" : "false"); };
  return add(std::move(key), {std::move(help), accept, show});
}

ConfigSchema::Section& ConfigSchema::Section::add_integer(std::string key, std::int64_t min,
                                                          std::int64_t max, std::string help,
                                                          std::function<void(std::int64_t)> set,
                                                          std::function<std::int64_t()> get) {
  const auto accept = [min, max, set](const TomlValue& value) -> Result<Assignment> {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < min || *number > max) {
      return expected(fmt::format("an integer from {} to {}", min, max));
    }
    return Assignment([set, copy = *number] { set(copy); });
  };
  const auto show = [get = std::move(get)] { return std::to_string(get()); };
  return add(std::move(key), {std::move(help), accept, show});
}

ConfigSchema::Section& ConfigSchema::Section::add_choice(std::string key,
                                                         std::vector<std::string> words,
                                                         std::string help,
                                                         std::function<void(std::size_t)> set,
                                                         std::function<std::size_t()> get) {
  const auto accept = [words, set](const TomlValue& value) -> Result<Assignment> {
    const auto* text = std::get_if<std::string>(&value);
    const auto word = text == nullptr ? words.end() : std::find(words.begin(), words.end(), *text);
    if (word == words.end()) {
      return expected(fmt::format("one of \"{}\"", fmt::join(words, "\", \"")));
    }
    const auto index = static_cast<std::size_t>(word - words.begin());
    return Assignment([set, index] { set(index); });
  };
  const auto show = [words, get = std::move(get)] {
    const std::size_t index = get();
    return index < words.size() ? quoted(words[index]) : std::string("\"\"");
  };
  return add(std::move(key), {std::move(help), accept, show});
}

}  // namespace leat
