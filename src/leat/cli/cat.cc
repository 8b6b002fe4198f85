#include <unistd.h>

#include <memory>

#include "leat/cli/stream.h"
#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

struct CatOptions {
  std::vector<std::string> urls;
};

Status write_out(Session& session, const std::string& url) {
  ASSIGN_OR_RETURN(const StoreLocation location, session.stores().open(url, IfMissing::kFail));
  if (is_folder(location)) return Error(ErrorCode::kInvalidArgument, "it is a folder");
  ASSIGN_OR_RETURN(const auto reader, location.store->open(location.name, {}, session.context()));
  return read_to_descriptor(*reader, STDOUT_FILENO, session.context());
}

ExitCode run_cat(Session& session, const CatOptions& options) {
  ExitCode code = ExitCode::kOk;
  for (const std::string& url : options.urls) {
    const Status status = write_out(session, url);
    if (!status) code = session.fail("read " + url, status.error());
    if (code == ExitCode::kInterrupted) break;
  }
  return code;
}

}  // namespace

void add_cat(Syntax& program, Verb& chosen) {
  auto options = std::make_shared<CatOptions>();
  Syntax& verb = add_verb(program, chosen, "cat", "Write objects to standard output",
                          "  leat cat leat+local:///data/store/images/labels.txt\n"
                          "  leat cat leat+local:///data/store/images/train.tar/0001.cls\n"
                          "  leat cat 'null:?size=1GiB' | wc -c\n",
                          options, run_cat);
  verb.values("urls", options->urls, "URL", "objects, one after another");
  verb.require("urls");
}

}  // namespace leat::cli
