#include "leat/http/etag.h"

#include <algorithm>

namespace leat::http {

std::string_view unquoted(std::string_view etag) noexcept {
  if (etag.size() < 2 || !etag.starts_with('"') || !etag.ends_with('"')) return etag;
  return etag.substr(1, etag.size() - 2);
}

bool matches_etag(std::string_view list, std::string_view etag) noexcept {
  if (list == "*") return true;
  while (!list.empty()) {
    std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (unquoted(one) == etag) return true;
  }
  return false;
}

}  // namespace leat::http
