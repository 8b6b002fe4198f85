#include <unistd.h>

#include <memory>

#include "leat/cli/stream.h"
#include "leat/cli/transfer_view.h"
#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

struct GetOptions {
  std::string url;
  std::string target = ".";
};

ExitCode run_get(Session& session, const GetOptions& options) {
  const Result<StoreLocation> source = session.stores().open(options.url, IfMissing::kFail);
  if (!source) return session.fail("get " + options.url, source.error());
  if (is_folder(*source)) {
    return session.refuse(options.url + " is a folder", "leat cp -r " + options.url + " DIRECTORY");
  }
  if (options.target != "-") {
    return copy_single(session, "get", *source, options.target, Durability::kDefault);
  }
  const auto reader = source->store->open(source->name, {}, session.context());
  if (!reader) return session.fail("get " + options.url, reader.error());
  const Status status = read_to_descriptor(**reader, STDOUT_FILENO, session.context());
  return status ? ExitCode::kOk : session.fail("get " + options.url, status.error());
}

}  // namespace

void add_get(Syntax& program, Verb& chosen) {
  auto options = std::make_shared<GetOptions>();
  Syntax& verb = add_verb(program, chosen, "get", "Fetch one object into a file",
                          "  leat get leat+local:///data/store/images/cat.jpg\n"
                          "  leat get leat+local:///data/store/images/cat.jpg pictures/\n"
                          "  leat get leat+local:///data/store/images/photos.tar - | tar t\n",
                          options, run_get);
  verb.value("url", options->url, "URL", "the object, which may be a member of a shard");
  verb.require("url");
  verb.value("target", options->target, "FILE|DIRECTORY|-",
             "a file, a directory, or - for standard output; here if not given");
}

}  // namespace leat::cli
