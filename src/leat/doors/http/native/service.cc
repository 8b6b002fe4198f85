#include "leat/doors/http/native/service.h"

#include <algorithm>

#include "leat/doors/http/counted_exchange.h"
#include "leat/doors/http/guard.h"
#include "leat/doors/http/quick_read.h"
#include "leat/doors/http/signature.h"

namespace leat::doors::http::native {
namespace {

// What a route needs; of a batch each item is asked for.
std::optional<Right> right_of(Route route) {
  switch (route) {
    case Route::kHealth:
    case Route::kOpenApi:
    case Route::kBatch:
    case Route::kListBuckets:  // lists those that may be read
      return std::nullopt;
    case Route::kPutBucket:
    case Route::kDeleteBucket:
      return Right::kAdmin;
    case Route::kPutObject:
    case Route::kDeleteObject:
      return Right::kWrite;
    default:
      return Right::kRead;
  }
}

Error signature_error(const SignatureError& error) {
  const auto code =
      error.status == 403 ? ErrorCode::kPermissionDenied : ErrorCode::kInvalidArgument;
  return Error(code, error.message);
}

constexpr std::string_view kObjectsPath = "/leat/v1/objects/";

std::optional<std::size_t> write_object_headers(std::span<char> space, const ObjectInfo& info) {
  const std::string lines = object_lines(info);
  if (lines.size() + kBrowserLines.size() > space.size()) return std::nullopt;
  char* const end = std::copy(lines.begin(), lines.end(), space.data());
  std::copy(kBrowserLines.begin(), kBrowserLines.end(), end);
  return lines.size() + kBrowserLines.size();
}

}  // namespace

NativeService::NativeService(std::shared_ptr<Buckets> buckets, std::shared_ptr<const Access> access,
                             std::shared_ptr<RequestStats> stats, NativeOptions options)
    : options_(std::move(options)),
      get_object_stats_(stats->operation("native", "get_object")),
      head_object_stats_(stats->operation("native", "head_object")) {
  services_.buckets = std::move(buckets);
  services_.access = std::move(access);
  services_.stats = std::move(stats);
  services_.clock = options_.clock;
  services_.started = options_.clock->now();
}

void NativeService::set_server_counts(std::function<Server::Counts()> counts) {
  const MutexLock lock(services_.mutex);
  services_.server_counts = std::move(counts);
}

std::optional<QuickAnswer> NativeService::answer_now(const RequestHead& head,
                                                     const QuickSpace& space) {
  if (!head.path().starts_with(kObjectsPath)) return std::nullopt;
  auto read = quick_read_of(head);
  if (!read) return std::nullopt;
  const auto request = parse(head);
  if (!request.ok()) return std::nullopt;
  const auto bucket = services_.buckets->find(request->route.bucket);
  if (!bucket) return std::nullopt;
  const auto generation = number_of(request->query, "generation");
  const auto offset = number_of(request->query, "offset");
  const auto length = number_of(request->query, "length");
  if (!generation.ok() || !offset.ok() || !length.ok()) return std::nullopt;
  read->generation = *generation;
  if (*offset || *length) read->part = {offset->value_or(0), length->value_or(kToEnd)};
  RequestStats::Operation& stats =
      head.method() == leat::http::Method::kHead ? head_object_stats_ : get_object_stats_;
  return answer_read_now({*bucket, request->route.name, write_object_headers, stats}, *read, space);
}

Result<NativeRequest> NativeService::parse(const RequestHead& head) const {
  NativeRequest request;
  request.head = &head;
  ASSIGN_OR_RETURN(request.route, match_route(head));
  ASSIGN_OR_RETURN(request.query, Query::parse(head.query()));
  if (request.route.row->route == Route::kHealth) return request;
  const auto secret_of = [&](std::string_view key) { return services_.access->secret_of(key); };
  auto check =
      check_signature({head, request.query}, secret_of, options_.clock->wall_ns() / 1'000'000'000);
  if (check.error) return signature_error(*check.error);
  request.signer = std::move(check.signer);
  if (request.signer.payload != PayloadKind::kUnsigned &&
      request.signer.payload != PayloadKind::kHashed) {
    return Error(ErrorCode::kUnsupported, "a body in signed chunks is for S3 only");
  }
  const bool is_signed_in_headers = head.header("authorization").has_value();
  if (!is_signed_in_headers) RETURN_IF_ERROR(check_sender(head, options_.hosts));
  RETURN_IF_ERROR(check_rights(request));
  return request;
}

Status NativeService::check_rights(const NativeRequest& request) const {
  const Route route = request.route.row->route;
  if (route == Route::kMetrics && options_.metrics == NativeOptions::Metrics::kForEveryone) {
    return ok_status();
  }
  // Whoever may read nothing sends no list, which the server would have to hold.
  const bool is_nobody = request.signer.access_key.empty();
  if (route == Route::kBatch && is_nobody && !services_.access->allows("", Right::kRead, "", "")) {
    return Error(ErrorCode::kPermissionDenied, "this needs a key");
  }
  const auto right = right_of(route);
  if (!right) return ok_status();
  const std::string_view name = route == Route::kListObjects
                                    ? request.query.find("prefix").value_or("")
                                    : std::string_view(request.route.name);
  if (services_.access->allows(request.signer.access_key, *right, request.route.bucket, name)) {
    return ok_status();
  }
  if (request.signer.access_key.empty()) {
    return Error(ErrorCode::kPermissionDenied, "this needs a key");
  }
  return Error(ErrorCode::kPermissionDenied, "this key may not do that");
}

std::unique_ptr<Exchange> NativeService::begin(const RequestHead& head) {
  auto parsed = parse(head);
  const std::string_view operation = parsed.ok() ? parsed->route.row->operation : "Refused";
  auto exchange =
      parsed.ok() ? make(*std::move(parsed)) : make_refusal(head, std::move(parsed).error());
  return std::make_unique<CountedExchange>(
      std::move(exchange), services_.stats->operation("native", operation), *services_.clock);
}

std::unique_ptr<Exchange> NativeService::make(NativeRequest request) {
  switch (request.route.row->route) {
    case Route::kHealth:
    case Route::kStats:
    case Route::kMetrics:
    case Route::kOpenApi:
      return make_status(std::move(request), services_);
    case Route::kListBuckets:
    case Route::kGetBucket:
    case Route::kPutBucket:
    case Route::kDeleteBucket:
      return make_bucket_operation(std::move(request), services_);
    case Route::kGetObject:
    case Route::kHeadObject:
      return make_get_object(std::move(request), services_);
    case Route::kPutObject:
      return make_put_object(std::move(request), services_);
    case Route::kDeleteObject:
      return make_delete_object(std::move(request), services_);
    case Route::kListObjects:
    case Route::kListShard:
      return make_list(std::move(request), services_);
    case Route::kBatch:
      return make_batch(std::move(request), services_);
  }
  return make_refusal(*request.head, Error(ErrorCode::kUnsupported));
}

Answer NativeService::refuse(const BadRequest& request) {
  Answer answer = error_answer(request.error, request.head.method());
  answer.status = request.status;
  return answer;
}

}  // namespace leat::doors::http::native
