#include "leat/drivers/leat/leat_server.h"

#include <fmt/format.h>

#include "leat/base/url.h"
#include "leat/drivers/leat/json.h"
#include "leat/http/key_file.h"
#include "leat/wire/object_headers.h"

namespace leat {
namespace {

using http::ClientConnection;
using http::ClientRequest;

// A listing of 10,000 long names stays below it.
constexpr std::size_t kMaxTextBytes = 64 << 20;
constexpr std::size_t kMaxErrorBytes = 64 << 10;

// What an answer means that is not from a Leat server, or from something before it.
ErrorCode code_of_stranger(int status) {
  switch (status) {
    case 401:
    case 403:
      return ErrorCode::kPermissionDenied;
    case 413:
    case 431:
      return ErrorCode::kTooLarge;
    case 429:
    case 502:
    case 503:
    case 504:
      return ErrorCode::kUnavailable;
    default:
      return ErrorCode::kIoError;
  }
}

ClientRequest request_of(std::string_view method, std::string path) {
  ClientRequest request;
  request.method = method;
  request.path = std::move(path);
  if (method != "GET") request.headers.emplace_back(wire::kRequestHeader, "1");
  return request;
}

std::string bucket_path(std::string_view name) {
  return "/leat/v1/buckets/" + percent_encode(name);
}

}  // namespace

Result<std::shared_ptr<LeatServer>> LeatServer::make(const LeatUrl& url) {
  http::ClientOptions options;
  options.host = url.host;
  options.port = url.port;
  if (url.scheme == kLeatTlsScheme) {
    ASSIGN_OR_RETURN(options.tls, http::TlsTrust::system());
  }
  ASSIGN_OR_RETURN(options.keys, http::find_signing_keys(url.keys));
  // Clients that were refused at the same moment come back at different ones.
  options.jitter_seed = static_cast<std::uint64_t>(options.clock->now().time_since_epoch().count());
  return std::make_shared<LeatServer>(url.server_url(), std::move(options));
}

Status LeatServer::check(ClientConnection& answer, const Context& context) {
  const int status = answer.head().status();
  if (status >= 200 && status < 300) return ok_status();
  const auto name = answer.head().header(wire::kErrorHeader);
  const auto code = name ? wire::error_code_of(*name) : std::nullopt;
  if (!code) {
    return Error(code_of_stranger(status),
                 fmt::format("the answer is HTTP status {}, and not from a Leat server", status));
  }
  const auto text = answer.read_rest(kMaxErrorBytes, context);
  const std::string message = text.ok() ? native_json::error_message(*text) : "";
  return message.empty() ? Error(*code) : Error(*code, message);
}

Status LeatServer::ask(const ClientRequest& request, const Context& context,
                       const http::Client::Taker& take) {
  Status status = client_.ask(request, context, [&](ClientConnection& answer) -> Status {
    RETURN_IF_ERROR(check(answer, context));
    return take(answer);
  });
  if (status.failed_with(ErrorCode::kUnavailable)) {
    return std::move(status).error().within(url_);
  }
  return status;
}

Result<std::string> LeatServer::ask_text(const ClientRequest& request, const Context& context) {
  std::string text;
  RETURN_IF_ERROR(ask(request, context, [&](ClientConnection& answer) -> Status {
    ASSIGN_OR_RETURN(text, answer.read_rest(kMaxTextBytes, context));
    return ok_status();
  }));
  return text;
}

Result<std::vector<LeatServer::Bucket>> LeatServer::list_buckets(const Context& context) {
  ASSIGN_OR_RETURN(const std::string text,
                   ask_text(request_of("GET", "/leat/v1/buckets"), context));
  return native_json::parse_buckets(text);
}

Result<LeatServer::Bucket> LeatServer::stat_bucket(std::string_view name, const Context& context) {
  if (name.empty()) return Error(ErrorCode::kInvalidArgument, "a bucket has a name");
  ASSIGN_OR_RETURN(const std::string text, ask_text(request_of("GET", bucket_path(name)), context));
  return native_json::parse_bucket(text);
}

Status LeatServer::put_bucket(std::string_view name, Durability durability, int& status,
                              const Context& context) {
  if (name.empty()) return Error(ErrorCode::kInvalidArgument, "a bucket has a name");
  ClientRequest request = request_of("PUT", bucket_path(name));
  if (durability != Durability::kDefault) {
    request.query = fmt::format("durability={}", wire::durability_name(durability));
  }
  return ask(request, context, [&](ClientConnection& answer) {
    status = answer.head().status();
    return ok_status();
  });
}

Status LeatServer::create_bucket(std::string_view name, Durability durability,
                                 const Context& context) {
  // One that is there must keep its durability.
  const auto there = stat_bucket(name, context);
  if (!there.ok() && !there.failed_with(ErrorCode::kNotFound)) return there.error();
  int status = 204;
  if (!there.ok()) RETURN_IF_ERROR(put_bucket(name, durability, status, context));
  if (status == 201) return ok_status();
  return Error(ErrorCode::kAlreadyExists, fmt::format("there is a bucket {} already", name));
}

Status LeatServer::set_bucket(std::string_view name, Durability durability,
                              const Context& context) {
  RETURN_IF_ERROR(stat_bucket(name, context));
  int status = 0;
  return put_bucket(name, durability, status, context);
}

Status LeatServer::remove_bucket(std::string_view name, const Context& context) {
  if (name.empty()) return Error(ErrorCode::kInvalidArgument, "a bucket has a name");
  ClientRequest request = request_of("DELETE", bucket_path(name));
  request.repeat = ClientRequest::Repeat::kUnsafe;
  return ask(request, context, [](ClientConnection&) { return ok_status(); });
}

}  // namespace leat
