#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>

#include "leat/cli/transfer_view.h"
#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

struct RmOptions {
  std::string url;
  bool recursive = false;
  bool dry_run = false;
  bool yes = false;
};

// Members of a shard can be read, but a plain listing does not know them.
bool is_member(const StoreLocation& location, const Context& context) {
  if (!location.store->stat(location.name, context)) return false;
  ListRequest request;
  request.prefix = location.name;
  request.limit = 1;
  const Result<ListPage> page = location.store->list(request, context);
  return page && (page->entries.empty() || page->entries.front().name != location.name);
}

Status remove_or_look(const RmOptions& options, const StoreLocation& location,
                      const Context& context) {
  if (!options.dry_run) return location.store->remove(location.name, {}, context);
  RETURN_IF_ERROR(location.store->stat(location.name, context));
  if (is_member(location, context)) return ErrorCode::kNotFound;
  return ok_status();
}

ExitCode remove_one(Session& session, const RmOptions& options, const StoreLocation& location) {
  const Status status = remove_or_look(options, location, session.context());
  if (status.failed_with(ErrorCode::kNotFound) && is_member(location, session.context())) {
    return session.fail(
        "remove " + options.url,
        Error(ErrorCode::kUnsupported, "members of a shard cannot be removed alone"),
        "remove the whole shard, or put one without this member in its place");
  }
  if (!status) {
    return session.fail(
        "remove " + options.url, status.error(),
        status.failed_with(ErrorCode::kNotFound) ? "if it is a folder, add -r" : "");
  }
  if (options.dry_run) {
    session.output().summary("would remove " + printable(location.name));
    return ExitCode::kOk;
  }
  if (session.output().is_json()) session.output().json({{"removed", 1}});
  return ExitCode::kOk;
}

bool is_confirmed(const std::string& url, const Context& context) {
  std::fputs(("Remove everything beneath " + url + "? [y/N] ").c_str(), stderr);
  // Not in getline(), which does not see an interruption.
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (poll(&input, 1, 100) <= 0) {
    if (!context.check().ok()) return false;
  }
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

ExitCode run_rm(Session& session, const RmOptions& options) {
  const Result<StoreLocation> location = session.stores().open(options.url, IfMissing::kFail);
  if (!location) return session.fail("remove " + options.url, location.error());
  if (!options.recursive && !is_folder(*location)) return remove_one(session, options, *location);
  if (!options.recursive) {
    return session.refuse(options.url + " is a folder", "leat rm -r --dry-run " + options.url);
  }
  if (!options.dry_run && !options.yes) {
    if (isatty(STDIN_FILENO) == 0) {
      return session.refuse("removing a folder needs a yes, and there is no terminal to ask",
                            "look with --dry-run first, then add --yes");
    }
    if (!is_confirmed(options.url, session.context())) {
      return session.fail("remove " + options.url, Error(ErrorCode::kCancelled, "nobody said yes"));
    }
  }
  TransferOptions transfer_options;
  if (options.dry_run) transfer_options.mode = TransferOptions::Mode::kDryRun;
  TransferView view(session, "rm");
  transfer_options.observer = &view;
  const TransferReport report =
      remove_folder({location->store.get(), folder_prefix(location->name)}, transfer_options,
                    session.executor(), session.context());
  if (report.ok() && report.removed == 0 && !location->name.empty()) {
    return session.fail("remove " + options.url,
                        Error(ErrorCode::kNotFound, "there is nothing beneath it"));
  }
  return view.finish(report, transfer_options.mode);
}

}  // namespace

void add_rm(Syntax& program, Verb& chosen) {
  auto options = std::make_shared<RmOptions>();
  Syntax& verb = add_verb(program, chosen, "rm", "Remove an object, or with -r a folder",
                          "  leat rm leat+local:///data/store/images/cat.jpg\n"
                          "  leat rm -r --dry-run leat+local:///data/store/images/train\n"
                          "  leat rm -r --yes leat+local:///data/store/images/train\n",
                          options, run_rm);
  verb.value("url", options->url, "URL", "an object or a folder");
  verb.require("url");
  verb.flag("-r,--recursive", options->recursive, "everything beneath");
  verb.flag("--dry-run", options->dry_run, "say what would be removed");
  verb.flag("--yes", options->yes, "do not ask");
}

}  // namespace leat::cli
