#include "leat/doors/http/native/routes.h"

#include <fmt/format.h>

#include <array>

#include "leat/base/url.h"

namespace leat::doors::http::native {
namespace {

using leat::http::Method;

constexpr std::array<RouteRow, 15> kRoutes{{
    {Route::kHealth, Method::kGet, "GET", "/leat/v1/health", "health"},
    {Route::kStats, Method::kGet, "GET", "/leat/v1/stats", "stats"},
    {Route::kMetrics, Method::kGet, "GET", "/leat/v1/metrics", "metrics"},
    {Route::kOpenApi, Method::kGet, "GET", "/leat/v1/openapi.json", "openapi"},
    {Route::kListBuckets, Method::kGet, "GET", "/leat/v1/buckets", "list_buckets"},
    {Route::kGetBucket, Method::kGet, "GET", "/leat/v1/buckets/{bucket}", "get_bucket"},
    {Route::kPutBucket, Method::kPut, "PUT", "/leat/v1/buckets/{bucket}", "put_bucket"},
    {Route::kDeleteBucket, Method::kDelete, "DELETE", "/leat/v1/buckets/{bucket}", "delete_bucket"},
    {Route::kGetObject, Method::kGet, "GET", "/leat/v1/objects/{bucket}/{name}", "get_object"},
    {Route::kHeadObject, Method::kHead, "HEAD", "/leat/v1/objects/{bucket}/{name}", "head_object"},
    {Route::kPutObject, Method::kPut, "PUT", "/leat/v1/objects/{bucket}/{name}", "put_object"},
    {Route::kDeleteObject, Method::kDelete, "DELETE", "/leat/v1/objects/{bucket}/{name}",
     "delete_object"},
    {Route::kListObjects, Method::kGet, "GET", "/leat/v1/list/{bucket}", "list_objects"},
    {Route::kListShard, Method::kGet, "GET", "/leat/v1/shards/{bucket}/{name}", "list_shard"},
    {Route::kBatch, Method::kPost, "POST", "/leat/v1/batch", "batch"},
}};

// Takes the part up to the next '/' off the front; the rest is without that '/'.
std::string_view take_component(std::string_view& path) {
  const std::string_view component = path.substr(0, path.find('/'));
  path.remove_prefix(std::min(path.size(), component.size() + 1));
  return component;
}

// Whether `path` has the form of a row, and if so what stands in its places.
bool fits(std::string_view pattern, std::string_view path, std::string_view& bucket,
          std::string_view& name) {
  bucket = {};
  name = {};
  while (!pattern.empty()) {
    const std::string_view wanted = take_component(pattern);
    if (wanted == "{name}") {
      name = path;
      return !name.empty();
    }
    const std::string_view component = take_component(path);
    if (wanted == "{bucket}") {
      bucket = component;
      if (bucket.empty()) return false;
    } else if (wanted != component) {
      return false;
    }
  }
  return path.empty();
}

}  // namespace

std::span<const RouteRow> all_routes() noexcept {
  return kRoutes;
}

std::string methods_instead(const leat::http::RequestHead& head) {
  std::string methods;
  std::string_view bucket;
  std::string_view name;
  for (const RouteRow& row : kRoutes) {
    if (!fits(row.path, head.path(), bucket, name)) continue;
    if (row.method == head.method()) return "";
    if (!methods.empty()) methods += ", ";
    methods += row.method_text;
  }
  return methods;
}

Result<MatchedRoute> match_route(const leat::http::RequestHead& head) {
  for (const RouteRow& row : kRoutes) {
    std::string_view bucket;
    std::string_view name;
    if (row.method != head.method() || !fits(row.path, head.path(), bucket, name)) continue;
    MatchedRoute matched;
    matched.row = &row;
    ASSIGN_OR_RETURN(matched.bucket, percent_decode(bucket));
    ASSIGN_OR_RETURN(matched.name, percent_decode(name));
    return matched;
  }
  if (methods_instead(head).empty()) return Error(ErrorCode::kNotFound, "the API has no such path");
  return Error(ErrorCode::kUnsupported, fmt::format("{} does nothing here", head.method_text()));
}

}  // namespace leat::doors::http::native
