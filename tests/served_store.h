// ServedStore: a local store in a temporary directory behind a real server, in this process.
#pragma once

#include <memory>
#include <string>

#include "leat/base/testing/temporary_directory.h"
#include "leat/doors/http/front.h"
#include "leat/doors/http/native/service.h"
#include "leat/doors/http/page/service.h"
#include "leat/doors/http/s3/service.h"
#include "leat/doors/http/server.h"
#include "leat/drivers/leat/leat_server.h"
#include "leat/local/testing/local_fixture.h"

namespace leat::testing {

class ServedStore {
 public:
  // Null when the server does not start.
  static std::shared_ptr<ServedStore> start(doors::http::Access access,
                                            doors::http::ServerOptions options = {}) {
    auto served = std::shared_ptr<ServedStore>(new ServedStore(std::move(access)));
    return served->listen(options) ? served : nullptr;
  }

  std::uint16_t port() const { return server_->port(); }
  local::LocalStore& store() { return *store_; }
  void stop() { server_->stop(std::chrono::seconds(0)); }
  // The same store on the same port, by a new server.
  bool restart() {
    doors::http::ServerOptions options;
    options.port = server_->port();
    server_.reset();
    return listen(options);
  }

  http::ClientOptions client_options() const {
    http::ClientOptions options;
    options.host = "127.0.0.1";
    options.port = port();
    return options;
  }
  std::shared_ptr<LeatServer> connect() const { return connect(client_options()); }
  std::shared_ptr<LeatServer> connect(http::ClientOptions options) const {
    return std::make_shared<LeatServer>("leat://127.0.0.1:" + std::to_string(port()),
                                        std::move(options));
  }

 private:
  explicit ServedStore(doors::http::Access access)
      : store_(*local::LocalStore::create({directory_.make("drive")},
                                          local::testing::small_options())),
        access_(std::make_shared<const doors::http::Access>(std::move(access))) {}

  bool listen(doors::http::ServerOptions options) {
    if (options.port == doors::http::ServerOptions().port) options.port = 0;
    options.loops = 2;
    options.pool_threads = 8;
    auto server = doors::http::Server::start(options, front_);
    if (server.ok()) server_ = *std::move(server);
    return server_ != nullptr;
  }

  local::testing::TemporaryDirectory directory_;
  std::shared_ptr<local::LocalStore> store_;
  std::shared_ptr<const doors::http::Access> access_;
  std::shared_ptr<doors::http::RequestStats> stats_ = std::make_shared<doors::http::RequestStats>();
  std::shared_ptr<doors::http::Buckets> buckets_ = std::make_shared<doors::http::Buckets>(store_);
  doors::http::native::NativeService native_{buckets_, access_, stats_, {}};
  doors::http::s3::S3Service s3_{buckets_, access_, stats_, {}};
  doors::http::page::PageService page_;
  doors::http::Front front_{{page_, native_, s3_}, {}};
  std::unique_ptr<doors::http::Server> server_;
};

}  // namespace leat::testing
