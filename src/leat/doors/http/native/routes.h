// The routes of the native API: which method and path is which operation.
//
// The one list: the service follows it, and a test holds openapi.json to it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "leat/base/result.h"
#include "leat/http/request_head.h"

namespace leat::doors::http::native {

enum class Route : std::uint8_t {
  kHealth,
  kStats,
  kMetrics,
  kOpenApi,
  kListBuckets,
  kGetBucket,
  kPutBucket,
  kDeleteBucket,
  kGetObject,
  kHeadObject,
  kPutObject,
  kDeleteObject,
  kListObjects,
  kListShard,
  kBatch,
};

struct RouteRow {
  Route route;
  leat::http::Method method;
  std::string_view method_text;
  std::string_view path;  // "/leat/v1/objects/{bucket}/{name}"
  std::string_view operation;
};
std::span<const RouteRow> all_routes() noexcept;

struct MatchedRoute {
  const RouteRow* row = nullptr;
  std::string bucket;
  std::string name;
};
// kNotFound when there is no such path, kUnsupported when it has no such method.
Result<MatchedRoute> match_route(const leat::http::RequestHead& head);

// When the path has methods, but not this one, those that it has: "GET, HEAD". Otherwise empty.
std::string methods_instead(const leat::http::RequestHead& head);

}  // namespace leat::doors::http::native
