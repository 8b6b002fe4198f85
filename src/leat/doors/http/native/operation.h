// Operation: the base of what requests of the native API ask for.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "leat/base/mutex.h"
#include "leat/doors/http/access.h"
#include "leat/doors/http/application.h"
#include "leat/doors/http/browser_lines.h"
#include "leat/doors/http/buckets.h"
#include "leat/doors/http/native/routes.h"
#include "leat/doors/http/query.h"
#include "leat/doors/http/request_stats.h"
#include "leat/doors/http/server.h"
#include "leat/doors/http/signer.h"
#include "leat/http/sigv4.h"

namespace leat::doors::http::native {

// What the operations of a server share; outlives them.
struct Services {
  std::shared_ptr<Buckets> buckets;
  std::shared_ptr<const Access> access;
  std::shared_ptr<RequestStats> stats;
  const Clock* clock = &Clock::system();
  MonotonicTime started{};
  std::atomic<bool> is_draining{false};
  std::atomic<std::uint64_t> batch_list_bytes{0};  // of lists that are held
  Mutex mutex;
  std::function<Server::Counts()> server_counts GUARDED_BY(mutex);
};

struct NativeRequest {
  const RequestHead* head = nullptr;
  MatchedRoute route;
  Query query;
  Signer signer;
};

// A number of the query; kInvalidArgument when it is none.
Result<std::optional<std::uint64_t>> number_of(const Query& query, std::string_view name);

// Performs, and tells an error as this API does.
class Operation : public Exchange {
 public:
  Operation(NativeRequest request, Services& services);

  Status consume(std::span<const std::byte> piece, const Context& context) final;
  Answer respond(const Context& context) final;

 protected:
  virtual Result<Answer> perform(const Context& context) = 0;
  // The next piece of the body; dropped unless overridden.
  virtual Status take(std::span<const std::byte> piece, const Context& context);

  Result<std::shared_ptr<ObjectStore>> bucket();
  std::optional<std::string_view> header(std::string_view name) const {
    return request_.head->header(name);
  }
  Result<std::optional<std::uint64_t>> number_parameter(std::string_view name) const {
    return number_of(request_.query, name);
  }
  bool allows(Right right, std::string_view bucket, std::string_view name) const {
    return services_.access->allows(request_.signer.access_key, right, bucket, name);
  }

  const NativeRequest request_;
  Services& services_;

 private:
  Result<Answer> perform_checked(const Context& context);

  std::optional<leat::http::Sha256> digest_;  // of a body whose hash was signed
  std::optional<Error> error_;                // of the body
};

// Answers with an error, whatever the body holds.
std::unique_ptr<Exchange> make_refusal(const RequestHead& head, Error error);
Answer error_answer(const Error& error, leat::http::Method method);
Answer json_answer(std::string text);
// `text` as it stands between the quotes of JSON; what is not UTF-8 is replaced.
std::string json_text(std::string_view text);

// The headers of an object's answer, as whole lines.
std::string object_lines(const ObjectInfo& info);

// One function a file.
std::unique_ptr<Exchange> make_status(NativeRequest request, Services& services);
std::unique_ptr<Exchange> make_bucket_operation(NativeRequest request, Services& services);
std::unique_ptr<Exchange> make_get_object(NativeRequest request, Services& services);
std::unique_ptr<Exchange> make_put_object(NativeRequest request, Services& services);
std::unique_ptr<Exchange> make_delete_object(NativeRequest request, Services& services);
std::unique_ptr<Exchange> make_list(NativeRequest request, Services& services);
std::unique_ptr<Exchange> make_batch(NativeRequest request, Services& services);

}  // namespace leat::doors::http::native
