#include "leat/doors/http/native/operation.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "leat/doors/http/signer.h"
#include "leat/wire/object_headers.h"

namespace leat::doors::http::native {
namespace {

using leat::http::Method;

class Refusal final : public Exchange {
 public:
  Refusal(const RequestHead& head, Error error) : head_(head), error_(std::move(error)) {}
  bool wants_body() const override { return false; }
  Status consume(std::span<const std::byte> /*piece*/, const Context& /*context*/) override {
    return ok_status();
  }
  Answer respond(const Context& /*context*/) override {
    Answer answer = error_answer(error_, head_.method());
    if (const std::string methods = methods_instead(head_); !methods.empty()) {
      answer.status = 405;
      answer.headers += fmt::format("Allow: {}\r\n", methods);
    }
    return answer;
  }

 private:
  const RequestHead& head_;
  const Error error_;
};

}  // namespace

Operation::Operation(NativeRequest request, Services& services)
    : request_(std::move(request)), services_(services) {
  if (request_.signer.payload == PayloadKind::kHashed && request_.head->has_body()) {
    digest_.emplace();
  }
}

Status Operation::consume(std::span<const std::byte> piece, const Context& context) {
  if (digest_) digest_->add(piece);
  Status status = take(piece, context);
  if (!status.ok()) error_ = status.error();
  return status;
}

Status Operation::take(std::span<const std::byte> /*piece*/, const Context& /*context*/) {
  return ok_status();
}

Result<Answer> Operation::perform_checked(const Context& context) {
  if (error_) return *error_;
  if (digest_ && digest_->finish() != request_.signer.payload_hash) {
    return Error(ErrorCode::kInvalidArgument, "the body is not the one whose SHA-256 was signed");
  }
  return perform(context);
}

Answer Operation::respond(const Context& context) {
  auto performed = perform_checked(context);
  if (!performed.ok()) return error_answer(performed.error(), request_.head->method());
  performed->headers += kBrowserLines;
  return *std::move(performed);
}

Result<std::shared_ptr<ObjectStore>> Operation::bucket() {
  auto found = services_.buckets->open(request_.route.bucket);
  if (!found.failed_with(ErrorCode::kNotFound)) return found;
  return Error(ErrorCode::kNotFound, "there is no bucket " + request_.route.bucket);
}

Result<std::optional<std::uint64_t>> number_of(const Query& query, std::string_view name) {
  const auto text = query.find(name);
  if (!text) return std::optional<std::uint64_t>();
  const auto number = wire::parse_number(*text);
  if (!number) {
    return Error(ErrorCode::kInvalidArgument, std::string(name) + " is not a number");
  }
  return number;
}

std::unique_ptr<Exchange> make_refusal(const RequestHead& head, Error error) {
  return std::make_unique<Refusal>(head, std::move(error));
}

std::string json_text(std::string_view text) {
  using Json = nlohmann::json;
  const std::string quoted =
      Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

Answer error_answer(const Error& error, Method method) {
  const ErrorTraits& traits = error_traits(error.code());
  Answer answer;
  answer.status = traits.http_status;
  answer.headers = fmt::format("Content-Type: application/json\r\n{}: {}\r\n{}", wire::kErrorHeader,
                               traits.name, kBrowserLines);
  if (method != Method::kHead) {
    answer.body = fmt::format("{{\"error\":{{\"code\":\"{}\",\"message\":\"{}\"}}}}\n", traits.name,
                              json_text(error.message()));
  }
  return answer;
}

Answer json_answer(std::string text) {
  Answer answer;
  answer.headers = "Content-Type: application/json\r\n";
  answer.body = std::move(text);
  return answer;
}

}  // namespace leat::doors::http::native
