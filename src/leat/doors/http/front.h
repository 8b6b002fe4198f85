// Front: several applications behind one port. "/leat" is the page, what lies beneath it the native
// API and what the page is made of, everything else is S3.
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
  // All outlive this.
  struct Applications {
    Application& page;
    Application& native;
    Application& s3;
  };
  // `domains`: under which buckets are hosts.
  Front(Applications applications, std::vector<std::string> domains)
      : applications_(applications), domains_(std::move(domains)) {}

  std::optional<QuickAnswer> answer_now(const RequestHead& head, const QuickSpace& space) override {
    return behind(head).answer_now(head, space);
  }
  std::unique_ptr<Exchange> begin(const RequestHead& head) override {
    return behind(head).begin(head);
  }
  Answer refuse(const BadRequest& request) override { return behind(request.head).refuse(request); }

 private:
  Application& behind(const RequestHead& head) const;

  const Applications applications_;
  const std::vector<std::string> domains_;
};

}  // namespace leat::doors::http
