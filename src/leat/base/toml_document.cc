#include "leat/base/toml_document.h"

#include <algorithm>
#include <exception>
#include <optional>

// toml++ asserts what some texts ("[!") make false, and with NDEBUG lets the optimiser rely on it.
// Here an assertion of the parser is an exception like its others, in every build.
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

constexpr std::size_t kMaxDotsPerLine = 32;  // outside of strings

// Finds what toml++ 3.3 must not be given. Outside of strings and comments, and after a backslash,
// a character beyond ASCII leads it to undefined behaviour; TOML allows none there, except after
// a backslash that ends a line. And it recurses once for every dot of a dotted key.
class TextScan {
 public:
  explicit TextScan(std::string_view text) : text_(text) {}

  std::optional<TomlProblem> first_problem() {
    for (; position_ < text_.size(); ++position_) {
      if (text_[position_] == '\n') {
        start_line();
      } else if (where_ == Where::kPlain) {
        step_plain();
      } else if (where_ != Where::kComment) {
        step_string();
      }
      if (!problem_.empty()) return TomlProblem{line_, std::string(problem_)};
    }
    return std::nullopt;
  }

 private:
  enum class Where : std::uint8_t { kPlain, kComment, kString, kLongString };

  void start_line() {
    ++line_;
    dots_ = 0;
    if (where_ != Where::kLongString) where_ = Where::kPlain;
  }

  void step_plain() {
    const char c = text_[position_];
    if (c == '#') {
      where_ = Where::kComment;
    } else if ((c == '"' || c == '\'') && !can_start_string()) {
      // The parser would take what follows for part of the word, where it must not be beyond ASCII.
      problem_ = "a quote in the middle of a word";
    } else if (c == '"' || c == '\'') {
      quote_ = c;
      where_ = at_triple_quote() ? Where::kLongString : Where::kString;
      if (where_ == Where::kLongString) position_ += 2;
    } else if (c == '.' && ++dots_ > kMaxDotsPerLine) {
      problem_ = "more than 32 dots outside of strings";
    } else if (c != '\t' && c != '\r' && (c < ' ' || c > '~')) {
      problem_ = "a character that is allowed in strings and comments only";
    }
  }

  void step_string() {
    const char c = text_[position_];
    if (c == '\\' && quote_ == '"') {
      step_escape();
    } else if (where_ == Where::kString && c == quote_) {
      where_ = Where::kPlain;
    } else if (where_ == Where::kLongString && at_triple_quote()) {
      position_ += 2;
      // Up to two quotes more belong to the string that ends here.
      for (int i = 0; i < 2 && at(position_ + 1) == quote_; ++i) ++position_;
      where_ = Where::kPlain;
    }
  }

  void step_escape() {
    const std::size_t next =
        std::min(text_.find_first_not_of(" \t\r\n", position_ + 1), text_.size());
    if (static_cast<unsigned char>(at(next)) >= 0x80) {
      problem_ = "a backslash before a character beyond ASCII";
    } else if (next == position_ + 1) {
      ++position_;
    }
  }

  bool can_start_string() const {
    return position_ == 0 ||
           std::string_view(" \t\r\n=,.[{").find(text_[position_ - 1]) != std::string_view::npos;
  }

  bool at_triple_quote() const {
    return at(position_) == quote_ && at(position_ + 1) == quote_ && at(position_ + 2) == quote_;
  }
  char at(std::size_t position) const { return position < text_.size() ? text_[position] : '\0'; }

  const std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_ = 1;
  std::size_t dots_ = 0;
  Where where_ = Where::kPlain;
  char quote_ = 0;
  std::string_view problem_;
};

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

std::string_view kind_of(const toml::node& node) {
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

TomlValue value_of(const toml::node& node) {
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

void copy_children(const toml::table& table, TomlNode& parent) {
  parent.is_table = true;
  for (const auto& [key, node] : table) {
    TomlNode& child = parent.children.emplace_back();
    child.key = key.str();
    child.line = key.source().begin.line;
    child.kind = kind_of(node);
    child.value = value_of(node);
    if (const toml::table* inner = node.as_table()) copy_children(*inner, child);
  }
}

}  // namespace

std::variant<TomlNode, TomlProblem> parse_toml(std::string_view text) {
  if (std::optional<TomlProblem> problem = TextScan(text).first_problem()) {
    return *std::move(problem);
  }
  try {
    TomlNode root;
    copy_children(toml::parse(text), root);
    return root;
  } catch (const toml::parse_error& error) {
    return TomlProblem{error.source().begin.line, std::string(error.description())};
  } catch (const TomlAssertionFailed&) {
    return TomlProblem{line_of_assertion(text), "an unexpected character"};
  } catch (const std::exception& error) {
    return TomlProblem{1, error.what()};
  }
}

}  // namespace leat
