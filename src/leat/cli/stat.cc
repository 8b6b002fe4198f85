#include <memory>

#include "leat/base/hex.h"
#include "leat/base/units.h"
#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

struct StatOptions {
  std::string url;
};

void show(Session& session, const std::string& name, const ObjectInfo& info) {
  std::vector<std::vector<std::string>> rows = {
      {"name", printable(name)},
      {"size", std::to_string(info.size_bytes) + " (" + format_size_rounded(info.size_bytes) + ")"},
      {"modified", time_text(info.mtime_ns)}};
  if (!info.etag.empty()) rows.push_back({"etag", printable(info.etag)});
  if (info.generation > 0) rows.push_back({"generation", std::to_string(info.generation)});
  if (info.crc32c) rows.push_back({"crc32c", to_hex(*info.crc32c)});
  if (info.metadata) {
    for (const auto& [key, value] : info.metadata->headers) {
      rows.push_back({printable(key), printable(value)});
    }
    for (const auto& [key, value] : info.metadata->user) {
      rows.push_back({"user " + printable(key), printable(value)});
    }
    for (const auto& [key, value] : info.metadata->checksums) {
      rows.push_back({printable(key), printable(value)});
    }
  }
  session.output().table(rows);
}

ExitCode run_stat(Session& session, const StatOptions& options) {
  const Result<StoreLocation> location = session.stores().open(options.url, IfMissing::kFail);
  if (!location) return session.fail("stat " + options.url, location.error());
  if (location->name.empty()) {
    return session.refuse(options.url + " is a whole store", "leat du " + options.url);
  }
  const auto info = location->store->stat(location->name, session.context());
  if (!info) return session.fail("stat " + options.url, info.error());
  if (!session.output().is_json()) {
    show(session, location->name, *info);
    return ExitCode::kOk;
  }
  Json document;
  set_name(document, "name", location->name);
  set_info(document, *info);
  session.output().json(document);
  return ExitCode::kOk;
}

}  // namespace

void add_stat(Syntax& program, Verb& chosen) {
  auto options = std::make_shared<StatOptions>();
  Syntax& verb = add_verb(program, chosen, "stat", "Show what is known of one object",
                          "  leat stat leat+local:///data/store/images/cat.jpg\n"
                          "  leat stat --json leat+local:///data/store/images/train.tar/0001.jpg\n",
                          options, run_stat);
  verb.value("url", options->url, "URL", "the object");
  verb.require("url");
}

}  // namespace leat::cli
