#include "leat/drivers/web/index_page.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "leat/base/url.h"
#include "leat/base/utf8.h"
#include "leat/http/request_head.h"
#include "leat/store/object_store.h"

namespace leat::web {
namespace {

constexpr std::string_view kSpaces = " \t\r\n\f";

constexpr std::array<std::pair<std::string_view, char>, 5> kEntities{
    {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};

void append_utf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | (code >> 18));
    text += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// What stands between '&' and ';'.
bool append_entity(std::string& text, std::string_view name) {
  for (const auto& [known, character] : kEntities) {
    if (name == known) {
      text += character;
      return true;
    }
  }
  if (!name.starts_with('#')) return false;
  name.remove_prefix(1);
  const bool is_hex = name.starts_with('x') || name.starts_with('X');
  if (is_hex) name.remove_prefix(1);
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), code, is_hex ? 16 : 10);
  if (error != std::errc() || end != name.data() + name.size() || code > 0x10FFFF) return false;
  append_utf8(text, code);
  return true;
}

std::string_view take_space(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return text;
}

// The value of `href` among the attributes at the front of `text`, which follow the tag's name.
std::optional<std::string> find_href(std::string_view text) {
  for (;;) {
    text = take_space(text);
    if (text.empty() || text.front() == '>') return std::nullopt;
    const std::string_view name = text.substr(0, text.find_first_of(" \t\r\n\f=>"));
    text = take_space(text.substr(std::max<std::size_t>(name.size(), 1)));
    // An attribute without a name is a stray '=': passed by.
    if (name.empty() || !text.starts_with('=')) continue;
    text = take_space(text.substr(1));
    std::string_view value;
    if (text.starts_with('"') || text.starts_with('\'')) {
      const std::size_t end = text.find(text.front(), 1);
      if (end == text.npos) return std::nullopt;
      value = text.substr(1, end - 1);
      text.remove_prefix(end + 1);
    } else {
      value = text.substr(0, text.find_first_of(" \t\r\n\f>"));
      text.remove_prefix(value.size());
    }
    if (http::equals_ignoring_case(name, "href")) return unescape_html(value);
  }
}

// "http://host/dir/" -> "http://host".
std::string_view origin_of(std::string_view url) {
  const std::size_t host = url.find("://");
  if (host == url.npos) return {};
  return url.substr(0, std::min(url.find('/', host + 3), url.size()));
}

bool has_scheme(std::string_view link) {
  const std::size_t end = link.find_first_of(":/?#");
  return end != link.npos && link[end] == ':';
}

}  // namespace

std::string unescape_html(std::string_view text) {
  constexpr std::size_t kLongestEntity = 10;
  std::string plain;
  while (!text.empty()) {
    const std::size_t ampersand = std::min(text.find('&'), text.size());
    plain += text.substr(0, ampersand);
    text.remove_prefix(ampersand);
    if (text.empty()) break;
    const std::size_t end = text.find(';');
    // Without a ';' it is far beyond every entity.
    if (end <= kLongestEntity && append_entity(plain, text.substr(1, end - 1))) {
      text.remove_prefix(end + 1);
    } else {
      plain += '&';
      text.remove_prefix(1);
    }
  }
  return plain;
}

std::string name_of_link(std::string_view link, std::string_view page_url) {
  if (link.find_first_of("?#") != link.npos) return "";
  const std::string_view origin = origin_of(page_url);
  if (has_scheme(link)) {
    if (origin.empty() || !link.starts_with(origin)) return "";
    link.remove_prefix(origin.size());
    if (!link.starts_with('/')) return "";
  }
  if (link.starts_with("//")) return "";
  if (link.starts_with('/')) {
    const auto directory = percent_decode(page_url.substr(origin.size()));
    const auto path = percent_decode(link);
    if (!directory.ok() || !path.ok() || !path->starts_with(*directory)) return "";
    // As written, so that an escaped '/' is not taken for a real one.
    const auto depth = std::count(directory->begin(), directory->end(), '/');
    for (std::ptrdiff_t i = 0; i < depth; ++i) {
      const std::size_t slash = link.find('/');
      if (slash == link.npos) return "";
      link.remove_prefix(slash + 1);
    }
  }
  if (link.starts_with("./")) link.remove_prefix(2);
  const bool is_directory = link.ends_with('/');
  if (is_directory) link.remove_suffix(1);
  auto name = percent_decode(link);
  if (!name.ok() || link.find('/') != link.npos || name->find('/') != name->npos) return "";
  if (*name == "." || *name == ".." || !check_name(*name).ok()) return "";
  return is_directory ? *name + "/" : *name;
}

std::vector<std::string> parse_index_page(std::string_view html, std::string_view page_url) {
  std::vector<std::string> names;
  for (std::size_t at = html.find('<'); at != html.npos; at = html.find('<', at)) {
    if (html.substr(at).starts_with("<!--")) {
      at = html.find("-->", at + 4);
      if (at == html.npos) break;
      continue;
    }
    const std::string_view tag = html.substr(at + 1);
    ++at;
    if (tag.size() < 2 || (tag[0] != 'a' && tag[0] != 'A')) continue;
    if (kSpaces.find(tag[1]) == kSpaces.npos) continue;
    const auto link = find_href(tag.substr(1));
    if (!link) continue;
    if (std::string name = name_of_link(*link, page_url); !name.empty()) {
      names.push_back(std::move(name));
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace leat::web
