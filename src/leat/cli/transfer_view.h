// What cp, sync, put, get and rm show of a transfer: progress while it runs, the plan of a dry run,
// and at the end the failures, a summary and the exit code. Also the flags that they share.
//
// TransferView hears from many threads (TransferObserver); the rest is for the main thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "leat/base/progress.h"
#include "leat/cli/session.h"
#include "leat/cli/syntax.h"
#include "leat/store/transfer.h"

namespace leat::cli {

class TransferView final : public TransferObserver {
 public:
  // `label` is shown before the progress: "cp".
  TransferView(Session& session, std::string label);

  void found(std::uint64_t size_bytes) override;
  void moved(std::uint64_t bytes) override;
  void planned(TransferAction action, std::string_view name) override;

  // Shows the outcome; `mode` is that of the transfer.
  ExitCode finish(const TransferReport& report, TransferOptions::Mode mode);

 private:
  void show_failures(const TransferReport& report);
  std::string summary(const TransferReport& report, TransferOptions::Mode mode) const;
  void show_json(const TransferReport& report, TransferOptions::Mode mode);

  Session& session_;
  const std::string label_;
  const MonotonicTime start_;
  std::uint64_t found_bytes_ = 0;
  std::vector<std::pair<TransferAction, std::string>> plan_;
  Progress progress_;
};

// The flags of the verbs that copy folders.
struct TransferFlags {
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  std::string durability;
  bool checksum = false;
  bool dry_run = false;
  bool force = false;
  bool delete_extraneous = false;

  void add_to(Syntax& verb);
  // kInvalidArgument for a pattern that is none.
  Result<TransferOptions> options() const;
};

void add_durability(Syntax& verb, std::string& target, const std::string& about);
// REQUIRES: empty, "disk" or "memory", as add_durability() checks.
Durability durability_of(std::string_view word);

// Copies one folder to another, as cp -r and sync do.
ExitCode copy_folder(Session& session, const std::string& label, const std::string& source_url,
                     const StoreLocation& source, const std::string& target_url,
                     const TransferFlags& flags);

// Copies one object; a target that is a folder gets the object's last component as the name.
ExitCode copy_single(Session& session, const std::string& label, const StoreLocation& source,
                     const std::string& target_url, Durability durability);

}  // namespace leat::cli
