#include <fmt/format.h>

#include <memory>

#include "leat/cli/bucket_host.h"
#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

struct LsOptions {
  std::string url;
  std::string delimiter = "/";
  std::uint64_t limit = UINT64_MAX;
  bool details = false;
  bool recursive = false;
  bool members = false;
};

class Listing {
 public:
  Listing(Session& session, const LsOptions& options) : session_(session), options_(options) {}

  Status show(const StoreLocation& location) {
    // A name may be an object and a folder at once; the object sorts first.
    if (!is_folder(location)) {
      const auto info = location.store->stat(location.name, session_.context());
      if (info) show_object(location.name, *info);
      if (!info && info.error().code() != ErrorCode::kNotFound) return info.error();
    }
    RETURN_IF_ERROR(show_folder(location));
    if (shown_ == 0 && !location.name.empty() && options_.limit > 0) return ErrorCode::kNotFound;
    return ok_status();
  }

 private:
  Status show_folder(const StoreLocation& location) {
    ListRequest request;
    request.prefix = folder_prefix(location.name);
    if (!options_.recursive) request.delimiter = options_.delimiter;
    if (options_.members) request.members = ListRequest::Members::kShow;
    Status status = ok_status();
    while (shown_ < options_.limit) {
      ASSIGN_OR_RETURN(const ListPage page,
                       list_reachable(*location.store, request, status, session_.context()));
      show_page(page);
      if (page.next_start_after.empty()) break;
      request.start_after = page.next_start_after;
    }
    return status;
  }

  void show_page(const ListPage& page) {
    std::size_t entry = 0;
    std::size_t prefix = 0;
    while (shown_ < options_.limit) {
      const bool has_entry = entry < page.entries.size();
      const bool has_prefix = prefix < page.common_prefixes.size();
      if (!has_entry && !has_prefix) return;
      if (!has_prefix || (has_entry && page.entries[entry].name < page.common_prefixes[prefix])) {
        show_object(page.entries[entry].name, page.entries[entry].info);
        ++entry;
      } else {
        show_prefix(page.common_prefixes[prefix]);
        ++prefix;
      }
    }
  }

  void show_object(std::string_view name, const ObjectInfo& info) {
    ++shown_;
    if (session_.output().is_json()) {
      Json object;
      set_name(object, "name", name);
      set_info(object, info);
      session_.output().json(object);
    } else if (options_.details) {
      session_.output().line(fmt::format("{:>14}  {}  {}", info.size_bytes,
                                         time_text(info.mtime_ns), printable(name)));
    } else {
      session_.output().line(printable(name));
    }
  }

  void show_prefix(std::string_view prefix) {
    ++shown_;
    if (session_.output().is_json()) {
      Json object;
      set_name(object, "prefix", prefix);
      session_.output().json(object);
    } else if (options_.details) {
      session_.output().line(fmt::format("{:>14}  {:20}  {}", "-", "", printable(prefix)));
    } else {
      session_.output().line(printable(prefix));
    }
  }

  Session& session_;
  const LsOptions& options_;
  std::uint64_t shown_ = 0;
};

Status show_buckets(Session& session, const LsOptions& options) {
  ASSIGN_OR_RETURN(const auto place,
                   open_bucket_host(session.stores(), options.url, IfMissing::kFail));
  ASSIGN_OR_RETURN(const auto buckets, place.host->list(session.context()));
  for (const BucketHost::Bucket& bucket : buckets) {
    if (session.output().is_json()) {
      session.output().json({{"bucket", bucket.name}, {"created", time_text(bucket.created_ns)}});
    } else if (options.details) {
      session.output().line(time_text(bucket.created_ns) + "  " + bucket.name + "/");
    } else {
      session.output().line(bucket.name + "/");
    }
  }
  return ok_status();
}

Status show_location(Session& session, const LsOptions& options) {
  ASSIGN_OR_RETURN(const StoreLocation location,
                   session.stores().open(options.url, IfMissing::kFail));
  return Listing(session, options).show(location);
}

ExitCode run_ls(Session& session, const LsOptions& options) {
  const Status status = names_bucket_host(session.stores(), options.url)
                            ? show_buckets(session, options)
                            : show_location(session, options);
  return status ? ExitCode::kOk : session.fail("list " + options.url, status.error());
}

}  // namespace

void add_ls(Syntax& program, Verb& chosen) {
  auto options = std::make_shared<LsOptions>();
  Syntax& verb = add_verb(
      program, chosen, "ls", "List objects in byte order, or the buckets of a store or server",
      "  leat ls leat+local:///data/store                  the buckets\n"
      "  leat ls -l leat+local:///data/store/images/train\n"
      "  leat ls leat://127.0.0.1:9000/images/train\n"
      "  leat ls -r --members leat+local:///data/store/images/train.tar\n"
      "  leat ls --json -r file:///data | jq .name\n"
      "\nControl characters, bytes that are not UTF-8 and '%' are shown as %XX. With --json each\n"
      "line is an object; a name that is not UTF-8 has its exact bytes in \"name_encoded\".\n",
      options, run_ls);
  verb.value("url", options->url, "URL", "a store, a folder or an object");
  verb.require("url");
  verb.flag("-l,--long", options->details, "sizes in bytes and times, too");
  verb.flag("-r,--recursive", options->recursive, "everything beneath, not only one level");
  verb.flag("--members", options->members, "the members of shards, too");
  verb.value("--delimiter", options->delimiter, "TEXT", "what ends a level, if not '/'");
  verb.value("--limit", options->limit, "N", "at most so many lines");
}

}  // namespace leat::cli
