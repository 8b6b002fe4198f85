// Query: the parameters of a request.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leat/base/result.h"

namespace leat::doors::http {

// What stands behind the '?', decoded. "acl" alone has an empty value.
class Query {
 public:
  static Result<Query> parse(std::string_view text);

  std::optional<std::string_view> find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name).has_value(); }
  const std::vector<std::pair<std::string, std::string>>& all() const { return parameters_; }

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

}  // namespace leat::doors::http
