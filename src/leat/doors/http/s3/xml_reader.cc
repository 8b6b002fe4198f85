#include "leat/doors/http/s3/xml_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leat::doors::http::s3 {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

Error malformed(std::string_view what) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("the XML is malformed: {}", what));
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == ':' || static_cast<unsigned char>(c) >= 0x80;
}

void append_utf8(std::string& target, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { target += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    return byte(0x80 | (code & 63));
  }
  if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 63));
  }
  byte(0x80 | ((code >> 6) & 63));
  byte(0x80 | (code & 63));
}

// Of "#65" or "#x41".
std::optional<std::uint32_t> character_of(std::string_view reference) {
  reference.remove_prefix(1);
  const int base = reference.starts_with('x') ? 16 : 10;
  if (base == 16) reference.remove_prefix(1);
  std::uint32_t code = 0;
  const char* const last = reference.data() + reference.size();
  const auto [end, error] = std::from_chars(reference.data(), last, code, base);
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  if (error != std::errc() || end != last || code == 0 || code > 0x10FFFF || is_surrogate) {
    return std::nullopt;
  }
  return code;
}

class Reader {
 public:
  Reader(std::string_view text, const OnXmlElement& on_element)
      : rest_(text), on_element_(on_element) {}

  Status read() {
    (void)skip("\xef\xbb\xbf");
    if (skip("<?xml ")) RETURN_IF_ERROR(skip_past("?>"));
    while (!is_done()) {
      if (open_.empty()) RETURN_IF_ERROR(read_outside());
      if (!open_.empty()) RETURN_IF_ERROR(rest_.starts_with('<') ? read_markup() : read_text());
    }
    if (!has_root_ || !open_.empty()) return malformed("it ends too early");
    return ok_status();
  }

 private:
  struct Element {
    std::size_t path_bytes = 0;  // of the path around it
    std::string_view name;       // with its prefix
    std::string text;
  };

  bool is_done() const { return rest_.empty(); }
  bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  Status skip_past(std::string_view text) {
    const std::size_t at = rest_.find(text);
    if (at == rest_.npos) return malformed("it ends too early");
    rest_.remove_prefix(at + text.size());
    return ok_status();
  }
  bool skip_spaces() {
    const std::size_t count = std::min(rest_.find_first_not_of(kSpaces), rest_.size());
    rest_.remove_prefix(count);
    return count > 0;
  }

  // Before and after the root there are spaces and comments only.
  Status read_outside() {
    (void)skip_spaces();
    if (is_done()) return ok_status();
    if (!rest_.starts_with('<')) return malformed("text outside of an element");
    if (skip("<!--")) return skip_past("-->");
    if (has_root_) return malformed("a second root");
    return read_markup();
  }

  Status read_markup() {
    if (skip("<!--")) return skip_past("-->");
    if (skip("</")) return read_end();
    if (!skip("<")) return malformed("no element");
    ASSIGN_OR_RETURN(const std::string_view name, read_name());
    const std::string_view local_name = name.substr(name.find(':') + 1);  // npos + 1 is 0
    if (local_name.empty()) return malformed("a name is missing");
    if (open_.size() == kMostXmlDepth) return malformed("too deep");
    has_root_ = true;
    open_.push_back({path_.size(), name, {}});
    if (!path_.empty()) path_ += '/';
    path_ += local_name;
    return read_attributes();
  }

  Result<std::string_view> read_name() {
    std::size_t count = 0;
    while (count < rest_.size() && is_name_character(rest_[count])) ++count;
    if (count == 0) return malformed("a name is missing");
    const std::string_view name = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return name;
  }

  // Up to the end of the tag.
  Status read_attributes() {
    for (;;) {
      const bool has_space = skip_spaces();
      if (skip("/>")) return end_element();
      if (skip(">")) return ok_status();
      if (!has_space) return malformed("a tag does not end");
      ASSIGN_OR_RETURN([[maybe_unused]] const auto name, read_name());
      (void)skip_spaces();
      if (!skip("=")) return malformed("an attribute has no value");
      (void)skip_spaces();
      const char quote = rest_.empty() ? '\0' : rest_.front();
      if (quote != '"' && quote != '\'') return malformed("an attribute has no value");
      rest_.remove_prefix(1);
      const std::size_t end = rest_.find(quote);
      if (end == rest_.npos || rest_.substr(0, end).find('<') != rest_.npos)
        return malformed("an attribute does not end");
      rest_.remove_prefix(end + 1);
    }
  }

  Status read_end() {
    ASSIGN_OR_RETURN(const std::string_view name, read_name());
    (void)skip_spaces();
    if (!skip(">") || open_.empty() || name != open_.back().name)
      return malformed("an end without its beginning");
    return end_element();
  }

  Status end_element() {
    RETURN_IF_ERROR(on_element_(path_, open_.back().text));
    path_.resize(open_.back().path_bytes);
    open_.pop_back();
    return ok_status();
  }

  // Up to the next tag.
  Status read_text() {
    std::string& text = open_.back().text;
    while (!is_done() && rest_.front() != '<') {
      const char c = rest_.front();
      if (c == '&') {
        RETURN_IF_ERROR(read_reference(text));
        continue;
      }
      rest_.remove_prefix(1);
      // The end of a line is one character.
      if (c == '\r' && rest_.starts_with('\n')) continue;
      if (static_cast<unsigned char>(c) < 0x20 && kSpaces.find(c) == kSpaces.npos) {
        return malformed("a control character");
      }
      text += c == '\r' ? '\n' : c;
    }
    return ok_status();
  }

  Status read_reference(std::string& text) {
    constexpr std::size_t kMostBytes = 12;
    const std::size_t end = rest_.substr(0, kMostBytes).find(';');
    if (end == rest_.npos) return malformed("a reference does not end");
    const std::string_view name = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    if (name.starts_with('#')) {
      const auto code = character_of(name);
      if (!code) return malformed("a reference to no character");
      append_utf8(text, *code);
      return ok_status();
    }
    for (const auto& [known, c] : {std::pair<std::string_view, char>{"amp", '&'},
                                   {"lt", '<'},
                                   {"gt", '>'},
                                   {"quot", '"'},
                                   {"apos", '\''}}) {
      if (name != known) continue;
      text += c;
      return ok_status();
    }
    return malformed("a reference to an unknown entity");
  }

  std::string_view rest_;
  const OnXmlElement& on_element_;
  std::vector<Element> open_;
  std::string path_;
  bool has_root_ = false;
};

}  // namespace

Status read_xml(std::string_view document, const OnXmlElement& on_element) {
  return Reader(document, on_element).read();
}

}  // namespace leat::doors::http::s3
