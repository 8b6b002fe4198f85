#include "leat/cli/transfer_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "leat/base/units.h"

namespace leat::cli {
namespace {

constexpr std::size_t kMostFailuresShown = 20;

std::string_view action_name(TransferAction action) {
  return action == TransferAction::kCopy ? "copy" : "remove";
}

bool is_dry(TransferOptions::Mode mode) {
  return mode == TransferOptions::Mode::kDryRun;
}

}  // namespace

TransferView::TransferView(Session& session, std::string label)
    : session_(session),
      label_(std::move(label)),
      start_(session.context().clock().now()),
      progress_(session.progress_options(label_)) {}

void TransferView::found(std::uint64_t size_bytes) {
  found_bytes_ += size_bytes;
  progress_.set_total(found_bytes_);
}

void TransferView::moved(std::uint64_t bytes) {
  progress_.add(bytes);
}

void TransferView::planned(TransferAction action, std::string_view name) {
  if (session_.output().is_json()) {
    plan_.emplace_back(action, name);
  } else {
    session_.output().line(fmt::format("would {} {}", action_name(action), printable(name)));
  }
}

ExitCode TransferView::finish(const TransferReport& report, TransferOptions::Mode mode) {
  progress_.finish();
  show_failures(report);
  if (session_.output().is_json()) {
    show_json(report, mode);
  } else {
    session_.output().summary(summary(report, mode));
  }
  if (report.stopped) return session_.fail("finish " + label_, *report.stopped);
  return report.failed > 0 ? ExitCode::kFailed : ExitCode::kOk;
}

void TransferView::show_failures(const TransferReport& report) {
  if (session_.output().is_json()) return;
  const std::size_t shown = std::min(report.failures.size(), kMostFailuresShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const TransferFailure& failure = report.failures[i];
    session_.fail(fmt::format("{} {}", label_, printable(failure.name)), failure.error);
  }
  if (report.failed > shown) {
    session_.output().note(fmt::format("leat: and {} more failed", report.failed - shown));
  }
}

std::string TransferView::summary(const TransferReport& report, TransferOptions::Mode mode) const {
  const std::chrono::nanoseconds elapsed = session_.context().clock().now() - start_;
  const double seconds = std::max(1e-9, std::chrono::duration<double>(elapsed).count());
  std::vector<std::string> parts;
  const std::string_view would = is_dry(mode) ? "would have " : "";
  const bool only_removes = label_ == "rm";
  if (report.copied > 0 || (report.removed == 0 && !only_removes)) {
    std::string part = fmt::format("{}copied {}, {}", would, counted(report.copied, "object"),
                                   format_size_rounded(report.copied_bytes));
    if (!is_dry(mode)) {
      const auto rate = static_cast<std::uint64_t>(report.copied_bytes / seconds);
      part += fmt::format(", in {} ({}/s)", format_duration_rounded(elapsed),
                          format_size_rounded(rate));
    }
    parts.push_back(std::move(part));
  }
  if (report.removed > 0 || only_removes) {
    parts.push_back(fmt::format("{}removed {}", would, counted(report.removed, "object")));
  }
  if (report.unchanged > 0) parts.push_back(fmt::format("{} unchanged", report.unchanged));
  if (report.metadata_dropped > 0) {
    parts.push_back(fmt::format("{} lost their metadata, which the target cannot hold",
                                report.metadata_dropped));
  }
  if (report.failed > 0) parts.push_back(fmt::format("{} failed", report.failed));
  return fmt::format("{}: {}", label_, fmt::join(parts, "; "));
}

void TransferView::show_json(const TransferReport& report, TransferOptions::Mode mode) {
  Json document;
  document["dry_run"] = is_dry(mode);
  document["copied"] = report.copied;
  document["copied_bytes"] = report.copied_bytes;
  document["unchanged"] = report.unchanged;
  document["removed"] = report.removed;
  document["metadata_dropped"] = report.metadata_dropped;
  document["failed"] = report.failed;
  document["complete"] = !report.stopped;
  document["failures"] = Json::array();
  for (const TransferFailure& failure : report.failures) {
    Json item;
    set_name(item, "name", failure.name);
    item["code"] = error_traits(failure.error.code()).name;
    item["error"] = failure.error.message();
    document["failures"].push_back(std::move(item));
  }
  if (is_dry(mode)) document["plan"] = Json::array();
  for (const auto& [action, name] : plan_) {
    Json item = {{"action", action_name(action)}};
    set_name(item, "name", name);
    document["plan"].push_back(std::move(item));
  }
  session_.output().json(document);
}

void TransferFlags::add_to(Syntax& verb) {
  verb.repeated("--include", include, "GLOB",
                "only names that match this pattern; may be repeated");
  verb.repeated("--exclude", exclude, "GLOB", "no names that match this pattern; may be repeated");
  verb.flag("--checksum", checksum,
            "read the target and compare the bytes: mends what is damaged there");
  verb.flag("--dry-run", dry_run, "say what would be done, and change nothing");
  add_durability(verb, durability, "what each copy survives before it counts as done");
}

Result<TransferOptions> TransferFlags::options() const {
  TransferOptions options;
  ASSIGN_OR_RETURN(options.filter, NameFilter::parse(include, exclude));
  options.durability = durability_of(durability);
  using Compare = TransferOptions::Compare;
  options.compare = force ? Compare::kNever : checksum ? Compare::kChecksum : Compare::kQuick;
  if (dry_run) options.mode = TransferOptions::Mode::kDryRun;
  if (delete_extraneous) options.extraneous = TransferOptions::Extraneous::kRemove;
  return options;
}

void add_durability(Syntax& verb, std::string& target, const std::string& about) {
  verb.choice("--durability", target, {"disk", "memory"}, about);
}

Durability durability_of(std::string_view word) {
  if (word == "disk") return Durability::kDisk;
  return word == "memory" ? Durability::kMemory : Durability::kDefault;
}

namespace {

// Where a copy goes. In a dry run nothing is made: a target that is not there is an empty store.
Result<StoreLocation> open_target(Session& session, const std::string& url, bool dry_run) {
  if (!dry_run) return session.stores().open(url, IfMissing::kCreate);
  Result<StoreLocation> location = session.stores().open(url, IfMissing::kFail);
  if (location.failed_with(ErrorCode::kNotFound)) {
    return session.stores().open("mem:", IfMissing::kCreate);
  }
  return location;
}

// An empty store is a fine source; a folder that is not there is a mistake.
Status check_source(const StoreLocation& source, const Context& context) {
  if (source.name.empty()) return ok_status();
  ListRequest request;
  request.prefix = folder_prefix(source.name);
  request.limit = 1;
  ASSIGN_OR_RETURN(const ListPage page, source.store->list(request, context));
  if (!page.entries.empty()) return ok_status();
  return Error(ErrorCode::kNotFound, "there is nothing of this name");
}

}  // namespace

ExitCode copy_folder(Session& session, const std::string& label, const std::string& source_url,
                     const StoreLocation& source, const std::string& target_url,
                     const TransferFlags& flags) {
  Result<TransferOptions> options = flags.options();
  if (!options) {
    return session.refuse(options.error().message(), "quote patterns: --include '*.jpg'");
  }
  if (const Status there = check_source(source, session.context()); !there) {
    return session.fail("read " + source_url, there.error());
  }
  const Result<StoreLocation> target = open_target(session, target_url, flags.dry_run);
  if (!target) {
    return session.fail("open " + target_url, target.error(),
                        target.failed_with(ErrorCode::kNotFound)
                            ? "make it first, for example with 'leat bucket create'"
                            : "");
  }
  TransferView view(session, label);
  options->observer = &view;
  const TransferReport report = transfer({source.store.get(), folder_prefix(source.name)},
                                         {target->store.get(), folder_prefix(target->name)},
                                         *options, session.executor(), session.context());
  return view.finish(report, options->mode);
}

ExitCode copy_single(Session& session, const std::string& label, const StoreLocation& source,
                     const std::string& target_url, Durability durability) {
  const Result<StoreLocation> target = session.stores().open(target_url, IfMissing::kCreate);
  if (!target) return session.fail("open " + target_url, target.error());
  CopyRequest request{source.store.get(), source.name, target->store.get(), target->name};
  if (is_folder(*target)) request.target_name += base_name(source.name);
  TransferView view(session, label);
  TransferOptions options;
  options.observer = &view;
  options.durability = durability;
  const TransferReport report =
      copy_objects({&request, 1}, options, session.executor(), session.context());
  return view.finish(report, options.mode);
}

}  // namespace leat::cli
