#include "leat/doors/http/counted_exchange.h"

namespace leat::doors::http {

// Made by an exchange that lives as long as its answer is sent.
class CountedExchange::CountedSource final : public BodySource {
 public:
  CountedSource(std::unique_ptr<BodySource> source, std::uint64_t& bytes)
      : source_(std::move(source)), bytes_(bytes) {}

  Result<Left> next(std::string& target, const Context& context) override {
    const std::size_t before = target.size();
    auto left = source_->next(target, context);
    bytes_ += target.size() - before;
    return left;
  }
  std::optional<Left> next_now(std::string& target) override {
    const std::size_t before = target.size();
    const auto left = source_->next_now(target);
    bytes_ += target.size() - before;
    return left;
  }

 private:
  const std::unique_ptr<BodySource> source_;
  std::uint64_t& bytes_;
};

Answer CountedExchange::respond(const Context& context) {
  Answer answer = exchange_->respond(context);
  status_code_ = answer.status;
  if (const auto* text = std::get_if<std::string>(&answer.body)) {
    bytes_ += text->size();
  } else if (const auto* object = std::get_if<ObjectBody>(&answer.body)) {
    bytes_ += object->range.length;
  } else {
    auto& source = std::get<std::unique_ptr<BodySource>>(answer.body);
    source = std::make_unique<CountedSource>(std::move(source), bytes_);
  }
  return answer;
}

}  // namespace leat::doors::http
