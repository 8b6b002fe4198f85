// NativeService: Leat's own API, under /leat/v1. docs/native-api.md is its description.
//
// Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "leat/doors/http/access.h"
#include "leat/doors/http/application.h"
#include "leat/doors/http/buckets.h"
#include "leat/doors/http/native/operation.h"
#include "leat/doors/http/request_stats.h"
#include "leat/doors/http/server.h"

namespace leat::doors::http::native {

struct NativeOptions {
  // Names under which this server is reached, besides its addresses and "localhost".
  std::vector<std::string> hosts;
  enum class Metrics : std::uint8_t { kForReaders, kForEveryone };
  Metrics metrics = Metrics::kForReaders;  // Prometheus cannot sign
  const Clock* clock = &Clock::system();
};

class NativeService final : public Application {
 public:
  NativeService(std::shared_ptr<Buckets> buckets, std::shared_ptr<const Access> access,
                std::shared_ptr<RequestStats> stats, NativeOptions options);

  std::optional<QuickAnswer> answer_now(const RequestHead& head, const QuickSpace& space) override;
  std::unique_ptr<Exchange> begin(const RequestHead& head) override;
  Answer refuse(const BadRequest& request) override;

  // From now on `health` says that this server is about to end.
  void set_draining() { services_.is_draining.store(true); }
  // Where the figures about connections come from, once there is a server.
  void set_server_counts(std::function<Server::Counts()> counts);

 private:
  Result<NativeRequest> parse(const RequestHead& head) const;
  Status check_rights(const NativeRequest& request) const;
  std::unique_ptr<Exchange> make(NativeRequest request);

  const NativeOptions options_;
  RequestStats::Operation& get_object_stats_;  // of services_.stats
  RequestStats::Operation& head_object_stats_;
  Services services_;
};

}  // namespace leat::doors::http::native
