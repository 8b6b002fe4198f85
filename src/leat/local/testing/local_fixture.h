// What tests of the local store share: stores in temporary directories and on simulated disks.
#pragma once

#include <memory>
#include <string>

#include "leat/base/testing/simulated_file_system.h"
#include "leat/base/testing/temporary_directory.h"
#include "leat/local/local_store.h"

namespace leat::local::testing {

using leat::testing::TemporaryDirectory;

// Small limits, so that a small workload rolls packs, flushes and merges.
inline StoreOptions small_options() {
  StoreOptions options;
  options.upkeep = StoreOptions::Upkeep::kWhenAsked;
  options.small_object_bytes = 4096;
  options.drive.log.pack_bytes = 64 << 10;
  options.drive.log.preallocate_bytes = 16 << 10;
  options.drive.log.reserve_bytes = 16 << 10;
  options.drive.catalogue.flush_entries = 16;
  options.drive.compact_bytes_per_second = 0;
  return options;
}

// Drives are directories "drive0", "drive1" … of one simulated disk; ids are the same every time.
inline StoreOptions simulated_options(SimulatedFileSystem& disk) {
  StoreOptions options = small_options();
  options.open_directory =
      [&disk](const std::string& directory) -> Result<std::unique_ptr<FileSystem>> {
    RETURN_IF_ERROR(disk.make_directories(directory));
    return std::unique_ptr<FileSystem>(disk.view(directory));
  };
  auto next_id = std::make_shared<int>(0);
  options.make_id = [next_id]() -> Result<std::string> {
    std::string id(31, '0');
    return id + static_cast<char>('a' + (*next_id)++ % 26);
  };
  return options;
}

}  // namespace leat::local::testing
