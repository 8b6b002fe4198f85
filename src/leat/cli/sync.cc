#include <memory>

#include "leat/cli/transfer_view.h"
#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

struct SyncOptions {
  std::string source;
  std::string target;
  TransferFlags flags;
};

ExitCode run_sync(Session& session, const SyncOptions& options) {
  const Result<StoreLocation> source = session.stores().open(options.source, IfMissing::kFail);
  if (!source) return session.fail("open " + options.source, source.error());
  if (!is_folder(*source) && source->store->stat(source->name, session.context()).ok()) {
    return session.refuse(options.source + " is an object, and sync is for folders",
                          "leat cp " + options.source + " " + options.target);
  }
  return copy_folder(session, "sync", options.source, *source, options.target, options.flags);
}

}  // namespace

void add_sync(Syntax& program, Verb& chosen) {
  auto options = std::make_shared<SyncOptions>();
  Syntax& verb =
      add_verb(program, chosen, "sync", "Make a folder the same as another",
               "  leat sync /data/imagenet leat+local:///data/store/imagenet/\n"
               "  leat sync --delete --dry-run /data/imagenet leat+local:///data/store/imagenet/\n"
               "  leat sync --checksum leat+local:///data/store/imagenet file:///backup/imagenet\n"
               "\nCopies as 'leat cp -r' does, and skips the same. --delete then removes from the "
               "target what\n"
               "the source does not have, only if nothing failed before, never what the patterns "
               "leave out,\n"
               "and not at all when the source is empty.\n",
               options, run_sync);
  verb.value("source", options->source, "URL", "a folder");
  verb.require("source");
  verb.value("target", options->target, "URL", "the folder that becomes like it");
  verb.require("target");
  verb.flag("--delete", options->flags.delete_extraneous,
            "remove from the target what the source does not have");
  options->flags.add_to(verb);
}

}  // namespace leat::cli
