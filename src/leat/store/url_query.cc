#include "leat/store/url_query.h"

#include <algorithm>
#include <string>

namespace leat {

Status check_query_keys(const Url& url, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : url.query) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string text = "the URL scheme \"" + url.scheme + "\" has no option \"" + key + '"';
    text += known.size() == 0 ? "; it has none" : "; known are";
    for (const std::string_view option : known) {
      text += ' ';
      text += option;
    }
    return Error(ErrorCode::kInvalidArgument, std::move(text));
  }
  return ok_status();
}

}  // namespace leat
