// Front: several applications behind one port. "/leat" and what lies beneath it is the native API,
// everything else is S3.
//
// A host that is a bucket ("photos.storage.example") has its own "/leat", which is an object of
// that bucket. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "leat/doors/http/application.h"

namespace leat::doors::http {

class Front final : public Application {
 public:
  // Both outlive this. `domains`: under which buckets are hosts.
  Front(Application& native, Application& s3, std::vector<std::string> domains)
      : native_(native), s3_(s3), domains_(std::move(domains)) {}

  std::optional<QuickAnswer> answer_now(const RequestHead& head, const QuickSpace& space) override {
    return behind(head).answer_now(head, space);
  }
  std::unique_ptr<Exchange> begin(const RequestHead& head) override {
    return behind(head).begin(head);
  }
  Answer refuse(const Error& error) override { return s3_.refuse(error); }

 private:
  Application& behind(const RequestHead& head) const;

  Application& native_;
  Application& s3_;
  const std::vector<std::string> domains_;
};

}  // namespace leat::doors::http
