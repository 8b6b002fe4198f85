#include <fmt/format.h>

#include <memory>

#include "leat/base/units.h"
#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

struct DuOptions {
  std::string url;
};

struct Amount {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  Status status = ok_status();  // why it is not everything
};

Result<Amount> measure(ObjectStore& store, const std::string& prefix, const Context& context) {
  Amount amount;
  ListRequest request;
  request.prefix = prefix;
  for (;;) {
    RETURN_IF_ERROR(context.check());
    ASSIGN_OR_RETURN(const ListPage page, list_reachable(store, request, amount.status, context));
    for (const ListPage::Entry& entry : page.entries) amount.bytes += entry.info.size_bytes;
    amount.objects += page.entries.size();
    if (page.next_start_after.empty()) return amount;
    request.start_after = page.next_start_after;
  }
}

Status show_folder(Session& session, const std::string& url) {
  ASSIGN_OR_RETURN(const StoreLocation location, session.stores().open(url, IfMissing::kFail));
  ASSIGN_OR_RETURN(Amount amount,
                   measure(*location.store, folder_prefix(location.name), session.context()));
  if (!is_folder(location)) {
    if (const auto info = location.store->stat(location.name, session.context()); info.ok()) {
      ++amount.objects;
      amount.bytes += info->size_bytes;
    }
  }
  if (amount.objects == 0 && !location.name.empty()) return ErrorCode::kNotFound;
  if (session.output().is_json()) {
    session.output().json({{"objects", amount.objects}, {"bytes", amount.bytes}});
  } else {
    session.output().line(fmt::format("{}, {} bytes ({})", counted(amount.objects, "object"),
                                      amount.bytes, format_size_rounded(amount.bytes)));
  }
  return amount.status;
}

Json drive_json(const local::DriveInfo& drive) {
  Json object = {{"id", drive.id}, {"missing", drive.is_missing}};
  set_name(object, "directory", drive.directory);
  object["pack_bytes"] = drive.usage.pack_bytes;
  object["dead_bytes"] = drive.usage.dead_bytes;
  object["catalogue_bytes"] = drive.usage.catalogue_bytes;
  object["temporary_bytes"] = drive.usage.temporary_bytes;
  object["available_bytes"] = drive.space.available_bytes;
  return object;
}

Status show_store(Session& session, const std::string& url) {
  ASSIGN_OR_RETURN(const auto location, session.stores().open_local(url, IfMissing::kFail));
  ASSIGN_OR_RETURN(const auto buckets, location.store->list_buckets(session.context()));
  ASSIGN_OR_RETURN(const auto drives, location.store->drives());
  std::vector<std::vector<std::string>> rows = {{"bucket", "objects", "bytes"}};
  Json document = {{"buckets", Json::array()}, {"drives", Json::array()}};
  for (const local::BucketInfo& bucket : buckets) {
    ASSIGN_OR_RETURN(const auto store, location.store->bucket(bucket.name));
    ASSIGN_OR_RETURN(const Amount amount, measure(*store, "", session.context()));
    rows.push_back(
        {bucket.name, std::to_string(amount.objects), format_size_rounded(amount.bytes)});
    document["buckets"].push_back(
        {{"bucket", bucket.name}, {"objects", amount.objects}, {"bytes", amount.bytes}});
  }
  for (const local::DriveInfo& drive : drives) document["drives"].push_back(drive_json(drive));
  if (session.output().is_json()) {
    session.output().json(document);
    return ok_status();
  }
  session.output().table(rows, "12");
  session.output().line("");
  rows = {{"drive", "packs", "dead", "catalogue", "temporary", "available"}};
  for (const local::DriveInfo& drive : drives) {
    const auto& usage = drive.usage;
    rows.push_back({drive.is_missing ? drive.id + " (missing)" : printable(drive.directory),
                    format_size_rounded(usage.pack_bytes), format_size_rounded(usage.dead_bytes),
                    format_size_rounded(usage.catalogue_bytes),
                    format_size_rounded(usage.temporary_bytes),
                    format_size_rounded(drive.space.available_bytes)});
  }
  session.output().table(rows, "12345");
  return ok_status();
}

ExitCode run_du(Session& session, const DuOptions& options) {
  const Status status = session.stores().names_local_store(options.url)
                            ? show_store(session, options.url)
                            : show_folder(session, options.url);
  return status ? ExitCode::kOk : session.fail("measure " + options.url, status.error());
}

}  // namespace

void add_du(Syntax& program, Verb& chosen) {
  auto options = std::make_shared<DuOptions>();
  Syntax& verb = add_verb(program, chosen, "du", "Count objects and bytes, or what a store takes",
                          "  leat du leat+local:///data/store              buckets and drives\n"
                          "  leat du leat+local:///data/store/images/train\n"
                          "  leat du --json file:///data\n",
                          options, run_du);
  verb.value("url", options->url, "URL", "a folder, or a local store");
  verb.require("url");
}

}  // namespace leat::cli
