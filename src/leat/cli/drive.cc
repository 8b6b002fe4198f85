#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "leat/base/units.h"
#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

struct DriveOptions {
  std::string url;
  std::string drive;
  bool give_up = false;
};

std::string state_of(const local::DriveInfo& drive) {
  if (drive.is_missing) return "missing";
  return drive.is_draining ? "draining" : "in use";
}

Status show_drives(Session& session, const LocalStoreLocation& location) {
  ASSIGN_OR_RETURN(const auto drives, location.store->drives());
  std::vector<std::vector<std::string>> rows = {
      {"drive", "state", "objects", "packs", "available", "directory"}};
  Json document = Json::array();
  for (const local::DriveInfo& drive : drives) {
    rows.push_back({drive.id, state_of(drive), std::to_string(drive.usage.objects),
                    format_size_rounded(drive.usage.pack_bytes),
                    format_size_rounded(drive.space.available_bytes), printable(drive.directory)});
    Json item = {{"id", drive.id}, {"state", state_of(drive)}};
    set_name(item, "directory", drive.directory);
    item["objects"] = drive.usage.objects;
    item["pack_bytes"] = drive.usage.pack_bytes;
    item["available_bytes"] = drive.space.available_bytes;
    item["total_bytes"] = drive.space.total_bytes;
    document.push_back(std::move(item));
  }
  if (session.output().is_json()) {
    session.output().json(document);
  } else {
    session.output().table(rows, "234");
  }
  return ok_status();
}

// The work is done before this returns: nobody would go on with it once the process has ended.
Status add_drive_to(Session& session, const LocalStoreLocation& location,
                    const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return Error::from_errno(error.value(), "make directory " + directory);
  RETURN_IF_ERROR(location.store->add_drive(directory, session.context()));
  RETURN_IF_ERROR(location.store->settle(session.context()));
  local::LocalUrl url = location.url;
  url.directories.push_back(directory);
  if (session.output().is_json()) {
    session.output().json({{"url", url.store_url()}});
  } else {
    session.output().summary("the store is now " + url.store_url());
  }
  return ok_status();
}

std::string absolute(const std::string& path) {
  std::error_code error;
  std::string result = std::filesystem::absolute(path, error).lexically_normal().string();
  while (result.size() > 1 && result.ends_with('/')) result.pop_back();
  return error ? path : result;
}

// An id is a word of 32 hexadecimal digits; everything else is a path.
std::string id_or_path(const std::string& drive) {
  const bool is_id =
      drive.size() == 32 && drive.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_id ? drive : absolute(drive);
}

// What a missing drive held is lost when it is removed, and it may only have been left out of the
// URL: nobody should come to that by a slip.
bool is_missing(local::LocalStore& store, const std::string& drive) {
  const auto drives = store.drives();
  return drives.ok() && std::any_of(drives->begin(), drives->end(), [&](const auto& info) {
           return info.id == drive && info.is_missing;
         });
}

ExitCode run_list(Session& session, const DriveOptions& options) {
  const auto location = session.stores().open_local(options.url, IfMissing::kFail);
  if (!location) return session.fail("list the drives of " + options.url, location.error());
  const Status status = show_drives(session, *location);
  return status ? ExitCode::kOk : session.fail("list the drives of " + options.url, status.error());
}

ExitCode run_add(Session& session, const DriveOptions& options) {
  const std::string doing = "add the drive " + options.drive;
  const auto location = session.stores().open_local(options.url, IfMissing::kFail);
  if (!location) return session.fail(doing, location.error());
  const Status status = add_drive_to(session, *location, absolute(options.drive));
  return status ? ExitCode::kOk : session.fail(doing, status.error());
}

ExitCode run_remove(Session& session, const DriveOptions& options) {
  const std::string doing = "remove the drive " + options.drive;
  const auto location = session.stores().open_local(options.url, IfMissing::kFail);
  if (!location) return session.fail(doing, location.error());
  const std::string drive = id_or_path(options.drive);
  if (!options.give_up && is_missing(*location->store, drive)) {
    return session.refuse(
        "drive " + options.drive + " is missing: removed now, what it holds is lost",
        "name its directory in the URL if it is there, or say --give-up");
  }
  const Status status = location->store->remove_drive(drive, session.context());
  if (!status) {
    return session.fail(doing, status.error(), "leat drive ls " + options.url);
  }
  if (session.output().is_json()) session.output().json({{"removed", options.drive}});
  return ExitCode::kOk;
}

}  // namespace

void add_drive(Syntax& program, Verb& chosen) {
  Syntax& group = program.add_group("drive", "Add, remove and list the drives of a store",
                                    "  leat drive ls leat+local:///disk1/store\n"
                                    "  leat drive add leat+local:///disk1/store /disk2/store\n");
  auto options = std::make_shared<DriveOptions>();
  Syntax& add = add_verb(group, chosen, "add", "Add a directory, and move its share there",
                         "  leat drive add leat+local:///disk1/store /disk2/store\n"
                         "  leat ls leat+local:///disk1/store,/disk2/store\n",
                         options, run_add);
  Syntax& remove =
      add_verb(group, chosen, "remove", "Move everything off a drive and take it out",
               "  leat drive remove leat+local:///disk1/store,/disk2/store /disk2/store\n"
               "  leat drive remove --give-up leat+local:///disk1/store "
               "0123456789abcdef0123456789abcdef\n"
               "\nA drive that is missing can only be given up: what it held is lost.\n",
               options, run_remove);
  Syntax& list = add_verb(group, chosen, "ls", "List the drives of a store",
                          "  leat drive ls leat+local:///disk1/store,/disk2/store\n"
                          "  leat drive ls --json leat+local:///disk1/store\n",
                          options, run_list);
  for (Syntax* verb : {&add, &remove, &list}) {
    verb->value("url", options->url, "URL", "the store, with all its directories");
    verb->require("url");
  }
  add.value("directory", options->drive, "DIRECTORY", "a new or empty directory");
  add.require("directory");
  remove.flag("--give-up", options->give_up, "remove a missing drive; what it held is lost");
  remove.value("drive", options->drive, "DRIVE", "its directory or its id");
  remove.require("drive");
}

}  // namespace leat::cli
