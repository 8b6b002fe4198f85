#include "leat/base/url.h"

#include <algorithm>
#include <array>
#include <optional>

namespace leat {
namespace {

constexpr std::array<std::string_view, 2> kOpaqueSchemes = {"mem", "null"};

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_opaque(std::string_view scheme) noexcept {
  return std::find(kOpaqueSchemes.begin(), kOpaqueSchemes.end(), scheme) != kOpaqueSchemes.end();
}

// The lower-cased scheme of `text`; none when the text is a path. A single letter is no scheme,
// and neither is a word before a colon in the name of a file.
std::optional<std::string> scheme_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon < 2 || !is_letter(text[0])) return std::nullopt;
  std::string scheme(text.substr(0, colon));
  for (char& c : scheme) {
    if (!is_letter(c) && !is_digit(c) && c != '+' && c != '.' && c != '-') return std::nullopt;
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (!is_opaque(scheme) && text.substr(colon + 1, 2) != "//") return std::nullopt;
  return scheme;
}

Error broken(std::string_view text, std::string_view why) {
  constexpr std::size_t kShownBytes = 200;
  std::string message = "URL '";
  message += text.substr(0, kShownBytes);
  message += text.size() > kShownBytes ? "…': " : "': ";
  message += why;
  return Error(ErrorCode::kInvalidArgument, std::move(message));
}

// A piece of a URL, decoded. Neither a file nor an object can have a NUL in its name, and a C
// function would see another name than we do.
Result<std::string> decode_piece(std::string_view piece) {
  ASSIGN_OR_RETURN(std::string decoded, percent_decode(piece));
  if (decoded.find('\0') != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument, "a NUL byte");
  }
  return decoded;
}

Result<std::map<std::string, std::string>> parse_query(std::string_view text) {
  std::map<std::string, std::string> query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    ASSIGN_OR_RETURN(std::string key, decode_piece(pair.substr(0, equals)));
    ASSIGN_OR_RETURN(std::string value,
                     decode_piece(pair.substr(std::min(equals + 1, pair.size()))));
    if (key.empty()) return Error(ErrorCode::kInvalidArgument, "a query value without a key");
    const auto [position, is_new] = query.emplace(std::move(key), std::move(value));
    if (!is_new) {
      return Error(ErrorCode::kInvalidArgument, "query key '" + position->first + "' is repeated");
    }
  }
  return query;
}

Result<Url> parse_with_scheme(std::string scheme, std::string_view rest) {
  Url url;
  const std::size_t question = std::min(rest.find('?'), rest.size());
  std::string_view place = rest.substr(0, question);
  if (!is_opaque(scheme)) {
    place.remove_prefix(2);  // "//", as scheme_of() saw
    url.authority = place.substr(0, place.find('/'));
    place.remove_prefix(url.authority.size());
  }
  RETURN_IF_ERROR(decode_piece(url.authority));
  RETURN_IF_ERROR(decode_piece(place));
  url.path = place;
  if (question < rest.size()) {
    ASSIGN_OR_RETURN(url.query, parse_query(rest.substr(question + 1)));
  }
  url.scheme = std::move(scheme);
  return url;
}

}  // namespace

Result<Url> Url::parse(std::string_view text) {
  if (text.empty()) return broken(text, "it is empty");
  if (text.find('\0') != std::string_view::npos) return broken({}, "a NUL byte");
  std::optional<std::string> scheme = scheme_of(text);
  if (!scheme) {
    Url url;
    url.scheme = "file";
    url.path = percent_encode(text, "/");
    return url;
  }
  const std::size_t scheme_bytes = scheme->size() + 1;
  Result<Url> url = parse_with_scheme(*std::move(scheme), text.substr(scheme_bytes));
  if (!url) return broken(text, url.error().message());
  return url;
}

std::string Url::to_string() const {
  if (scheme == "file" && authority.empty() && !path.empty() && path.front() != '/') {
    // Only a bare text says a relative path, and then everything in it belongs to the name.
    Result<std::string> name = percent_decode(path);
    return name ? *std::move(name) : path;
  }
  std::string text = scheme + ":";
  if (!is_opaque(scheme)) text += "//" + authority;
  text += path;
  char separator = '?';
  for (const auto& [key, value] : query) {
    text += separator;
    text += percent_encode(key, "/:,") + "=" + percent_encode(value, "/:,");
    separator = '&';
  }
  return text;
}

Result<std::string> percent_decode(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return Error(ErrorCode::kInvalidArgument,
                   "a '%' at byte " + std::to_string(i) +
                       " without two hexadecimal digits; write '%25' for a percent sign");
    }
    bytes += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return bytes;
}

std::string percent_encode(std::string_view bytes, std::string_view keep) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kUnreserved = "-._~";
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    if (is_letter(c) || is_digit(c) || kUnreserved.find(c) != std::string_view::npos ||
        keep.find(c) != std::string_view::npos) {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += '%';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace leat
