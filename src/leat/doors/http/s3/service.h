// S3Service: the S3 API over the buckets of a local store.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "leat/doors/http/application.h"
#include "leat/doors/http/s3/buckets.h"
#include "leat/doors/http/s3/error.h"
#include "leat/doors/http/s3/request.h"
#include "leat/local/local_store.h"

namespace leat::doors::http::s3 {

struct S3Options {
  std::vector<std::string> domains;  // under which buckets are hosts
};

class S3Service final : public Application {
 public:
  S3Service(std::shared_ptr<local::LocalStore> store, S3Options options);

  std::optional<QuickAnswer> answer_now(const RequestHead& head, const QuickSpace& space) override;
  std::unique_ptr<Exchange> begin(const RequestHead& head) override;
  Answer refuse(const Error& error) override;

 private:
  std::string next_request_id();

  const S3Options options_;
  Buckets buckets_;
  std::atomic<std::uint64_t> requests_{0};
};

}  // namespace leat::doors::http::s3
