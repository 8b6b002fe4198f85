#include "leat/drivers/web/name_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "leat/store/object_store.h"

namespace leat::web {
namespace {

Error bad_template(std::string_view part) {
  return Error(
      ErrorCode::kInvalidArgument,
      fmt::format("'{{{}}}' is neither a range {{000..999}} nor a list {{a,b}}; a brace of "
                  "a name is written %7B or %7D",
                  part));
}

bool parse_number(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

// What stands between two braces.
Result<std::vector<std::string>> alternatives_of(std::string_view part) {
  std::vector<std::string> alternatives;
  if (const std::size_t dots = part.find(".."); dots != part.npos) {
    const std::string_view first = part.substr(0, dots);
    const std::string_view last = part.substr(dots + 2);
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    if (!parse_number(first, from) || !parse_number(last, to) || to < from) {
      return bad_template(part);
    }
    if (to - from >= kMaxNames)
      return Error(ErrorCode::kTooLarge, "the template has too many names");
    // As bash and braceexpand do: zeros are kept where they are written.
    const bool is_padded =
        (first.size() > 1 && first.front() == '0') || (last.size() > 1 && last.front() == '0');
    const std::size_t width = is_padded ? std::max(first.size(), last.size()) : 0;
    if (width > 20) return bad_template(part);
    for (std::uint64_t count = 0; count <= to - from; ++count) {
      alternatives.push_back(fmt::format("{:0{}}", from + count, width));
    }
    return alternatives;
  }
  if (part.find(',') == part.npos) return bad_template(part);
  for (;;) {
    const std::size_t comma = std::min(part.find(','), part.size());
    alternatives.emplace_back(part.substr(0, comma));
    if (comma == part.size()) return alternatives;
    part.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<std::vector<std::string>> expand_template(std::string_view text) {
  constexpr std::size_t kMaxTotalBytes = std::size_t{1} << 30;
  std::vector<std::string> names = {""};
  std::size_t longest = text.size();
  while (!text.empty()) {
    const std::size_t brace = std::min(text.find_first_of("{}"), text.size());
    for (std::string& name : names) name += text.substr(0, brace);
    text.remove_prefix(brace);
    if (text.empty()) break;
    const std::size_t close = text.find('}');
    if (text.front() == '}' || close == text.npos) return bad_template(text);
    ASSIGN_OR_RETURN(const auto alternatives, alternatives_of(text.substr(1, close - 1)));
    text.remove_prefix(close + 1);
    longest += std::max_element(alternatives.begin(), alternatives.end(), [](auto& a, auto& b) {
                 return a.size() < b.size();
               })->size();
    if (names.size() > kMaxNames / alternatives.size() ||
        names.size() * alternatives.size() > kMaxTotalBytes / longest) {
      return Error(ErrorCode::kTooLarge, "the template has too many names");
    }
    std::vector<std::string> longer;
    longer.reserve(names.size() * alternatives.size());
    for (const std::string& name : names) {
      for (const std::string& alternative : alternatives) longer.push_back(name + alternative);
    }
    names = std::move(longer);
  }
  return names;
}

bool is_web_name(std::string_view name) noexcept {
  for (;;) {
    const std::size_t slash = std::min(name.find('/'), name.size());
    const std::string_view component = name.substr(0, slash);
    if (component.empty() || component == "." || component == "..") return false;
    if (slash == name.size()) return true;
    name.remove_prefix(slash + 1);
  }
}

Result<std::vector<std::string>> parse_manifest(std::string_view text) {
  std::vector<std::string> names;
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != text.npos && text[begin] == '[') {
    const auto document = nlohmann::json::parse(text, nullptr, false);
    if (!document.is_array()) {
      return Error(ErrorCode::kInvalidArgument, "the manifest is not a JSON list");
    }
    for (const auto& one : document) {
      if (!one.is_string()) {
        return Error(ErrorCode::kInvalidArgument, "the manifest's list holds more than names");
      }
      names.push_back(one.get<std::string>());
    }
  } else {
    while (!text.empty()) {
      std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty()) names.emplace_back(line);
    }
  }
  for (const std::string& name : names) {
    const bool is_url = name.find("://") != name.npos;
    if (is_url || !is_web_name(name) || !check_name(name).ok()) {
      constexpr std::size_t kShownBytes = 100;
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the manifest's '{}' is not a name below its folder",
                               name.substr(0, kShownBytes)));
    }
  }
  return names;
}

}  // namespace leat::web
