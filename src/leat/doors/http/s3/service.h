// S3Service: the S3 API over the buckets of a local store.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "leat/doors/http/access.h"
#include "leat/doors/http/application.h"
#include "leat/doors/http/buckets.h"
#include "leat/doors/http/request_stats.h"
#include "leat/doors/http/s3/error.h"
#include "leat/doors/http/s3/request.h"
#include "leat/local/local_store.h"

namespace leat::doors::http::s3 {

struct S3Options {
  std::vector<std::string> domains;  // under which buckets are hosts
  const Clock* clock = &Clock::system();
};

class S3Service final : public Application {
 public:
  S3Service(std::shared_ptr<local::LocalStore> store, Access access, S3Options options);
  // With what the applications of one server share.
  S3Service(std::shared_ptr<Buckets> buckets, std::shared_ptr<const Access> access,
            std::shared_ptr<RequestStats> stats, S3Options options);

  std::optional<QuickAnswer> answer_now(const RequestHead& head, const QuickSpace& space) override;
  std::unique_ptr<Exchange> begin(const RequestHead& head) override;
  Answer refuse(const BadRequest& request) override;

 private:
  std::string next_request_id();
  // The request, with its signer, or what is wrong with it.
  Result<S3Request> parse(const RequestHead& head, std::optional<S3Error>& error);
  std::optional<S3Error> check_rights(const S3Request& request) const;

  const std::shared_ptr<const Access> shared_access_;
  const std::shared_ptr<Buckets> shared_buckets_;
  const Access& access_ = *shared_access_;
  Buckets& buckets_ = *shared_buckets_;
  const std::shared_ptr<RequestStats> stats_;
  RequestStats::Operation& get_object_stats_ = stats_->operation("s3", "GetObject");
  RequestStats::Operation& head_object_stats_ = stats_->operation("s3", "HeadObject");
  const S3Options options_;
  std::atomic<std::uint64_t> requests_{0};
};

}  // namespace leat::doors::http::s3
