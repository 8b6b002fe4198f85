#include "leat/doors/http/s3/service.h"

#include <fmt/format.h>

#include <array>

#include "leat/doors/http/counted_exchange.h"
#include "leat/doors/http/guard.h"
#include "leat/doors/http/quick_read.h"
#include "leat/doors/http/s3/operations.h"
#include "leat/doors/http/signature.h"

namespace leat::doors::http::s3 {
namespace {

using leat::http::Method;

// Decodes into `space`; nothing when it does not fit or is malformed.
std::optional<std::string_view> decode_into(std::string_view text, std::span<char> space) {
  const auto hex = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (count == space.size()) return std::nullopt;
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex(text[i + 1]);
      const int low = hex(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    space[count++] = c;
  }
  return std::string_view(space.data(), count);
}

}  // namespace

S3Service::S3Service(std::shared_ptr<local::LocalStore> store, Access access, S3Options options)
    : S3Service(std::make_shared<Buckets>(std::move(store)),
                std::make_shared<const Access>(std::move(access)), std::make_shared<RequestStats>(),
                std::move(options)) {}

S3Service::S3Service(std::shared_ptr<Buckets> buckets, std::shared_ptr<const Access> access,
                     std::shared_ptr<RequestStats> stats, S3Options options)
    : shared_access_(std::move(access)),
      shared_buckets_(std::move(buckets)),
      stats_(std::move(stats)),
      options_(std::move(options)) {}

std::string S3Service::next_request_id() {
  return fmt::format("{:016X}", requests_.fetch_add(1, std::memory_order_relaxed));
}

std::optional<QuickAnswer> S3Service::answer_now(const RequestHead& head, const QuickSpace& space) {
  // The names that some clients give their requests; everything else in a query is more than a
  // read.
  const std::string_view query = head.query();
  if (!query.empty() && query != "x-id=GetObject") return std::nullopt;
  const auto read = quick_read_of(head);
  if (!read) return std::nullopt;
  std::string_view path = head.path();
  path.remove_prefix(1);
  std::string_view bucket_name = bucket_of_host(head.host(), options_.domains);
  if (bucket_name.empty()) {
    const std::size_t slash = path.find('/');
    if (slash == path.npos) return std::nullopt;
    bucket_name = path.substr(0, slash);
    path.remove_prefix(slash + 1);
  }
  if (path.empty()) return std::nullopt;
  const auto bucket = buckets_.find(bucket_name);
  if (!bucket) return std::nullopt;
  std::array<char, kMaxNameBytes> name_space;
  const auto name = decode_into(path, name_space);
  if (!name) return std::nullopt;
  if (read->is_signed) {
    std::optional<S3Error> error;
    if (!parse(head, error).ok() || error) return std::nullopt;
  } else if (!access_.allows("", Right::kRead, bucket_name, *name)) {
    return std::nullopt;
  }
  RequestStats::Operation& stats =
      head.method() == Method::kHead ? head_object_stats_ : get_object_stats_;
  return answer_read_now({*bucket, *name, append_object_headers, stats}, *read, space);
}

Result<S3Request> S3Service::parse(const RequestHead& head, std::optional<S3Error>& error) {
  S3Request request;
  request.head = &head;
  request.access = &access_;
  ASSIGN_OR_RETURN(request.address, address_of(head, options_.domains));
  ASSIGN_OR_RETURN(request.query, Query::parse(head.query()));
  const auto secret_of = [&](std::string_view key) { return access_.secret_of(key); };
  auto check =
      check_signature({head, request.query}, secret_of, options_.clock->wall_ns() / 1'000'000'000);
  if (check.error) {
    error =
        S3Error{check.error->status, std::move(check.error->code), std::move(check.error->message)};
  }
  request.signer = std::move(check.signer);
  // A browser tells the Origin of what a page sends.
  if (!error && request.signer.access_key.empty() && head.header("origin")) {
    const Status status = check_host_and_origin(head, options_.domains);
    if (!status.ok()) error = S3Error{403, "AccessDenied", std::string(status.error().message())};
  }
  if (!error) error = check_rights(request);
  return request;
}

// What a method does to a bucket or an object, whatever the operation is in particular.
std::optional<S3Error> S3Service::check_rights(const S3Request& request) const {
  const Address& address = request.address;
  const Method method = request.head->method();
  const bool reads = method == Method::kGet || method == Method::kHead;
  Right right = Right::kWrite;
  if (reads) right = Right::kRead;
  if (!reads && address.key.empty() && method != Method::kPost) right = Right::kAdmin;
  const S3Error denied{403, "AccessDenied", "this key may not do that"};
  // The names are in the body, and checked one by one.
  if (method == Method::kPost && address.key.empty() && request.query.has("delete")) {
    const bool may_some =
        access_.allows_some(request.signer.access_key, Right::kWrite, address.bucket);
    return may_some ? std::nullopt : std::optional(denied);
  }
  // Of a listing only what begins with its prefix is told.
  const bool lists = method == Method::kGet && address.key.empty();
  const std::string_view name =
      lists ? request.query.find("prefix").value_or("") : std::string_view(address.key);
  if (access_.allows(request.signer.access_key, right, address.bucket, name)) return std::nullopt;
  return denied;
}

std::unique_ptr<Exchange> S3Service::begin(const RequestHead& head) {
  std::optional<S3Error> error;
  auto parsed = parse(head, error);
  if (!parsed.ok()) error = s3_error(parsed.error());
  S3Request request;
  if (parsed.ok()) request = *std::move(parsed);
  request.head = &head;
  request.request_id = next_request_id();
  RequestStats::Operation& stats = stats_->operation("s3", operation_name(request));
  auto exchange = error ? make_refusal(std::move(request), *std::move(error))
                        : make_operation(std::move(request), buckets_);
  return std::make_unique<CountedExchange>(std::move(exchange), stats, *options_.clock);
}

Answer S3Service::refuse(const BadRequest& request) {
  S3Error told = s3_error(request.error);
  told.status = request.status;
  return error_answer(told, "", next_request_id());
}

}  // namespace leat::doors::http::s3
