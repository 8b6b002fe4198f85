#include "leat/doors/http/query.h"

#include <algorithm>

#include "leat/base/url.h"

namespace leat::doors::http {
namespace {

// In a query, unlike in a path, '+' is a space.
Result<std::string> decode(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return percent_decode(spaced);
}

}  // namespace

Result<Query> Query::parse(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    ASSIGN_OR_RETURN(std::string name, decode(pair.substr(0, equals)));
    ASSIGN_OR_RETURN(std::string value, decode(pair.substr(std::min(pair.size(), equals + 1))));
    query.parameters_.emplace_back(std::move(name), std::move(value));
  }
  return query;
}

std::optional<std::string_view> Query::find(std::string_view name) const {
  for (const auto& [key, value] : parameters_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

}  // namespace leat::doors::http
