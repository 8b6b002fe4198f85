// LeatServer: a server of the native API (docs/native-api.md), for the stores over its buckets and
// for commands about buckets.
//
// Errors are the server's own: an answer tells its code in a header. What answers without that
// header is not taken for a Leat server, so that a stranger's "404" is never "there is no such
// object". Thread-safe; starts no threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/drivers/leat/leat_url.h"
#include "leat/http/client.h"
#include "leat/store/object_store.h"

namespace leat {

class LeatServer {
 public:
  // Does not connect yet. The access key is found as http/key_file.h says; without one, requests
  // are not signed.
  static Result<std::shared_ptr<LeatServer>> make(const LeatUrl& url);
  // With these options, whatever the environment says.
  LeatServer(std::string url, http::ClientOptions options)
      : url_(std::move(url)), client_(std::move(options)) {}

  const std::string& url() const noexcept { return url_; }

  struct Bucket {
    std::string name;
    Durability durability = Durability::kDisk;
    std::int64_t created_ns = 0;
  };
  Result<std::vector<Bucket>> list_buckets(const Context& context);
  Result<Bucket> stat_bucket(std::string_view name, const Context& context);
  // kAlreadyExists when there is one.
  Status create_bucket(std::string_view name, Durability durability, const Context& context);
  Status set_bucket(std::string_view name, Durability durability, const Context& context);
  // kPreconditionFailed when it holds objects.
  Status remove_bucket(std::string_view name, const Context& context);

  // For stores: asks, and lets `take` read what is not an error.
  Status ask(const http::ClientRequest& request, const Context& context,
             const http::Client::Taker& take);
  // The same for a short answer as a whole, which is JSON.
  Result<std::string> ask_text(const http::ClientRequest& request, const Context& context);
  // ok, or the error that the answer tells.
  static Status check(http::ClientConnection& answer, const Context& context);
  http::Client& client() noexcept { return client_; }

 private:
  Status put_bucket(std::string_view name, Durability durability, int& status,
                    const Context& context);

  const std::string url_;
  http::Client client_;
};

// A bucket of the server as a store. The store keeps the server alive.
std::shared_ptr<ObjectStore> make_leat_store(std::shared_ptr<LeatServer> server,
                                             std::string bucket);

}  // namespace leat
