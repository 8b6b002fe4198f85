#include "leat/drivers/leat/object_requests.h"

#include "leat/base/url.h"

namespace leat::leat_driver {
namespace {

std::string to_lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return text;
}

}  // namespace

std::string object_path(std::string_view bucket, std::string_view name) {
  return "/leat/v1/objects/" + percent_encode(bucket) + "/" + percent_encode(name, "/");
}

void add_headers(http::ClientRequest& request, const wire::HeaderList& headers) {
  for (const auto& [name, value] : headers) request.headers.emplace_back(to_lower(name), value);
}

Status add_precondition(http::ClientRequest& request, const Precondition& precondition) {
  if (precondition.kind == Precondition::Kind::kEtag && !wire::is_plain_etag(precondition.etag)) {
    return Error(ErrorCode::kInvalidArgument, "no object can have that etag");
  }
  wire::HeaderList headers;
  wire::add_precondition(headers, precondition);
  add_headers(request, headers);
  return ok_status();
}

void add_durability(http::ClientRequest& request, Durability durability) {
  if (durability == Durability::kDefault) return;
  request.headers.emplace_back(wire::kDurabilityHeader, wire::durability_name(durability));
}

Status add_create_options(http::ClientRequest& request, const CreateOptions& options) {
  request.headers.emplace_back(wire::kRequestHeader, "1");
  RETURN_IF_ERROR(add_precondition(request, options.precondition));
  add_durability(request, options.durability);
  wire::HeaderList headers;
  wire::add_metadata(headers, options.metadata);
  add_headers(request, headers);
  return ok_status();
}

}  // namespace leat::leat_driver
