#include "leat/local/local_url.h"

#include <fmt/format.h>

#include <utility>

#include "leat/store/url_query.h"

namespace leat::local {
namespace {

Error invalid(const Url& url, std::string_view why) {
  return Error(ErrorCode::kInvalidArgument, url.to_string() + ": " + std::string(why));
}

// The pieces of the path, still encoded.
Result<std::vector<std::string_view>> split_pieces(const Url& url) {
  RETURN_IF_ERROR(check_query_keys(url, {}));
  if (!url.authority.empty()) {
    return invalid(url, "it has three slashes before the directory: leat+local:///" +
                            url.authority + url.path);
  }
  if (!url.path.starts_with('/')) return invalid(url, "a directory is missing");
  std::vector<std::string_view> pieces;
  std::string_view rest = url.path;
  for (std::size_t comma = rest.find(",/"); comma != std::string_view::npos;
       comma = rest.find(",/")) {
    pieces.push_back(rest.substr(0, comma));
    rest.remove_prefix(comma + 1);
  }
  pieces.push_back(rest);
  return pieces;
}

Result<std::string> decode_directory(std::string_view text) {
  while (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  return percent_decode(text.empty() ? "/" : text);
}

Result<std::vector<std::string>> decode_directories(std::span<const std::string_view> pieces) {
  std::vector<std::string> directories;
  for (const std::string_view piece : pieces) {
    ASSIGN_OR_RETURN(std::string directory, decode_directory(piece));
    directories.push_back(std::move(directory));
  }
  return directories;
}

// "bucket/name", encoded, behind the directory.
Status split_rest(std::string_view rest, LocalUrl& target) {
  while (rest.starts_with('/')) rest.remove_prefix(1);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  ASSIGN_OR_RETURN(target.bucket, percent_decode(rest.substr(0, slash)));
  if (slash == rest.size()) return ok_status();
  ASSIGN_OR_RETURN(target.name, percent_decode(rest.substr(slash + 1)));
  return ok_status();
}

Error no_store(const Url& url, std::string_view last_piece) {
  std::string message = "there is no store on the path " + std::string(last_piece);
  const std::size_t comma = url.path.find(',');
  const bool relative = comma != std::string::npos && url.path.substr(comma + 1, 1) != "/";
  if (relative) message += " (directories behind a ',' are absolute: leat+local:///a,/b/bucket)";
  return Error(ErrorCode::kNotFound, std::move(message));
}

}  // namespace

std::string LocalUrl::store_url() const {
  std::string text = std::string(kLocalScheme) + "://";
  for (std::size_t i = 0; i < directories.size(); ++i) {
    if (i > 0) text += ',';
    text += percent_encode(directories[i], "/");
  }
  return text;
}

Result<LocalUrl> resolve_local_url(const Url& url, const StoreOptions& options) {
  ASSIGN_OR_RETURN(const auto pieces, split_pieces(url));
  LocalUrl resolved;
  ASSIGN_OR_RETURN(resolved.directories,
                   decode_directories(std::span(pieces).first(pieces.size() - 1)));
  const std::string_view last = pieces.back();
  for (std::size_t end = 0; end < last.size();) {
    end = std::min(last.find('/', end + 1), last.size());
    ASSIGN_OR_RETURN(std::string directory, decode_directory(last.substr(0, end)));
    // A directory that cannot be looked into is none of ours.
    const Result<bool> found = LocalStore::is_drive(directory, options);
    if (!found || !*found) continue;
    resolved.directories.push_back(std::move(directory));
    RETURN_IF_ERROR(split_rest(last.substr(end), resolved));
    return resolved;
  }
  for (const std::string& directory : resolved.directories) {
    const Result<bool> found = LocalStore::is_drive(directory, options);
    if (!found || !*found) continue;
    // Where the directory ends and the bucket begins cannot be told. Nor may a new store be made.
    LocalUrl rest;
    rest.directories = {directory};
    return Error(ErrorCode::kUnavailable,
                 fmt::format("no drive is on the path {}; if one is lost, leave it out of the URL, "
                             "which then begins with {}/",
                             last, rest.store_url()));
  }
  return no_store(url, last);
}

Result<LocalUrl> place_new_store(const Url& url, NewStore form) {
  ASSIGN_OR_RETURN(const auto pieces, split_pieces(url));
  LocalUrl placed;
  ASSIGN_OR_RETURN(placed.directories,
                   decode_directories(std::span(pieces).first(pieces.size() - 1)));
  std::string_view last = pieces.back();
  if (form == NewStore::kNamesBucket) {
    while (last.ends_with('/')) last.remove_suffix(1);
  }
  std::size_t slash = last.rfind('/');
  if (form == NewStore::kNamesObject && slash != std::string_view::npos && slash > 0) {
    slash = last.rfind('/', slash - 1);
  }
  if (slash == std::string_view::npos || slash == 0) {
    return invalid(url, "write it as leat+local:///directory/bucket");
  }
  ASSIGN_OR_RETURN(std::string directory, decode_directory(last.substr(0, slash)));
  placed.directories.push_back(std::move(directory));
  RETURN_IF_ERROR(split_rest(last.substr(slash), placed));
  RETURN_IF_ERROR(check_bucket_name(placed.bucket));
  return placed;
}

}  // namespace leat::local
