#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "leat/base/url.h"
#include "leat/cli/stream.h"
#include "leat/cli/transfer_view.h"
#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

struct PutOptions {
  std::vector<std::string> arguments;
  std::string durability;
};

ExitCode put_standard_input(Session& session, const StoreLocation& target, const std::string& url,
                            Durability durability) {
  if (is_folder(target)) {
    return session.refuse("standard input has no name",
                          "name the object: leat put - " + folder_prefix(url) + "NAME");
  }
  CreateOptions create_options;
  create_options.durability = durability;
  const auto info = write_from_descriptor(STDIN_FILENO, *target.store, target.name, create_options,
                                          session.context());
  if (!info) return session.fail("put " + url, info.error());
  if (session.output().is_json()) {
    Json document;
    set_name(document, "name", target.name);
    set_info(document, *info);
    session.output().json(document);
  }
  return ExitCode::kOk;
}

// Files are paths, never URLs: a file may be called "mem:x". Those of one directory share a store.
Result<std::vector<CopyRequest>> plan_files(
    Session& session, std::span<const std::string> files, const StoreLocation& target,
    std::map<std::string, std::shared_ptr<ObjectStore>>& stores) {
  std::vector<CopyRequest> requests;
  std::set<std::string> names;
  for (const std::string& file : files) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(file, error);
    if (error) return Error::from_errno(error.value(), file);
    if (std::filesystem::is_directory(path, error)) {
      return Error(ErrorCode::kInvalidArgument,
                   file + " is a directory; copy it with 'leat cp -r'");
    }
    std::shared_ptr<ObjectStore>& store = stores[path.parent_path().string()];
    if (!store) {
      const std::string url = "file://" + percent_encode(path.parent_path().string(), "/");
      ASSIGN_OR_RETURN(StoreLocation location, session.stores().open(url, IfMissing::kFail));
      store = std::move(location.store);
    }
    CopyRequest request{store.get(), path.filename().string(), target.store.get(), target.name};
    if (is_folder(target)) request.target_name += request.source_name;
    if (!names.insert(request.target_name).second) {
      return Error(ErrorCode::kInvalidArgument,
                   "two of the files would become " + request.target_name +
                       "; 'leat cp -r' of their directory keeps the paths");
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

ExitCode run_put(Session& session, const PutOptions& options) {
  if (options.arguments.size() < 2) {
    return session.refuse("put needs files and the URL that they go to", "leat put --help");
  }
  const std::string& url = options.arguments.back();
  const auto files = std::span(options.arguments).first(options.arguments.size() - 1);
  const Result<StoreLocation> target = session.stores().open(url, IfMissing::kCreate);
  if (!target) return session.fail("open " + url, target.error());
  if (files.size() == 1 && files[0] == "-") {
    return put_standard_input(session, *target, url, durability_of(options.durability));
  }
  if (files.size() > 1 && !is_folder(*target)) {
    return session.refuse("several files do not fit into one object",
                          "end the URL with '/': leat put … " + url + "/");
  }
  std::map<std::string, std::shared_ptr<ObjectStore>> stores;
  const auto requests = plan_files(session, files, *target, stores);
  if (!requests) return session.fail("put files", requests.error());
  TransferView view(session, "put");
  TransferOptions transfer_options;
  transfer_options.observer = &view;
  transfer_options.durability = durability_of(options.durability);
  const TransferReport report =
      copy_objects(*requests, transfer_options, session.executor(), session.context());
  return view.finish(report, transfer_options.mode);
}

}  // namespace

void add_put(Syntax& program, Verb& chosen) {
  auto options = std::make_shared<PutOptions>();
  Syntax& verb =
      add_verb(program, chosen, "put", "Store files as objects",
               "  leat put cat.jpg leat+local:///data/store/images/\n"
               "  leat put *.jpg leat+local:///data/store/images/train/\n"
               "  tar c photos | leat put - leat+local:///data/store/images/photos.tar\n",
               options, run_put);
  verb.values("arguments", options->arguments, "FILE… URL",
              "files, or - for standard input, and then the URL: of one object, or of a folder "
              "when it ends with '/'");
  verb.require("arguments");
  add_durability(verb, options->durability, "what the objects survive before this returns");
}

}  // namespace leat::cli
