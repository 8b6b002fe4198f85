#include "leat/drivers/web/web_url.h"

#include <algorithm>

#include "leat/drivers/web/name_list.h"

namespace leat::web {
namespace {

constexpr std::string_view kManifest = "#manifest=";

Status take_manifest(std::string& text, StoreUrl& result) {
  const std::size_t at = text.find(kManifest);
  if (at == text.npos) return ok_status();
  result.manifest = text.substr(at + kManifest.size());
  result.naming = text.substr(at);
  text.resize(at);
  if (!result.manifest.empty()) return ok_status();
  return Error(ErrorCode::kInvalidArgument, "#manifest= names no file");
}

}  // namespace

Result<StoreUrl> parse_store_url(const Url& url) {
  StoreUrl result;
  std::string path = url.path.empty() ? "/" : url.path;
  RETURN_IF_ERROR(take_manifest(path, result));
  std::string query;
  for (const auto& [key, value] : url.query) {
    std::string kept = value;
    RETURN_IF_ERROR(take_manifest(kept, result));
    if (!query.empty()) query += '&';
    query += percent_encode(key);
    if (!kept.empty()) query += "=" + percent_encode(kept);
  }
  if (path.find('#') != path.npos) {
    return Error(ErrorCode::kInvalidArgument,
                 "after '#' comes manifest=FILE; a '#' of a name is written %23");
  }
  const std::size_t brace = path.find_first_of("{}");
  const std::size_t slash = path.rfind('/', brace);
  const std::string rest = path.substr(slash + 1);
  ASSIGN_OR_RETURN(result.folder, WebUrl::parse(url.scheme + "://" + url.authority + "/"));
  result.folder.path = safe_in_request(path.substr(0, slash + 1));
  result.folder.query = query;
  if (brace == path.npos) {
    ASSIGN_OR_RETURN(result.name, percent_decode(rest));
    return result;
  }
  if (!result.manifest.empty()) {
    return Error(ErrorCode::kInvalidArgument, "names come from a template or a manifest, not both");
  }
  result.naming = rest;
  ASSIGN_OR_RETURN(result.names, expand_template(rest));
  for (std::string& name : result.names) {
    ASSIGN_OR_RETURN(name, percent_decode(name));
    if (!is_web_name(name)) {
      return Error(ErrorCode::kInvalidArgument, "the template makes '" + name + "': no name");
    }
  }
  std::sort(result.names.begin(), result.names.end());
  result.names.erase(std::unique(result.names.begin(), result.names.end()), result.names.end());
  return result;
}

}  // namespace leat::web
