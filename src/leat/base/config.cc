#include "leat/base/config.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <optional>

#include "leat/base/check.h"
#include "leat/base/units.h"
#include "leat/base/utf8.h"

// The parser asserts what some texts ("[!") make false, and with NDEBUG lets the optimiser rely on
// it. Here an assertion of the parser is an exception like its others, in every build.
namespace leat {
struct TomlAssertionFailed {};
[[noreturn]] static void toml_assertion_failed() {
  throw TomlAssertionFailed();
}
}  // namespace leat
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) ((condition) ? void() : ::leat::toml_assertion_failed())
#define TOML_MAX_NESTED_VALUES 32  // the parser recurses
#define TOML_ENABLE_FORMATTERS 0   // compiles faster
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace leat {
namespace {

constexpr std::size_t kMaxShownBytes = 64;   // of a key or value in a message
constexpr std::size_t kMaxShownErrors = 50;  // of one file
constexpr std::size_t kMaxDotsPerLine = 32;  // outside of strings

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

// Parser and tables recurse once for every dot of a dotted key, without a limit of their own. The
// line of the first key that would take them too deep, 0 if there is none. Errs on the safe side
// where a string of several lines begins or ends.
std::size_t line_of_deep_key(std::string_view text) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view content = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), content.size() + 1));
    const bool may_hide_keys = content.find("\"\"\"") != std::string_view::npos ||
                               content.find("'''") != std::string_view::npos;
    std::size_t dots = 0;
    char quote = 0;
    for (std::size_t i = 0; i < content.size(); ++i) {
      const char c = content[i];
      if (c == '.' && (quote == 0 || may_hide_keys)) ++dots;
      if (quote == 0 && c == '#' && !may_hide_keys) break;
      if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
      } else if (c == quote) {
        quote = 0;
      } else if (quote == '"' && c == '\\') {
        ++i;
      }
    }
    if (dots > kMaxDotsPerLine) return line;
  }
  return 0;
}

bool fails_assertion(std::string_view text) {
  try {
    (void)toml::parse(text);
  } catch (const TomlAssertionFailed&) {
    return true;
  } catch (const std::exception&) {
    return false;
  }
  return false;
}

// An assertion does not say where it failed. The parser reads from the front, so it is the first
// line with which the text up to there fails in this way.
std::size_t line_of_assertion(std::string_view text) {
  std::vector<std::size_t> ends;
  for (std::size_t end = 0; end < text.size();) {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
    ends.push_back(end);
  }
  const auto first = std::partition_point(ends.begin(), ends.end(), [&](std::size_t end) {
    return !fails_assertion(text.substr(0, end));
  });
  return static_cast<std::size_t>(first - ends.begin()) + 1;
}

std::string_view kind_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a floating-point number";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

// What stands in the file, for a message.
std::string found(const toml::node& node) {
  if (const auto* text = node.as_string()) return "'" + shown(text->get()) + "'";
  if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
  return std::string(kind_name(node));
}

ConfigValue to_value(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* text = node.as_string()) return text->get();
  const toml::array* array = node.as_array();
  if (array == nullptr) return std::monostate{};
  std::vector<std::string> list;
  for (const toml::node& element : *array) {
    const auto* text = element.as_string();
    if (text == nullptr) return std::monostate{};
    list.push_back(text->get());
  }
  return list;
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

std::string child_name(const std::string& section, std::string_view key) {
  return section.empty() ? std::string(key) : section + "." + std::string(key);
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
    if (const std::size_t line = line_of_deep_key(text)) {
      report(line, fmt::format("more than {} dots outside of strings", kMaxDotsPerLine));
    } else {
      parse(text);
    }
    if (!errors_.empty()) return Error(ErrorCode::kInvalidArgument, message());
    for (const Section::Assignment& assign : assignments_) assign();
    return ok_status();
  }

 private:
  struct Report {
    std::size_t line = 0;
    std::string text;
  };

  void parse(std::string_view text) {
    try {
      const toml::table table = toml::parse(text);
      visit_table(table, "");
    } catch (const toml::parse_error& error) {
      report(error.source().begin.line, shown(error.description()));
    } catch (const TomlAssertionFailed&) {
      report(line_of_assertion(text), "not TOML: an unexpected character");
    } catch (const std::exception& error) {
      report(0, shown(error.what()));
    }
  }

  void visit_table(const toml::table& table, const std::string& name) {
    for (const auto& [key, node] : table) {
      if (const Section::Option* option = find_option(name, key.str())) {
        visit_option(name, key.str(), *option, node);
      } else if (is_section(name, key.str())) {
        visit_section(child_name(name, key.str()), node);
      } else {
        report(key.source().begin.line,
               fmt::format("unknown {} '{}'{}{}", node.is_table() ? "section" : "key",
                           shown(key.str()), within(name),
                           did_you_mean(key.str(), known_names(name))));
      }
    }
  }

  const Section::Option* find_option(const std::string& section, std::string_view key) const {
    const auto position = schema_.sections_.find(section);
    if (position == schema_.sections_.end()) return nullptr;
    const auto option = position->second.options_.find(key);
    return option == position->second.options_.end() ? nullptr : &option->second;
  }

  void visit_option(const std::string& section, std::string_view key, const Section::Option& option,
                    const toml::node& node) {
    Result<Section::Assignment> assignment = option.accept(to_value(node));
    if (assignment) {
      assignments_.push_back(*std::move(assignment));
    } else {
      report(node.source().begin.line,
             fmt::format("'{}'{} must be {}, not {}", key, within(section),
                         assignment.error().message(), found(node)));
    }
  }

  void visit_section(const std::string& name, const toml::node& node) {
    if (const toml::table* table = node.as_table()) {
      visit_table(*table, name);
    } else {
      report(node.source().begin.line,
             fmt::format("'{}' must be a section [{}], not {}", name, name, kind_name(node)));
    }
  }

  // Whether `key` in `parent` is a section, or has one within.
  bool is_section(const std::string& parent, std::string_view key) const {
    if (key.find('.') != std::string_view::npos) return false;  // "a.b" in quotes is one key
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

  void report(std::size_t line, std::string text) { errors_.push_back({line, std::move(text)}); }

  std::string message() {
    std::stable_sort(errors_.begin(), errors_.end(),
                     [](const Report& a, const Report& b) { return a.line < b.line; });
    std::string text;
    for (std::size_t i = 0; i < std::min(errors_.size(), kMaxShownErrors); ++i) {
      if (i != 0) text += '\n';
      text += fmt::format("{}:{}: {}", file_, errors_[i].line, errors_[i].text);
    }
    if (errors_.size() > kMaxShownErrors) {
      text += fmt::format("\n{}: and {} more errors", file_, errors_.size() - kMaxShownErrors);
    }
    return text;
  }

  const ConfigSchema& schema_;
  const std::string_view file_;
  std::vector<Report> errors_;
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
  const auto accept = [target](const ConfigValue& value) -> Result<Assignment> {
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
  const auto accept = [target](const ConfigValue& value) -> Result<Assignment> {
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
  const auto accept = [target](const ConfigValue& value) -> Result<Assignment> {
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
  const auto accept = [target](const ConfigValue& value) -> Result<Assignment> {
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
  const auto accept = [target](const ConfigValue& value) -> Result<Assignment> {
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
  const auto accept = [min, max, set](const ConfigValue& value) -> Result<Assignment> {
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
  const auto accept = [words, set](const ConfigValue& value) -> Result<Assignment> {
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
