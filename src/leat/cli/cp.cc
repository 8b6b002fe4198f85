#include <memory>

#include "leat/cli/transfer_view.h"
#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

struct CpOptions {
  std::string source;
  std::string target;
  bool recursive = false;
  TransferFlags flags;
};

ExitCode run_cp(Session& session, const CpOptions& options) {
  const Result<StoreLocation> source = session.stores().open(options.source, IfMissing::kFail);
  if (!source) return session.fail("open " + options.source, source.error());
  const bool names_object =
      !is_folder(*source) && source->store->stat(source->name, session.context()).ok();
  if (options.recursive && !names_object) {
    return copy_folder(session, "cp", options.source, *source, options.target, options.flags);
  }
  if (is_folder(*source)) {
    return session.refuse(options.source + " is a folder",
                          "leat cp -r " + options.source + " " + options.target);
  }
  if (!names_object) {
    return session.fail("read " + options.source,
                        Error(ErrorCode::kNotFound, "there is no such object"),
                        "if it is a folder, add -r");
  }
  if (options.flags.dry_run) {
    session.output().summary("would copy " + printable(source->name));
    return ExitCode::kOk;
  }
  return copy_single(session, "cp", *source, options.target,
                     durability_of(options.flags.durability));
}

}  // namespace

void add_cp(Syntax& program, Verb& chosen) {
  auto options = std::make_shared<CpOptions>();
  Syntax& verb = add_verb(
      program, chosen, "cp", "Copy an object, or with -r a folder, between any two stores",
      "  leat cp -r /data/imagenet leat+local:///data/store/imagenet/\n"
      "  leat cp -r --include '*.jpg' leat+local:///data/store/imagenet/train /scratch/train\n"
      "  leat cp leat+local:///data/store/imagenet/1.jpg /scratch/\n"
      "\nWith -r, what is beneath the source goes beneath the target. What is there already is "
      "not\n"
      "copied again, so an interrupted copy is resumed by the same command: an object is "
      "unchanged\n"
      "when the sizes are equal and so are the crc32c or, where a store knows none, the target is\n"
      "not older than the source. --checksum also sees what is damaged in the target, and copies "
      "it\n"
      "again. Every copy is verified. Ctrl-C stops cleanly.\n"
      "Patterns: * within a level, ** across levels, ?, [a-z]; without '/' they mean the last\n"
      "component. Missing buckets are made; so is a store in a new or empty directory.\n",
      options, run_cp);
  verb.value("source", options->source, "URL", "an object or a folder");
  verb.require("source");
  verb.value("target", options->target, "URL", "where it goes; a folder when it ends with '/'");
  verb.require("target");
  verb.flag("-r,--recursive", options->recursive, "everything beneath the source");
  verb.flag("--force", options->flags.force, "copy what is unchanged, too");
  options->flags.add_to(verb);
}

}  // namespace leat::cli
