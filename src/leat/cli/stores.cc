#include "leat/cli/stores.h"

#include <utility>

#include "leat/base/url.h"
#include "leat/drivers/all.h"

namespace leat::cli {

namespace {

using doors::http::Anonymous;

void add_serve_section(ConfigSchema& schema, ServeSettings& serve) {
  schema.section("serve")
      .string("listen", &serve.listen, "HOST:PORT; without a host, every address of this machine")
      .string("keys", &serve.keys, "the file of access keys; empty: the user's own")
      .string_list(
          "domains", &serve.domains,
          "names of this server under which buckets are hosts: [\"s3.example.org\"] serves "
          "bucket.s3.example.org")
      .choice(
          "anonymous", &serve.anonymous,
          {{"none", Anonymous::kNothing}, {"read", Anonymous::kRead}, {"write", Anonymous::kWrite}},
          "what requests without a key may do")
      .integer("threads", &serve.server.loops, std::size_t{0}, std::size_t{1024},
               "event loops; 0: one a core")
      .integer("pool_threads", &serve.server.pool_threads, std::size_t{1}, std::size_t{4096},
               "threads for what waits for a disk")
      .integer("max_connections", &serve.server.max_connections, std::size_t{1},
               std::size_t{10000000}, "at once")
      .size("max_head_size", &serve.server.max_head_bytes, "of a request, without its body")
      .duration("idle_timeout", &serve.idle_timeout,
                "a connection on which nothing moves for so long is closed")
      .string("tls_certificate", &serve.server.tls_certificate, "a PEM file: HTTPS, not HTTP")
      .string("tls_key", &serve.server.tls_key, "the PEM file of its key")
      .duration("drain_timeout", &serve.drain_timeout,
                "how long requests may still run after SIGTERM")
      .duration("abandoned_uploads", &serve.abandoned_uploads,
                "a multipart upload to which nothing comes for so long is aborted; 0: never");
}

}  // namespace

ConfigSchema Settings::schema() {
  ConfigSchema schema;
  add_serve_section(schema, serve);
  schema.section("store")
      .size("small_object_size", &store.small_object_bytes, "objects up to this size are packed")
      .size("pack_size", &store.drive.log.pack_bytes,
            "small objects are packed into files so large")
      .integer("compact_below", &compact_below_percent, 0, 100,
               "a pack is rewritten when less than this percentage of it is live")
      .size("compact_rate", &store.drive.compact_bytes_per_second,
            "bytes a second that compaction may read; 0: as fast as it can")
      .size("scrub_rate", &store.scrub_bytes_per_second,
            "bytes a second that the scrub compares with their checksums, in the background, while "
            "the store is open; 0: no scrub")
      .duration("scrub_pause", &scrub_pause, "between two rounds of the scrub")
      .size("record_cache", &store.drive.record_cache_bytes,
            "memory of each drive for small objects that batches read; 0: none");
  schema.section("log").choice("level", &log_level,
                               {{"debug", LogLevel::kDebug},
                                {"info", LogLevel::kInfo},
                                {"warning", LogLevel::kWarning},
                                {"error", LogLevel::kError}},
                               "what is told on standard error, from this level on");
  return schema;
}

Result<Settings> Settings::load(const std::string& path) {
  Settings settings;
  RETURN_IF_ERROR(settings.schema().load_file(path));
  settings.store.drive.compact_below = settings.compact_below_percent / 100.0;
  settings.serve.server.idle_timeout =
      std::chrono::ceil<std::chrono::milliseconds>(settings.serve.idle_timeout);
  settings.store.scrub_pause = std::chrono::ceil<std::chrono::milliseconds>(settings.scrub_pause);
  return settings;
}

Stores::Stores(Settings settings) : settings_(std::move(settings)) {
  DescriptorLoggerOptions logger_options;
  logger_options.lowest_level = settings_.log_level;
  logger_ = std::make_unique<DescriptorLogger>(logger_options);
  registry_ = all_drivers();
  local::register_local(registry_, settings_.store);
}

Result<StoreLocation> Stores::open(const std::string& url, IfMissing if_missing) {
  Result<StoreLocation> location = registry_.open(url, if_missing);
  if (location) {
    logger_->debug("opened a store", {{"url", location->store->url()}, {"name", location->name}});
  }
  return location;
}

bool Stores::names_local_store(const std::string& url) const {
  const Result<Url> parsed = Url::parse(url);
  if (!parsed || parsed->scheme != local::kLocalScheme) return false;
  const auto resolved = local::resolve_local_url(*parsed, settings_.store);
  return resolved && resolved->bucket.empty();
}

Result<LocalStoreLocation> Stores::open_local(const std::string& url, IfMissing if_missing) {
  ASSIGN_OR_RETURN(const Url parsed, Url::parse(url));
  if (parsed.scheme != local::kLocalScheme) {
    return Error(ErrorCode::kUnsupported, "this is for stores with a leat+local:///… URL");
  }
  Result<local::LocalUrl> place = local::resolve_local_url(parsed, settings_.store);
  const bool is_new = place.failed_with(ErrorCode::kNotFound) && if_missing == IfMissing::kCreate;
  if (is_new) {
    ASSIGN_OR_RETURN(place, local::place_new_store(parsed, local::NewStore::kNamesBucket));
  }
  if (!place) return std::move(place).error();
  LocalStoreLocation location;
  location.url = *std::move(place);
  const auto& directories = location.url.directories;
  ASSIGN_OR_RETURN(location.store, is_new ? local::LocalStore::create(directories, settings_.store)
                                          : local::LocalStore::open(directories, settings_.store));
  logger_->debug("opened a local store", {{"url", location.url.store_url()}});
  return location;
}

Result<ListPage> list_reachable(ObjectStore& store, ListRequest& request, Status& status,
                                const Context& context) {
  auto page = store.list(request, context);
  if (!page.failed_with(ErrorCode::kUnavailable) ||
      request.unreachable == ListRequest::Unreachable::kLeaveOut) {
    return page;
  }
  status = page.error();
  request.unreachable = ListRequest::Unreachable::kLeaveOut;
  return store.list(request, context);
}

std::string folder_prefix(std::string_view name) {
  std::string prefix(name);
  if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
  return prefix;
}

std::string_view base_name(std::string_view name) noexcept {
  return name.substr(name.rfind('/') + 1);
}

bool is_folder(const StoreLocation& location) noexcept {
  return location.name.empty() || location.name.ends_with('/');
}

}  // namespace leat::cli
