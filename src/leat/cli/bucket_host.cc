#include "leat/cli/bucket_host.h"

#include "leat/base/url.h"
#include "leat/drivers/leat/leat_server.h"

namespace leat::cli {
namespace {

class LocalHost final : public BucketHost {
 public:
  explicit LocalHost(std::shared_ptr<local::LocalStore> store) : store_(std::move(store)) {}

  Result<std::vector<Bucket>> list(const Context& context) override {
    ASSIGN_OR_RETURN(const auto infos, store_->list_buckets(context));
    std::vector<Bucket> buckets;
    buckets.reserve(infos.size());
    for (const local::BucketInfo& info : infos) {
      buckets.push_back({info.name, info.options.durability, info.created_ns});
    }
    return buckets;
  }
  Status create(std::string_view name, Durability durability, const Context& context) override {
    return store_->create_bucket(name, options_of(durability), context);
  }
  Status set(std::string_view name, Durability durability, const Context& context) override {
    return store_->set_bucket(name, options_of(durability), context);
  }
  Status remove(std::string_view name, const Context& context) override {
    return store_->remove_bucket(name, context);
  }

 private:
  static local::BucketOptions options_of(Durability durability) {
    local::BucketOptions options;
    if (durability != Durability::kDefault) options.durability = durability;
    return options;
  }

  const std::shared_ptr<local::LocalStore> store_;
};

class ServerHost final : public BucketHost {
 public:
  explicit ServerHost(std::shared_ptr<LeatServer> server) : server_(std::move(server)) {}

  Result<std::vector<Bucket>> list(const Context& context) override {
    ASSIGN_OR_RETURN(const auto infos, server_->list_buckets(context));
    std::vector<Bucket> buckets;
    buckets.reserve(infos.size());
    for (const LeatServer::Bucket& info : infos) {
      buckets.push_back({info.name, info.durability, info.created_ns});
    }
    return buckets;
  }
  Status create(std::string_view name, Durability durability, const Context& context) override {
    return server_->create_bucket(name, durability, context);
  }
  Status set(std::string_view name, Durability durability, const Context& context) override {
    return server_->set_bucket(name, durability, context);
  }
  Status remove(std::string_view name, const Context& context) override {
    return server_->remove_bucket(name, context);
  }

 private:
  const std::shared_ptr<LeatServer> server_;
};

bool is_server_scheme(std::string_view scheme) {
  return scheme == kLeatScheme || scheme == kLeatTlsScheme;
}

}  // namespace

Result<BucketPlace> open_bucket_host(Stores& stores, const std::string& url, IfMissing if_missing) {
  ASSIGN_OR_RETURN(const Url parsed, Url::parse(url));
  BucketPlace place;
  if (is_server_scheme(parsed.scheme)) {
    ASSIGN_OR_RETURN(LeatUrl leat_url, parse_leat_url(parsed));
    ASSIGN_OR_RETURN(auto server, LeatServer::make(leat_url));
    place.host = std::make_unique<ServerHost>(std::move(server));
    place.host_url = leat_url.server_url();
    place.bucket = std::move(leat_url.bucket);
    place.name = std::move(leat_url.name);
    return place;
  }
  ASSIGN_OR_RETURN(LocalStoreLocation location, stores.open_local(url, if_missing));
  place.host_url = location.url.store_url();
  place.bucket = std::move(location.url.bucket);
  place.name = std::move(location.url.name);
  place.host = std::make_unique<LocalHost>(std::move(location.store));
  return place;
}

bool names_bucket_host(const Stores& stores, const std::string& url) {
  const Result<Url> parsed = Url::parse(url);
  if (!parsed || !is_server_scheme(parsed->scheme)) return stores.names_local_store(url);
  const auto leat_url = parse_leat_url(*parsed);
  return leat_url.ok() && leat_url->bucket.empty();
}

}  // namespace leat::cli
