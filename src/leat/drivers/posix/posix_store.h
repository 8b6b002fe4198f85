// `file:///dir`: a directory tree as it is, on a local disk or a parallel file system.
//
// Names are relative paths and objects regular files, so other programs see and make the same
// objects. What follows from that:
//   - A name that a tree cannot hold (an empty component, ".", "..", a component of more than 255
//     bytes, a file where a directory is or the other way round) is kInvalidArgument, saying why.
//   - There is no place for metadata and no generation: both are refused with kUnsupported. The
//     etag is inode, modification time and size.
//   - Symbolic links inside the tree are followed; none leads out of it. One that would, or leads
//     nowhere, is listed but cannot be read, so that a copy of the tree tells of it. A link is
//     replaced or removed itself, not what it leads to. A listing enters no directory that it is in
//     already.
//   - An object is written to a hidden file beside its place (drivers/posix/tree.h) and renamed.
//     Directories are made as needed, and removed with their last object. With Durability::kDisk,
//     the default, file and directories are synced before commit() returns.
//   - Precondition::absent() is atomic against every program (link or rename without replacing).
//     The others are atomic against changes through this store object only: POSIX has no
//     compare-and-rename.
//   - A reader keeps its version when the object is replaced or removed, here or by another
//     program; a program that writes into the file in place breaks that, as everywhere in POSIX.
//
// Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "leat/base/result.h"
#include "leat/store/object_store.h"
#include "leat/store/registry.h"

namespace leat {

// The tree beneath `root`, which must be an existing directory.
Result<std::shared_ptr<ObjectStore>> open_posix_store(const std::string& root);

// The scheme "file". A directory is a store; a file is a name in the store of its directory, and so
// is what does not exist, unless it ends with '/' and IfMissing::kCreate makes it a directory.
void register_posix(Registry& registry);

}  // namespace leat
