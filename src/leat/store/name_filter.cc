#include "leat/store/name_filter.h"

#include <algorithm>
#include <utility>

namespace leat {
namespace {

Error broken(std::string_view text, std::string_view why) {
  return Error(ErrorCode::kInvalidArgument,
               "pattern '" + std::string(text) + "': " + std::string(why));
}

std::size_t index_of(char c) {
  return static_cast<unsigned char>(c);
}

Result<std::vector<NamePattern>> parse_all(const std::vector<std::string>& texts) {
  std::vector<NamePattern> patterns;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(NamePattern pattern, NamePattern::parse(text));
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

bool any_matches(const std::vector<NamePattern>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [name](const NamePattern& pattern) { return pattern.matches(name); });
}

}  // namespace

Result<NamePattern> NamePattern::parse(std::string_view text) {
  NamePattern pattern;
  pattern.whole_name_ = text.find('/') != std::string_view::npos;
  std::string_view rest = text;
  if (rest.starts_with('/')) rest.remove_prefix(1);
  if (rest.empty()) return broken(text, "it is empty");
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    Token token;
    if (c == '*') {
      const bool twice = rest.starts_with('*');
      if (twice) rest.remove_prefix(1);
      token.kind = twice ? Token::Kind::kStarStar : Token::Kind::kStar;
    } else if (c == '?') {
      token.bytes.set().reset(index_of('/'));
    } else if (c == '[') {
      Result<Token> parsed = parse_class(rest);
      if (!parsed) return broken(text, parsed.error().message());
      token = *std::move(parsed);
    } else if (c == '\\') {
      if (rest.empty()) return broken(text, "a '\\' at the end; write '\\\\' for a backslash");
      token.bytes.set(index_of(rest.front()));
      rest.remove_prefix(1);
    } else {
      token.bytes.set(index_of(c));
    }
    pattern.tokens_.push_back(token);
  }
  return pattern;
}

Result<NamePattern::Token> NamePattern::parse_class(std::string_view& rest) {
  Token token;
  const bool inverted = rest.starts_with('!') || rest.starts_with('^');
  if (inverted) rest.remove_prefix(1);
  // As in shells, a ']' that comes first is one of the bytes.
  const std::size_t end = rest.find(']', 1);
  if (end == std::string_view::npos) {
    return Error(ErrorCode::kInvalidArgument, "a '[' without ']'; write '\\[' for a bracket");
  }
  for (std::size_t i = 0; i < end; ++i) {
    const bool is_range = i + 2 < end && rest[i + 1] == '-';
    const std::size_t last = index_of(is_range ? rest[i + 2] : rest[i]);
    for (std::size_t byte = index_of(rest[i]); byte <= last; ++byte) token.bytes.set(byte);
    if (is_range) i += 2;
  }
  rest.remove_prefix(end + 1);
  if (inverted) token.bytes.flip();
  token.bytes.reset(index_of('/'));
  return token;
}

void NamePattern::close(std::vector<bool>& states) const {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (states[i] && tokens_[i].kind != Token::Kind::kByte) states[i + 1] = true;
  }
}

bool NamePattern::matches(std::string_view name) const {
  if (!whole_name_) name = name.substr(name.rfind('/') + 1);
  // State i: the first i tokens have matched what was seen of the name.
  std::vector<bool> states(tokens_.size() + 1);
  states[0] = true;
  close(states);
  for (const char c : name) {
    std::vector<bool> next(states.size());
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!states[i]) continue;
      const Token& token = tokens_[i];
      if (token.kind == Token::Kind::kByte) {
        if (token.bytes.test(index_of(c))) next[i + 1] = true;
      } else if (token.kind == Token::Kind::kStarStar || c != '/') {
        next[i] = true;
      }
    }
    close(next);
    states = std::move(next);
  }
  return states.back();
}

Result<NameFilter> NameFilter::parse(const std::vector<std::string>& include,
                                     const std::vector<std::string>& exclude) {
  NameFilter filter;
  ASSIGN_OR_RETURN(filter.include_, parse_all(include));
  ASSIGN_OR_RETURN(filter.exclude_, parse_all(exclude));
  return filter;
}

bool NameFilter::passes(std::string_view name) const {
  return (include_.empty() || any_matches(include_, name)) && !any_matches(exclude_, name);
}

}  // namespace leat
