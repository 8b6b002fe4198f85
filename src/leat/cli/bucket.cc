#include <fmt/format.h>

#include <memory>

#include "leat/cli/bucket_host.h"
#include "leat/cli/transfer_view.h"
#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

struct BucketOptions {
  std::string url;
  std::string durability;
};

Durability durability_option(const BucketOptions& options) {
  return options.durability.empty() ? Durability::kDefault : durability_of(options.durability);
}

// What a bucket verb does, once its host is open.
using Action = Status (*)(Session&, const BucketPlace&, const BucketOptions&);

ExitCode on_bucket(Session& session, const BucketOptions& options, IfMissing if_missing,
                   std::string_view what, Action action) {
  const std::string doing = fmt::format("{} {}", what, options.url);
  const auto place = open_bucket_host(session.stores(), options.url, if_missing);
  if (!place) return session.fail(doing, place.error());
  if (place->bucket.empty() || !place->name.empty()) {
    return session.refuse(options.url + " is not the URL of a bucket",
                          "write it as " + place->host_url + "/BUCKET");
  }
  const Status status = action(session, *place, options);
  if (!status) {
    return session.fail(doing, status.error(),
                        status.failed_with(ErrorCode::kPreconditionFailed)
                            ? "empty it first: leat rm -r " + options.url + "/"
                            : "");
  }
  if (session.output().is_json()) session.output().json({{"bucket", place->bucket}});
  return ExitCode::kOk;
}

ExitCode run_create(Session& session, const BucketOptions& options) {
  return on_bucket(session, options, IfMissing::kCreate, "create the bucket",
                   [](Session& s, const BucketPlace& place, const BucketOptions& o) {
                     return place.host->create(place.bucket, durability_option(o), s.context());
                   });
}

ExitCode run_set(Session& session, const BucketOptions& options) {
  return on_bucket(session, options, IfMissing::kFail, "change the bucket",
                   [](Session& s, const BucketPlace& place, const BucketOptions& o) {
                     return place.host->set(place.bucket, durability_option(o), s.context());
                   });
}

ExitCode run_remove(Session& session, const BucketOptions& options) {
  return on_bucket(session, options, IfMissing::kFail, "remove the bucket",
                   [](Session& s, const BucketPlace& place, const BucketOptions&) {
                     return place.host->remove(place.bucket, s.context());
                   });
}

std::string durability_name(Durability durability) {
  return durability == Durability::kMemory ? "memory" : "disk";
}

Status show_buckets(Session& session, const BucketOptions& options) {
  ASSIGN_OR_RETURN(const auto place,
                   open_bucket_host(session.stores(), options.url, IfMissing::kFail));
  ASSIGN_OR_RETURN(const auto buckets, place.host->list(session.context()));
  std::vector<std::vector<std::string>> rows;
  Json document = Json::array();
  for (const BucketHost::Bucket& bucket : buckets) {
    const std::string durability = durability_name(bucket.durability);
    rows.push_back({bucket.name, durability, time_text(bucket.created_ns)});
    document.push_back({{"bucket", bucket.name},
                        {"durability", durability},
                        {"created", time_text(bucket.created_ns)}});
  }
  if (session.output().is_json()) {
    session.output().json(document);
  } else {
    session.output().table(rows);
  }
  return ok_status();
}

ExitCode run_list(Session& session, const BucketOptions& options) {
  const Status status = show_buckets(session, options);
  return status ? ExitCode::kOk
                : session.fail("list the buckets of " + options.url, status.error());
}

Syntax& add_bucket_verb(Syntax& group, Verb& chosen, const std::string& name,
                        const std::string& about, const std::string& examples,
                        const std::shared_ptr<BucketOptions>& options,
                        ExitCode (*run)(Session&, const BucketOptions&)) {
  Syntax& verb = add_verb(group, chosen, name, about, examples, options, run);
  verb.value("url", options->url, "URL", name == "ls" ? "the store" : "the bucket");
  verb.require("url");
  return verb;
}

}  // namespace

void add_bucket(Syntax& program, Verb& chosen) {
  Syntax& group = program.add_group("bucket", "Make, list, change and remove buckets",
                                    "  leat bucket create leat+local:///data/store/images\n"
                                    "  leat bucket ls leat+local:///data/store\n"
                                    "  leat bucket create leat://127.0.0.1:9000/images\n");
  auto options = std::make_shared<BucketOptions>();
  Syntax& create = add_bucket_verb(
      group, chosen, "create", "Make a bucket, and the store around it if there is none",
      "  leat bucket create leat+local:///data/store/images\n"
      "  leat bucket create leat+local:///disk1/store,/disk2/store/images\n"
      "  leat bucket create --durability memory leat+local:///data/store/scratch\n",
      options, run_create);
  add_durability(create, options->durability,
                 "what writes survive: a power cut (disk, the default), "
                 "or the death of the process only (memory)");
  add_bucket_verb(group, chosen, "ls", "List the buckets of a store",
                  "  leat bucket ls leat+local:///data/store\n"
                  "  leat bucket ls --json leat+local:///data/store\n",
                  options, run_list);
  add_bucket_verb(group, chosen, "rm", "Remove an empty bucket",
                  "  leat rm -r leat+local:///data/store/images/\n"
                  "  leat bucket rm leat+local:///data/store/images\n",
                  options, run_remove);
  Syntax& set =
      add_bucket_verb(group, chosen, "set", "Change the options of a bucket",
                      "  leat bucket set --durability disk leat+local:///data/store/images\n"
                      "  leat bucket set --durability memory leat+local:///data/store/images\n",
                      options, run_set);
  add_durability(set, options->durability, "what writes survive from now on");
  set.require("--durability");
}

}  // namespace leat::cli
