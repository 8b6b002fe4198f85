#include "leat/doors/http/s3/conditions.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <string>

#include "leat/http/date.h"

namespace leat::doors::http::s3 {
using leat::http::matches_etag;

Verdict judge(const leat::http::RequestHead& head, std::string_view prefix,
              const ObjectInfo& info) {
  const std::int64_t modified = info.mtime_ns / 1'000'000'000;
  const auto text_of = [&](std::string_view name) {
    return head.header(std::string(prefix) + std::string(name));
  };
  const auto date_of = [&](std::string_view name) -> std::optional<std::time_t> {
    const auto text = text_of(name);
    return text ? leat::http::parse_date(*text) : std::nullopt;
  };
  if (const auto wanted = text_of("if-match")) {
    if (!matches_etag(*wanted, info.etag)) return Verdict::kFailed;
  } else if (const auto since = date_of("if-unmodified-since"); since && modified > *since) {
    return Verdict::kFailed;
  }
  bool is_unchanged = false;
  if (const auto known = text_of("if-none-match")) {
    is_unchanged = matches_etag(*known, info.etag);
  } else if (const auto since = date_of("if-modified-since")) {
    is_unchanged = modified <= *since;
  }
  return is_unchanged ? Verdict::kUnchanged : Verdict::kGo;
}

bool has_conditions(const leat::http::RequestHead& head, std::string_view prefix) {
  constexpr std::array<std::string_view, 4> kNames{"if-match", "if-none-match", "if-modified-since",
                                                   "if-unmodified-since"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    return head.header(std::string(prefix) + std::string(name)).has_value();
  });
}

Result<Precondition> precondition_of(const leat::http::RequestHead& head) {
  const auto match = head.header("if-match");
  const auto none_match = head.header("if-none-match");
  if (match && none_match) {
    return Error(ErrorCode::kInvalidArgument, "If-Match and If-None-Match exclude each other");
  }
  if (none_match) {
    if (*none_match == "*") return Precondition::absent();
    return Error(ErrorCode::kUnsupported, "of a change only \"If-None-Match: *\" is understood");
  }
  if (!match) return Precondition::none();
  if (*match == "*") return Precondition::present();
  return Precondition::has_etag(std::string(unquoted(*match)));
}

}  // namespace leat::doors::http::s3
