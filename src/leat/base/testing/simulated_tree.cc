#include "leat/base/testing/simulated_tree.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "leat/base/file_path.h"

namespace leat {
namespace {

void settle_beneath(SimulatedInode& inode, PowerCut& cut) {
  inode.locked = false;
  inode.content.settle(cut);
  inode.entries = inode.disk_entries;
  for (const auto& [name, child] : inode.entries) settle_beneath(*child, cut);
}

void apply(SimulatedInode::Entries& entries, const std::string& name,
           const std::shared_ptr<SimulatedInode>& inode) {
  if (inode == nullptr) {
    entries.erase(name);
  } else {
    entries[name] = inode;
  }
}

}  // namespace

// What the operations chosen so far, going back in time, cannot do without.
class SimulatedTree::Needs {
 public:
  bool include(const Operation& operation) const {
    if (everything_) return true;
    return std::ranges::any_of(operation.steps, [this](const Step& step) {
      return names_.contains({step.directory.get(), step.name}) ||
             emptied_.contains(step.directory.get()) || homes_.contains(step.inode.get());
    });
  }

  void add(const Operation& operation, Extent extent) {
    everything_ = everything_ || operation.moves_directory;
    if (extent == Extent::kNewName) {
      add_name(operation.steps.front());
      return;
    }
    for (const Step& step : operation.steps) add_name(step);
    for (const Inode& home : operation.homes) homes_.insert(home.get());
    if (operation.emptied != nullptr) emptied_.insert(operation.emptied.get());
  }

 private:
  void add_name(const Step& step) { names_.emplace(step.directory.get(), step.name); }

  std::set<std::pair<const SimulatedInode*, std::string>> names_;
  std::set<const SimulatedInode*> emptied_;
  std::set<const SimulatedInode*> homes_;
  bool everything_ = false;
};

SimulatedTree::SimulatedTree()
    : root_(std::make_shared<SimulatedInode>(Kind::kDirectory, next_number_++)),
      directories_{root_} {}

SimulatedTree::~SimulatedTree() {
  for (const std::weak_ptr<SimulatedInode>& directory : directories_) {
    if (const Inode inode = directory.lock()) {
      inode->entries.clear();
      inode->disk_entries.clear();
    }
  }
}

Result<SimulatedTree::Inode> SimulatedTree::find(std::string_view path) const {
  if (path == ".") return root_;
  ASSIGN_OR_RETURN(Place place, locate(path));
  if (place.inode == nullptr) return Error::from_errno(ENOENT, path);
  return std::move(place.inode);
}

Result<SimulatedTree::Inode> SimulatedTree::find_directory(std::string_view path) const {
  ASSIGN_OR_RETURN(Inode inode, find(path));
  if (!inode->is_directory()) return Error::from_errno(ENOTDIR, path);
  return inode;
}

Result<SimulatedTree::Inode> SimulatedTree::create(std::string_view path, Kind kind) {
  if (path == ".") return Error::from_errno(EEXIST, path);
  ASSIGN_OR_RETURN(const Place place, locate(path));
  if (place.inode != nullptr) return Error::from_errno(EEXIST, path);
  auto inode = std::make_shared<SimulatedInode>(kind, next_number_++);
  if (kind == Kind::kDirectory) directories_.push_back(inode);
  Operation operation;
  operation.steps = {{place.directory, place.name, inode}};
  perform(std::move(operation));
  return inode;
}

Status SimulatedTree::rename(std::string_view from, std::string_view to, RenameMode mode) {
  ASSIGN_OR_RETURN(const Place source, locate(from));
  ASSIGN_OR_RETURN(const Place target, locate(to));
  if (source.inode == nullptr) return Error::from_errno(ENOENT, from);
  if (target.inode != nullptr && mode == RenameMode::kKeepExisting) {
    return Error::from_errno(EEXIST, to);
  }
  if (source.inode == target.inode) return ok_status();  // two names of one file: both stay
  if (to.size() > from.size() && to.starts_with(from) && to[from.size()] == '/') {
    return Error::from_errno(EINVAL, to);
  }
  Operation operation;
  if (target.inode != nullptr) {
    if (source.inode->is_directory() != target.inode->is_directory()) {
      return Error::from_errno(target.inode->is_directory() ? EISDIR : ENOTDIR, to);
    }
    if (!target.inode->entries.empty()) return Error::from_errno(ENOTEMPTY, to);
    if (target.inode->is_directory()) operation.emptied = target.inode;
  }
  operation.steps = {{target.directory, target.name, source.inode},
                     {source.directory, source.name, nullptr}};
  if (target.directory != source.directory) operation.homes = directories_above(to);
  operation.moves_directory = source.inode->is_directory();
  perform(std::move(operation));
  return ok_status();
}

Status SimulatedTree::remove(std::string_view path, Kind kind) {
  ASSIGN_OR_RETURN(const Place place, locate(path));
  if (place.inode == nullptr) return Error::from_errno(ENOENT, path);
  if (place.inode->kind != kind) {
    return Error::from_errno(kind == Kind::kFile ? EISDIR : ENOTDIR, path);
  }
  if (!place.inode->entries.empty()) return Error::from_errno(ENOTEMPTY, path);
  Operation operation;
  operation.steps = {{place.directory, place.name, nullptr}};
  if (kind == Kind::kDirectory) operation.emptied = place.inode;
  perform(std::move(operation));
  return ok_status();
}

void SimulatedTree::sync(SimulatedInode& directory) {
  carry_out([&directory](const Operation& operation) {
    if (operation.given_up || !touches(operation, directory)) return Extent::kNothing;
    const Step& last = operation.steps.back();
    const bool leads_here = operation.steps.size() == 2 && last.directory.get() != &directory;
    return leads_here && !operation.moves_directory ? Extent::kNewName : Extent::kWhole;
  });
}

void SimulatedTree::sync_failed(SimulatedInode& directory) {
  for (Operation& operation : operations_) {
    if (touches(operation, directory)) operation.given_up = true;
  }
}

void SimulatedTree::settle(PowerCut& cut) {
  carry_out([&cut](const Operation&) { return cut.keeps() ? Extent::kWhole : Extent::kNothing; });
  operations_.clear();
  settle_beneath(*root_, cut);
}

void SimulatedTree::visit_files(const SimulatedInode& directory, const std::string& prefix,
                                const Visitor& visitor) {
  for (const auto& [name, inode] : directory.entries) {
    if (inode->is_directory()) {
      visit_files(*inode, prefix + name + "/", visitor);
    } else {
      visitor(prefix + name, *inode);
    }
  }
}

Result<SimulatedTree::Place> SimulatedTree::locate(std::string_view path) const {
  if (path == ".") {
    return Error(ErrorCode::kInvalidArgument, "the root has no name");
  }
  ASSIGN_OR_RETURN(Inode parent, find(parent_path(path)));
  if (!parent->is_directory()) return Error::from_errno(ENOTDIR, path);
  const std::string_view name = file_name(path);
  const auto entry = parent->entries.find(name);
  Inode inode = entry == parent->entries.end() ? nullptr : entry->second;
  return Place{std::move(parent), std::string(name), std::move(inode)};
}

std::vector<SimulatedTree::Inode> SimulatedTree::directories_above(std::string_view path) const {
  std::vector<Inode> directories;
  for (std::string_view above = parent_path(path); above != "."; above = parent_path(above)) {
    if (auto inode = find(above); inode.ok()) directories.push_back(*std::move(inode));
  }
  return directories;
}

void SimulatedTree::perform(Operation operation) {
  for (const Step& step : operation.steps) apply(step.directory->entries, step.name, step.inode);
  operations_.push_back(std::move(operation));
}

void SimulatedTree::carry_out(const std::function<Extent(const Operation&)>& choose) {
  Needs needs;
  std::vector<Extent> extents(operations_.size(), Extent::kNothing);
  for (std::size_t index = operations_.size(); index-- > 0;) {
    const Operation& operation = operations_[index];
    extents[index] = needs.include(operation) ? Extent::kWhole : choose(operation);
    if (extents[index] != Extent::kNothing) needs.add(operation, extents[index]);
  }
  std::vector<Operation> remaining;
  for (std::size_t index = 0; index < operations_.size(); ++index) {
    Operation& operation = operations_[index];
    if (extents[index] == Extent::kWhole) {
      for (const Step& step : operation.steps) {
        apply(step.directory->disk_entries, step.name, step.inode);
      }
      continue;
    }
    if (extents[index] == Extent::kNewName) {
      const Step& step = operation.steps.front();
      apply(step.directory->disk_entries, step.name, step.inode);
      operation.steps.erase(operation.steps.begin());
    }
    remaining.push_back(std::move(operation));
  }
  operations_ = std::move(remaining);
}

bool SimulatedTree::touches(const Operation& operation, const SimulatedInode& directory) {
  return std::ranges::any_of(operation.steps, [&directory](const Step& step) {
    return step.directory.get() == &directory;
  });
}

}  // namespace leat
