// Stores: from the URLs that people type to stores, and the settings that stores are opened with.
//
// A name within a store is an object, a folder, or both. Where a command takes a folder, `name` and
// `name/` mean the objects whose names begin with `name/`.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "leat/base/config.h"
#include "leat/base/log.h"
#include "leat/base/result.h"
#include "leat/doors/http/access.h"
#include "leat/doors/http/server.h"
#include "leat/local/local_store.h"
#include "leat/local/local_url.h"
#include "leat/store/registry.h"

namespace leat::cli {

// The [serve] section.
struct ServeSettings {
  std::string listen = "127.0.0.1:9000";
  std::string keys;  // empty: the user's own file
  std::vector<std::string> domains;
  doors::http::Anonymous anonymous = doors::http::Anonymous::kNothing;
  doors::http::ServerOptions server;
  std::chrono::nanoseconds idle_timeout = server.idle_timeout;
  std::chrono::nanoseconds drain_timeout = std::chrono::seconds(30);
  std::chrono::nanoseconds abandoned_uploads = std::chrono::hours(7 * 24);
};

// What a configuration file can say.
struct Settings {
  local::StoreOptions store;
  ServeSettings serve;
  int compact_below_percent = 50;
  std::chrono::nanoseconds scrub_pause = store.scrub_pause;
  LogLevel log_level = LogLevel::kWarning;

  // The sections and keys of a file, bound to this object, which must outlive the schema.
  ConfigSchema schema();
  static Result<Settings> load(const std::string& path);
};

// The local store itself rather than one of its buckets.
struct LocalStoreLocation {
  std::shared_ptr<local::LocalStore> store;
  local::LocalUrl url;
};

class Stores {
 public:
  explicit Stores(Settings settings);

  Result<StoreLocation> open(const std::string& url, IfMissing if_missing);
  const Settings& settings() const { return settings_; }

  // Whether a URL names a local store and no bucket in it.
  bool names_local_store(const std::string& url) const;
  // kUnsupported when the URL has another scheme. With IfMissing::kCreate the last component is a
  // bucket, and the store is made if there is none.
  Result<LocalStoreLocation> open_local(const std::string& url, IfMissing if_missing);

 private:
  Settings settings_;
  std::unique_ptr<Logger> logger_;
  Registry registry_;
};

// A page of what can be listed. When not everything can, `status` says why, for the end of the
// command, and the listing goes on without the rest.
Result<ListPage> list_reachable(ObjectStore& store, ListRequest& request, Status& status,
                                const Context& context);

// "a" and "a/" -> "a/"; "" stays.
std::string folder_prefix(std::string_view name);
// "a/b" -> "b".
std::string_view base_name(std::string_view name) noexcept;
// Whether the location can only be a folder: the whole store, or a name that ends in '/'.
bool is_folder(const StoreLocation& location) noexcept;

}  // namespace leat::cli
