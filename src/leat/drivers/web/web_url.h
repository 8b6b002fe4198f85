// What an http or https URL means as a store: its folder, a name in it, and where names come from.
#pragma once

#include <string>
#include <vector>

#include "leat/base/result.h"
#include "leat/base/url.h"
#include "leat/drivers/web/web_client.h"

namespace leat::web {

struct StoreUrl {
  WebUrl folder;                   // its path ends in '/'
  std::string name;                // decoded
  std::string naming;              // the template or the manifest, as written; empty: index pages
  std::vector<std::string> names;  // of the template
  std::string manifest;            // as written: relative to the folder, or absolute
};

// The forms are in web_store.h. kInvalidArgument says what is wrong.
Result<StoreUrl> parse_store_url(const Url& url);

}  // namespace leat::web
