// BucketHost: what holds buckets: a local store, or a server. Commands about buckets see no
// difference.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/cli/stores.h"
#include "leat/store/object_store.h"

namespace leat::cli {

class BucketHost {
 public:
  BucketHost() = default;
  BucketHost(const BucketHost&) = delete;
  BucketHost& operator=(const BucketHost&) = delete;
  virtual ~BucketHost() = default;

  struct Bucket {
    std::string name;
    Durability durability = Durability::kDisk;
    std::int64_t created_ns = 0;
  };
  virtual Result<std::vector<Bucket>> list(const Context& context) = 0;
  // kDefault: as the host decides.
  virtual Status create(std::string_view name, Durability durability, const Context& context) = 0;
  virtual Status set(std::string_view name, Durability durability, const Context& context) = 0;
  virtual Status remove(std::string_view name, const Context& context) = 0;
};

// What a URL names: a host, and perhaps a bucket in it and a name in that.
struct BucketPlace {
  std::unique_ptr<BucketHost> host;
  std::string host_url;
  std::string bucket;
  std::string name;
};

// kUnsupported when the URL is of a store without buckets. With IfMissing::kCreate the last
// component is a bucket, and a local store is made if there is none.
Result<BucketPlace> open_bucket_host(Stores& stores, const std::string& url, IfMissing if_missing);

// Whether a URL names such a host and no bucket in it.
bool names_bucket_host(const Stores& stores, const std::string& url);

}  // namespace leat::cli
