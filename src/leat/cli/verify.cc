#include <fmt/format.h>

#include <memory>

#include "leat/base/progress.h"
#include "leat/base/units.h"
#include "leat/cli/verbs.h"

namespace leat::cli {
namespace {

constexpr std::size_t kMostDamagedShown = 20;

struct VerifyFlags {
  std::string url;
  std::string rate = "0";
  bool repair = false;
};

void show(Session& session, const local::VerifyReport& report) {
  if (session.output().is_json()) {
    Json document = {{"ok", report.ok()}, {"objects", report.objects}, {"bytes", report.bytes}};
    document["orphan_bytes"] = report.orphan_bytes;
    document["damaged"] = Json::array();
    for (const auto& item : report.damaged) {
      Json object;
      set_name(object, "name", item.name);
      object["what"] = item.what;
      object["repaired"] = item.repaired;
      document["damaged"].push_back(std::move(object));
    }
    session.output().json(document);
    return;
  }
  for (std::size_t i = 0; i < std::min(report.damaged.size(), kMostDamagedShown); ++i) {
    const auto& item = report.damaged[i];
    session.output().line(fmt::format("{} {}: {}", item.repaired ? "repaired" : "damaged",
                                      item.name.empty() ? "(unknown name)" : printable(item.name),
                                      item.what));
  }
  if (report.damaged.size() > kMostDamagedShown) {
    session.output().line(fmt::format("and {} more", report.damaged.size() - kMostDamagedShown));
  }
  std::string summary = fmt::format("verify: {}, {}; {} damaged", counted(report.objects, "object"),
                                    format_size_rounded(report.bytes), report.damaged.size());
  // Only a repair looks for them.
  if (report.orphan_bytes > 0) {
    summary += fmt::format("; {} in files that nothing referred to removed",
                           format_size_rounded(report.orphan_bytes));
  }
  session.output().summary(summary);
}

ExitCode run_verify(Session& session, const VerifyFlags& flags) {
  const Result<std::uint64_t> rate = parse_size(flags.rate);
  if (!rate)
    return session.refuse("--rate: " + std::string(rate.error().message()), "--rate 100MiB");
  const auto location = session.stores().open_local(flags.url, IfMissing::kFail);
  if (!location) return session.fail("verify " + flags.url, location.error());
  Progress progress(session.progress_options("verify"));
  local::VerifyOptions options;
  options.repair = flags.repair;
  options.bytes_per_second = *rate;
  options.progress = [&progress](const local::VerifyReport& so_far) {
    progress.add(so_far.bytes - std::min(so_far.bytes, progress.done()));
  };
  const auto report = location->store->verify(options, session.context());
  progress.finish();
  if (!report) return session.fail("verify " + flags.url, report.error());
  show(session, *report);
  if (report->ok()) return ExitCode::kOk;
  session.output().note(flags.repair
                            ? "try: leat cp -r --checksum SOURCE TARGET, from where it came"
                            : "try: leat verify --repair " + flags.url);
  return ExitCode::kFailed;
}

}  // namespace

void add_verify(Syntax& program, Verb& chosen) {
  auto flags = std::make_shared<VerifyFlags>();
  Syntax& verb = add_verb(
      program, chosen, "verify", "Read a local store and compare everything with its checksums",
      "  leat verify leat+local:///data/store\n"
      "  leat verify --repair leat+local:///data/store\n"
      "  leat verify --rate 100MiB leat+local:///disk1/store,/disk2/store\n"
      "\nA damaged object is named and never served; it is never removed. The exit code is 1 when\n"
      "anything is damaged and was not repaired.\n",
      flags, run_verify);
  verb.value("url", flags->url, "URL", "the store");
  verb.require("url");
  verb.flag("--repair", flags->repair, "repair what can be, and remove files of nobody");
  verb.value("--rate", flags->rate, "SIZE", "read at most so many bytes a second; 0: no limit");
}

}  // namespace leat::cli
