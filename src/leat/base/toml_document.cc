#include "leat/base/toml_document.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "leat/base/utf8.h"

namespace leat {
namespace {

constexpr std::size_t kMaxKeyParts = 32;
constexpr int kMaxNesting = 32;

// How a table came to be decides what may still be added to it.
enum class Origin : std::uint8_t {
  kImplied,  // [a.b] makes a
  kHeader,   // [a]
  kDotted,   // a.b = 1 makes a
  kElement,  // [[a]]: the newest element of an array of tables
  kClosed,   // a value: an inline table is whole where it stands
};

struct Entry {
  std::size_t line = 0;
  std::string_view kind = "a table";
  Origin origin = Origin::kClosed;
  TomlValue value;
  bool is_table = false;
  std::map<std::string, std::unique_ptr<Entry>> children;
};

void copy_children(const Entry& entry, TomlNode& node) {
  node.is_table = entry.is_table;
  if (!entry.is_table) return;
  for (const auto& [key, child] : entry.children) {
    TomlNode& copy = node.children.emplace_back();
    copy.key = key;
    copy.line = child->line;
    copy.kind = child->kind;
    copy.value = child->value;
    copy_children(*child, copy);
  }
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_bare(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

// `word` without its underscores, each of which must stand between two digits of `base`.
std::optional<std::string> without_underscores(std::string_view word, int base) {
  const auto digit = [&](std::size_t i) {
    return i < word.size() && (is_digit(word[i]) || (base == 16 && is_bare(word[i]) &&
                                                     word[i] != '_' && word[i] != '-'));
  };
  std::string result;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '_') {
      result += word[i];
    } else if (i == 0 || !digit(i - 1) || !digit(i + 1)) {
      return std::nullopt;
    }
  }
  return result;
}

std::optional<std::int64_t> integer_of(std::string_view word) {
  int base = 10;
  if (word.starts_with("0x")) base = 16;
  if (word.starts_with("0o")) base = 8;
  if (word.starts_with("0b")) base = 2;
  if (base != 10) word.remove_prefix(2);
  std::optional<std::string> digits = without_underscores(word, base);
  if (!digits || digits->empty()) return std::nullopt;
  std::string_view rest = *digits;
  if (base == 10 && rest.front() == '+') rest.remove_prefix(1);
  if (rest.empty() || (base != 10 && rest.front() == '-')) return std::nullopt;
  const std::string_view magnitude = rest.substr(rest.front() == '-' ? 1 : 0);
  if (magnitude.empty() || magnitude.front() == '+' || magnitude.front() == '-') {
    return std::nullopt;
  }
  if (base == 10 && magnitude.size() > 1 && magnitude.front() == '0') return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (error != std::errc() || end != rest.data() + rest.size()) return std::nullopt;
  return value;
}

std::optional<double> float_of(std::string_view word) {
  const std::optional<std::string> plain = without_underscores(word, 10);
  if (!plain || plain->empty()) return std::nullopt;
  std::string_view rest = *plain;
  const double sign = rest.front() == '-' ? -1 : 1;
  if (rest.front() == '-' || rest.front() == '+') rest.remove_prefix(1);
  if (rest == "inf") return sign * std::numeric_limits<double>::infinity();
  if (rest == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (rest.empty() || !is_digit(rest.front())) return std::nullopt;
  if (rest.size() > 1 && rest[0] == '0' && is_digit(rest[1])) return std::nullopt;
  const std::size_t dot = rest.find('.');
  if (dot != std::string_view::npos && (dot + 1 == rest.size() || !is_digit(rest[dot + 1]))) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc() || end != rest.data() + rest.size()) return std::nullopt;
  return sign * value;
}

// Whether `word` begins as `form` says, where 0 stands for any digit.
bool has_form(std::string_view word, std::string_view form) {
  return word.size() >= form.size() &&
         std::equal(form.begin(), form.end(), word.begin(),
                    [](char f, char c) { return f == '0' ? is_digit(c) : f == c; });
}

bool is_time(std::string_view word) {
  if (!has_form(word, "00:00:00")) return false;
  word.remove_prefix(8);
  if (has_form(word, ".0")) {
    word.remove_prefix(std::min(word.find_first_not_of("0123456789", 1), word.size()));
  }
  return word.empty();
}

bool is_date_or_time(std::string_view word) {
  if (is_time(word)) return true;
  if (!has_form(word, "0000-00-00")) return false;
  word.remove_prefix(10);
  if (word.empty()) return true;
  if (word.front() != 'T' && word.front() != 't' && word.front() != ' ') return false;
  word.remove_prefix(1);
  if (word.ends_with('Z') || word.ends_with('z')) {
    word.remove_suffix(1);
  } else if (word.size() > 6 && (has_form(word.substr(word.size() - 6), "+00:00") ||
                                 has_form(word.substr(word.size() - 6), "-00:00"))) {
    word.remove_suffix(6);
  }
  return is_time(word);
}

void append_utf8(std::uint32_t point, std::string& text) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | ((point >> shift) & 0x3F)); };
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xC0 | (point >> 6));
    tail(0);
  } else if (point < 0x10000) {
    text += static_cast<char>(0xE0 | (point >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | (point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// A recursive descent. Every step returns whether to go on; the first problem ends the parse.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    root_.origin = Origin::kHeader;
    root_.is_table = true;
  }

  std::variant<TomlNode, TomlProblem> parse() {
    while (position_ < text_.size() && parse_line()) {
    }
    if (!problem_.empty()) return TomlProblem{line_, problem_};
    TomlNode root;
    copy_children(root_, root);
    return root;
  }

 private:
  struct KeyPart {
    std::string name;
    std::size_t line;
  };
  using Key = std::vector<KeyPart>;

  bool fail(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
    return false;
  }
  bool fail_at_character() {
    if (position_ >= text_.size()) return fail("the text ends too early");
    const char c = text_[position_];
    if (c == '\n' || c == '\r') return fail("the line ends too early");
    if (c < ' ' || c > '~') {
      return fail("a character that is allowed in strings and comments only");
    }
    return fail(std::string("unexpected '") + c + "'");
  }

  char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  bool at(std::string_view word) const { return text_.substr(position_).starts_with(word); }
  bool take(std::string_view word) {
    if (!at(word)) return false;
    position_ += word.size();
    return true;
  }
  bool expect(std::string_view word) { return take(word) || fail_at_character(); }
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++position_;
  }
  bool take_newline() {
    if (!take("\n") && !take("\r\n")) return false;
    ++line_;
    return true;
  }

  // One character of a string or comment, which is UTF-8 without control characters.
  bool step_character() {
    const std::size_t bytes = utf8_character_bytes(text_.substr(position_));
    if (bytes == 0) return fail("not valid UTF-8");
    if ((static_cast<unsigned char>(peek()) < ' ' && peek() != '\t') || peek() == 0x7F) {
      return fail("a control character");
    }
    position_ += bytes;
    return true;
  }

  bool skip_comment() {
    if (!take("#")) return true;
    while (position_ < text_.size() && peek() != '\n' && !at("\r\n")) {
      if (!step_character()) return false;
    }
    return true;
  }

  bool end_of_line() {
    skip_blanks();
    if (!skip_comment()) return false;
    return position_ >= text_.size() || take_newline() || fail_at_character();
  }

  bool parse_line() {
    skip_blanks();
    if (position_ >= text_.size() || peek() == '#' || peek() == '\n' || at("\r\n")) {
      return end_of_line();
    }
    if (peek() == '[') return parse_header() && end_of_line();
    return parse_pair(*table_, 0) && end_of_line();
  }

  // [a.b] or [[a.b]]: what the pairs that follow belong to.
  bool parse_header() {
    const bool is_element = take("[[");
    if (!is_element) take("[");
    Key key;
    if (!parse_key(key) || !expect(is_element ? "]]" : "]")) return false;
    Entry* parent = &root_;
    for (std::size_t i = 0; i + 1 < key.size(); ++i) {
      parent = descend(*parent, key[i], Origin::kImplied);
      if (parent == nullptr) return false;
    }
    std::unique_ptr<Entry>& slot = parent->children[key.back().name];
    if (slot == nullptr) {
      slot = make_table(key.back().line, is_element ? Origin::kElement : Origin::kHeader);
    } else if (is_element && slot->origin == Origin::kElement) {
      slot->children.clear();
    } else if (!is_element && slot->origin == Origin::kImplied) {
      slot->origin = Origin::kHeader;
      slot->line = key.back().line;
    } else {
      return fail("'" + key.back().name + "' is there already");
    }
    if (is_element) {
      slot->kind = "an array";
      slot->is_table = false;
    }
    table_ = slot.get();
    return true;
  }

  static std::unique_ptr<Entry> make_table(std::size_t line, Origin origin) {
    auto entry = std::make_unique<Entry>();
    entry->line = line;
    entry->origin = origin;
    entry->is_table = true;
    return entry;
  }

  // The table `part` within `parent`, made if there is none. Dotted keys add only to what dotted
  // keys made; headers go through everything that is not a value.
  Entry* descend(Entry& parent, const KeyPart& part, Origin origin) {
    std::unique_ptr<Entry>& slot = parent.children[part.name];
    if (slot == nullptr) slot = make_table(part.line, origin);
    const bool is_open = origin == Origin::kDotted ? slot->origin == Origin::kDotted
                                                   : slot->origin != Origin::kClosed;
    if (is_open) return slot.get();
    fail("'" + part.name + "' is there already");
    return nullptr;
  }

  bool parse_pair(Entry& table, int depth) {
    Key key;
    if (!parse_key(key) || !expect("=")) return false;
    skip_blanks();
    Entry* parent = &table;
    for (std::size_t i = 0; i + 1 < key.size(); ++i) {
      parent = descend(*parent, key[i], Origin::kDotted);
      if (parent == nullptr) return false;
    }
    auto value = std::make_unique<Entry>();
    value->line = key.back().line;
    if (!parse_value(*value, depth)) return false;
    if (!parent->children.emplace(key.back().name, std::move(value)).second) {
      return fail("'" + key.back().name + "' is there already");
    }
    return true;
  }

  // A key with blanks around it.
  bool parse_key(Key& key) {
    do {
      if (key.size() == kMaxKeyParts) return fail("a key with more than 32 parts");
      skip_blanks();
      KeyPart& part = key.emplace_back(KeyPart{"", line_});
      if (peek() == '"' || peek() == '\'') {
        if (!parse_string(part.name)) return false;
      } else {
        while (is_bare(peek())) part.name += text_[position_++];
        if (part.name.empty()) return fail_at_character();
      }
      skip_blanks();
    } while (take("."));
    return true;
  }

  bool parse_value(Entry& entry, int depth) {
    if (depth > kMaxNesting) return fail("values nested more than 32 deep");
    switch (peek()) {
      case '[':
        entry.kind = "an array";
        return parse_array(entry, depth);
      case '{':
        return parse_inline_table(entry, depth);
      case '"':
      case '\'': {
        entry.kind = "a string";
        std::string text;
        const bool is_whole =
            at("\"\"\"") || at("'''") ? parse_long_string(text) : parse_string(text);
        entry.value = std::move(text);
        return is_whole;
      }
      default:
        return parse_word(entry);
    }
  }

  bool parse_word(Entry& entry) {
    const std::size_t begin = position_;
    while (is_bare(peek()) || peek() == '+' || peek() == '.' || peek() == ':') ++position_;
    if (position_ - begin == 10 && has_form(text_.substr(begin), "0000-00-00 00:")) {
      ++position_;
      while (is_bare(peek()) || peek() == '+' || peek() == '.' || peek() == ':') ++position_;
    }
    const std::string_view word = text_.substr(begin, position_ - begin);
    if (word.empty()) return fail_at_character();
    if (word == "true" || word == "false") {
      entry.kind = "a boolean";
      entry.value = word == "true";
    } else if (const std::optional<std::int64_t> integer = integer_of(word)) {
      entry.kind = "an integer";
      entry.value = *integer;
    } else if (const std::optional<double> number = float_of(word)) {
      entry.kind = "a floating-point number";
      entry.value = *number;
    } else if (is_date_or_time(word)) {
      entry.kind = "a date or time";
    } else {
      return fail("'" + std::string(word) + "' is no value; a text stands in quotes");
    }
    return true;
  }

  bool skip_blank_lines() {
    do {
      skip_blanks();
      if (!skip_comment()) return false;
    } while (take_newline());
    return true;
  }

  bool parse_array(Entry& entry, int depth) {
    take("[");
    std::vector<std::string> list;
    bool only_strings = true;
    while (true) {
      if (!skip_blank_lines()) return false;
      if (take("]")) break;
      Entry element;
      if (!parse_value(element, depth + 1)) return false;
      if (auto* text = std::get_if<std::string>(&element.value)) {
        list.push_back(std::move(*text));
      } else {
        only_strings = false;
      }
      if (!skip_blank_lines()) return false;
      if (take("]")) break;
      if (!expect(",")) return false;
    }
    if (only_strings) entry.value = std::move(list);
    return true;
  }

  bool parse_inline_table(Entry& entry, int depth) {
    take("{");
    entry.is_table = true;
    skip_blanks();
    if (!take("}")) {
      do {
        if (!parse_pair(entry, depth + 1)) return false;
        skip_blanks();
      } while (take(","));
      if (!expect("}")) return false;
    }
    return true;
  }

  bool parse_string(std::string& result) {
    const char quote = text_[position_++];
    while (peek() != quote) {
      if (position_ >= text_.size() || peek() == '\n') return fail("a string that does not end");
      if (!parse_character(quote, result)) return false;
    }
    ++position_;
    return true;
  }

  bool parse_long_string(std::string& result) {
    const std::string_view quotes = text_.substr(position_, 3);
    position_ += 3;
    take_newline();
    while (!at(quotes)) {
      if (position_ >= text_.size()) return fail("a string that does not end");
      if (take_newline()) {
        result += '\n';
      } else if (quotes[0] == '"' && peek() == '\\' && escapes_newline()) {
        skip_escaped_newlines();
      } else if (!parse_character(quotes[0], result)) {
        return false;
      }
    }
    position_ += 3;
    // Up to two quotes more belong to the string that ends here.
    for (int i = 0; i < 2 && peek() == quotes[0]; ++i) result += text_[position_++];
    return true;
  }

  bool escapes_newline() const {
    const std::size_t next = text_.find_first_not_of(" \t", position_ + 1);
    return next != std::string_view::npos &&
           (text_[next] == '\n' || text_.substr(next).starts_with("\r\n"));
  }
  void skip_escaped_newlines() {
    take("\\");
    do skip_blanks();
    while (take_newline());
  }

  bool parse_character(char quote, std::string& result) {
    if (quote == '"' && take("\\")) return parse_escape(result);
    const std::size_t begin = position_;
    if (!step_character()) return false;
    result.append(text_, begin, position_ - begin);
    return true;
  }

  bool parse_escape(std::string& result) {
    constexpr std::string_view kNames = "btnfr\"\\";
    constexpr std::string_view kMeanings = "\b\t\n\f\r\"\\";
    if (const std::size_t i = kNames.find(peek()); i != std::string_view::npos) {
      ++position_;
      result += kMeanings[i];
      return true;
    }
    const std::size_t digits = peek() == 'u' ? 4 : peek() == 'U' ? 8 : 0;
    if (digits == 0) return fail("an escape that TOML does not know");
    const std::string_view word = text_.substr(position_ + 1).substr(0, digits);
    std::uint32_t point = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), point, 16);
    const bool is_character = point < 0xD800 || (point > 0xDFFF && point <= 0x10FFFF);
    if (error != std::errc() || end != word.data() + digits || !is_character) {
      return fail("an escape that is no character");
    }
    append_utf8(point, result);
    position_ += 1 + digits;
    return true;
  }

  const std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_ = 1;
  std::string problem_;
  Entry root_;
  Entry* table_ = &root_;  // what pairs belong to here
};

}  // namespace

std::variant<TomlNode, TomlProblem> parse_toml(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return Parser(text).parse();
}

}  // namespace leat
