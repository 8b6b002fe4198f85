#include "leat/store/registry.h"

#include <utility>

#include "leat/base/check.h"

namespace leat {

void Registry::add(std::string scheme, Factory factory) {
  const bool added = factories_.emplace(std::move(scheme), std::move(factory)).second;
  CHECK(added);  // two drivers for one scheme
}

Result<StoreLocation> Registry::open(std::string_view url, IfMissing if_missing) const {
  ASSIGN_OR_RETURN(const Url parsed, Url::parse(url));
  const auto found = factories_.find(parsed.scheme);
  if (found == factories_.end()) {
    std::string known;
    for (const auto& [scheme, factory] : factories_) {
      known += known.empty() ? "" : ", ";
      known += scheme;
    }
    return Error(ErrorCode::kInvalidArgument,
                 "no store has the scheme \"" + parsed.scheme + "\"; known are " + known);
  }
  return found->second(parsed, if_missing);
}

std::vector<std::string> Registry::schemes() const {
  std::vector<std::string> names;
  names.reserve(factories_.size());
  for (const auto& [scheme, factory] : factories_) names.push_back(scheme);
  return names;
}

}  // namespace leat
