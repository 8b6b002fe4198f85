#include "leat/local/path_escape.h"

#include <algorithm>

#include "leat/base/url.h"

namespace leat::local {
namespace {

constexpr std::size_t kMaxComponentBytes = 200;
constexpr std::string_view kContinued = "~c";

bool is_dots(std::string_view component) noexcept {
  return component == "." || component == "..";
}

bool fits_path(std::string_view component) noexcept {
  return !component.empty() && component.size() <= kMaxComponentBytes && !is_dots(component);
}

// Calls visit(component) for each part between slashes; stops when it returns false.
template <typename Visit>
bool for_each_component(std::string_view path, Visit visit) {
  for (;;) {
    const std::size_t slash = path.find('/');
    if (!visit(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

void append_escaped(std::string& out, std::string_view component) {
  if (component.empty()) {
    out += '%';
    return;
  }
  bool dots = is_dots(component);
  std::size_t piece_bytes = 0;
  for (std::size_t i = 0; i < component.size(); ++i) {
    std::string_view escaped = component.substr(i, 1);
    if (escaped == "%") escaped = "%25";
    if (escaped == "~") escaped = "%7E";
    if (escaped.front() == '\0') escaped = "%00";
    if (piece_bytes + escaped.size() > kMaxComponentBytes) {
      out += kContinued;
      out += '/';
      piece_bytes = 0;
      dots = is_dots(component.substr(i));  // the last piece is a component, too
    }
    if (dots) escaped = "%2E";
    out += escaped;
    piece_bytes += escaped.size();
  }
}

// A generation as tag_version() writes it.
bool is_version(std::string_view text) noexcept {
  const bool is_canonical = text == "0" || !text.starts_with('0');
  return is_canonical && !text.empty() && text.size() <= 16 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

bool is_plain_path(std::string_view key) noexcept {
  const auto is_special = [](char c) { return c == '%' || c == '~' || c == '\0'; };
  return std::none_of(key.begin(), key.end(), is_special) && for_each_component(key, fits_path);
}

std::string escape_path(std::string_view key) {
  std::string out;
  out.reserve(key.size() + 8);
  for_each_component(key, [&](std::string_view component) {
    if (!out.empty()) out += '/';
    append_escaped(out, component);
    return true;
  });
  return out;
}

Result<std::string> unescape_path(std::string_view path) {
  if (is_plain_path(path)) return std::string(path);
  std::string key;
  std::string untagged;
  bool joined = true;  // the first component follows no slash
  const bool ok = for_each_component(path, [&](std::string_view component) {
    if (!joined) key += '/';
    if (component.data() != path.data()) untagged += '/';
    const bool is_last = component.data() + component.size() == path.data() + path.size();
    std::string_view escaped = component.substr(0, component.find('~'));
    const std::string_view tag = component.substr(escaped.size());
    joined = tag == kContinued;
    const bool version = is_last && tag.starts_with("~g") && is_version(tag.substr(2));
    const bool directory = !is_last && tag == "~d";
    if (!tag.empty() && !joined && !version && !directory) return false;
    untagged += joined ? component : escaped;
    if (escaped == "%") return true;
    const auto decoded = percent_decode(escaped);
    if (!decoded.ok()) return false;
    key += *decoded;
    return true;
  });
  // Only what escape_path() writes is accepted, so that apart from tags a key has one path.
  if (!ok || joined || escape_path(key) != untagged) {
    return Error(ErrorCode::kInvalidArgument, "not an escaped path: " + std::string(path));
  }
  return key;
}

std::string tag_version(std::string_view path, std::uint64_t generation) {
  constexpr char kDigits[] = "0123456789abcdef";
  char digits[16];
  std::size_t at = sizeof digits;
  do {
    digits[--at] = kDigits[generation % 16];
    generation /= 16;
  } while (generation != 0);
  return std::string(path) + "~g" + std::string(digits + at, sizeof digits - at);
}

std::string tag_directories(std::string_view path) {
  std::string out;
  for (std::size_t start = 0;;) {
    const std::size_t slash = path.find('/', start);
    out += path.substr(start, slash - start);
    if (slash == std::string_view::npos) return out;
    const bool tagged = path.substr(start, slash - start).find('~') != std::string_view::npos;
    out += tagged ? "/" : "~d/";
    start = slash + 1;
  }
}

}  // namespace leat::local
