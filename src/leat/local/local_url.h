// LocalUrl: what a `leat+local:` URL names: the drives of a store, a bucket, and a name in it.
//
//   leat+local:///data/a,/data/b/bucket/name
//
// A ',' before a '/' separates directories, which are absolute. The last piece goes on with bucket
// and name: its directory is the outermost one on the path that is a drive (holds `leat.store`), so
// no object can pose as a drive. Everything is percent-decoded after it was split: a ',' of a
// directory or a name that stands before a '/' is written %2C, and a '%' always %25.
//
// Functions without state, thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"
#include "leat/base/url.h"
#include "leat/local/local_store.h"
#include "leat/store/registry.h"

namespace leat::local {

inline constexpr std::string_view kLocalScheme = "leat+local";

struct LocalUrl {
  std::vector<std::string> directories;
  std::string bucket;  // empty: the store itself
  std::string name;

  // The URL of the store alone.
  std::string store_url() const;
};

// kNotFound when no directory on the path is a drive.
Result<LocalUrl> resolve_local_url(const Url& url, const StoreOptions& options);

// How a URL is read when there is no store yet.
enum class NewStore : std::uint8_t {
  kNamesBucket,  // the last component is the bucket
  kNamesObject,  // the last two are bucket and name; the name may be empty ("…/bucket/")
};
// Reads the text alone. kInvalidArgument when it has too few components or the bucket's name is
// none.
Result<LocalUrl> place_new_store(const Url& url, NewStore form);

// The scheme "leat+local". All locations that one Registry opens in one store share it.
// IfMissing::kCreate makes a bucket that is missing, and also a store, if its directory would be a
// new or empty one: a URL that is a component short must not turn a home directory into a drive.
void register_local(Registry& registry, const StoreOptions& options);

}  // namespace leat::local
