// CountedExchange: another exchange, counted in RequestStats when its answer is out.
#pragma once

#include <memory>

#include "leat/base/clock.h"
#include "leat/doors/http/application.h"
#include "leat/doors/http/request_stats.h"

namespace leat::doors::http {

class CountedExchange final : public Exchange {
 public:
  // `stats` and `clock` outlive this.
  CountedExchange(std::unique_ptr<Exchange> exchange, RequestStats::Operation& stats,
                  const Clock& clock)
      : exchange_(std::move(exchange)), stats_(stats), clock_(clock), begin_(clock.now()) {
    stats_.enter();
  }
  ~CountedExchange() override {
    stats_.leave();
    stats_.record(status_code_, bytes_, clock_.now() - begin_);
  }

  bool wants_body() const override { return exchange_->wants_body(); }
  bool never_waits() const override { return exchange_->never_waits(); }
  Status consume(std::span<const std::byte> piece, const Context& context) override {
    bytes_ += piece.size();
    return exchange_->consume(piece, context);
  }
  Answer respond(const Context& context) override;

 private:
  class CountedSource;

  const std::unique_ptr<Exchange> exchange_;
  RequestStats::Operation& stats_;
  const Clock& clock_;
  const MonotonicTime begin_;
  int status_code_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace leat::doors::http
