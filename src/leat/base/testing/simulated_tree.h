// SimulatedTree: names and directories, as programs see them and as the disk holds them.
//
// The model. Every directory has two sets of entries: what programs see, and what is certain to
// outlive a power cut. Creating, renaming and removing change the first at once and leave an
// Operation behind, in one list in order of time.
//
//   sync(directory)         carries every operation on that directory to the disk.
//   sync_failed(directory)  gives those operations up: no later sync() vouches for them.
//   settle()                The power cut. Of the operations a random part survives.
//
// What survives respects how real file systems keep their promises, because a test that loses
// what no disk loses is not believed:
//   1. Operations on one name happen in order: a later one brings the earlier ones along.
//   2. A rename is atomic: the old name or the new one. Only when it leads to another directory
//      and just that one was synced may both names be there. Never none: the old name does not go
//      before the new one, and the directories made on its path, are on the disk.
//   3. A directory goes only after what was moved out of it.
//   4. Moving a directory brings everything before it along (else two could end up in each other).
// What it does not promise, and a real disk may break: that an entry is reachable because its own
// directory was synced. The entries of the parents must have been synced too.
//
// Errors carry the path and the reason of the system. For one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/file.h"
#include "leat/base/result.h"
#include "leat/base/testing/power_cut.h"
#include "leat/base/testing/simulated_content.h"

namespace leat {

struct SimulatedInode {
  enum class Kind : std::uint8_t { kFile, kDirectory };
  using Entries = std::map<std::string, std::shared_ptr<SimulatedInode>, std::less<>>;

  SimulatedInode(Kind kind_of_inode, std::uint64_t inode_number)
      : kind(kind_of_inode), number(inode_number), content(is_directory() ? 0755 : 0644) {}
  bool is_directory() const { return kind == Kind::kDirectory; }

  const Kind kind;
  const std::uint64_t number;
  std::int64_t mtime_ns = 0;
  bool locked = false;
  SimulatedContent content;  // a directory uses only its mode
  Entries entries;           // of a directory, as programs see them
  Entries disk_entries;      // of a directory, as the disk holds them
};

class SimulatedTree {
 public:
  using Inode = std::shared_ptr<SimulatedInode>;
  using Kind = SimulatedInode::Kind;

  SimulatedTree();
  SimulatedTree(const SimulatedTree&) = delete;
  SimulatedTree& operator=(const SimulatedTree&) = delete;
  ~SimulatedTree();

  Result<Inode> find(std::string_view path) const;
  Result<Inode> find_directory(std::string_view path) const;
  Result<Inode> create(std::string_view path, Kind kind);
  Status rename(std::string_view from, std::string_view to, RenameMode mode);
  Status remove(std::string_view path, Kind kind);

  void sync(SimulatedInode& directory);
  void sync_failed(SimulatedInode& directory);
  // Leaves a tree in which everything is on the disk, and no lock is held.
  void settle(PowerCut& cut);

  // Every file beneath `directory`, in byte order of the components, with its path from there.
  using Visitor = std::function<void(const std::string& path, const SimulatedInode& file)>;
  static void visit_files(const SimulatedInode& directory, const std::string& prefix,
                          const Visitor& visitor);

 private:
  struct Place {
    Inode directory;
    std::string name;
    Inode inode;  // null when the name is free
  };
  // One name that gets an inode or, with a null inode, goes.
  struct Step {
    Inode directory;
    std::string name;
    Inode inode;
  };
  struct Operation {
    std::vector<Step> steps;   // of a rename: the new name first
    Inode emptied;             // the directory that went, or was replaced
    std::vector<Inode> homes;  // of a rename to another directory: that one and those above it
    bool moves_directory = false;
    bool given_up = false;
  };
  enum class Extent : std::uint8_t { kNothing, kNewName, kWhole };
  class Needs;

  Result<Place> locate(std::string_view path) const;
  std::vector<Inode> directories_above(std::string_view path) const;
  void perform(Operation operation);
  // Brings to the disk what `choose` says of each operation, asked from the last to the first, and
  // all that the rules above demand with it.
  void carry_out(const std::function<Extent(const Operation&)>& choose);
  static bool touches(const Operation& operation, const SimulatedInode& directory);

  std::uint64_t next_number_ = 1;
  const Inode root_;
  // Every directory ever made. What programs see and what the disk holds may contain each other,
  // so the destructor takes them apart.
  std::vector<std::weak_ptr<SimulatedInode>> directories_;
  std::vector<Operation> operations_;  // not on the disk yet, oldest first
};

}  // namespace leat
