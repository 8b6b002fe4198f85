// ObjectBytes: the bytes of one object, wherever they are: in a pack, or in files of their own.
//
// Every block is compared with its checksum before it is first served, by copy or by descriptor;
// which ones were is remembered for as long as the process knows the record. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "leat/base/file.h"
#include "leat/base/mutex.h"
#include "leat/base/result.h"
#include "leat/local/drive.h"
#include "leat/store/object_store.h"

namespace leat::local {

class ObjectBytes {
 public:
  // The bytes of a record that was found; `key` is for messages.
  // Which blocks need no comparison any more is kept in `marks`; null: in those of the drive.
  static Result<std::unique_ptr<ObjectBytes>> open(std::shared_ptr<Drive> drive,
                                                   std::string_view key, Found found,
                                                   std::shared_ptr<BlockMarks> marks = nullptr);
  // Of a kReference on a drive that outlives the result. REQUIRES: record.key is set.
  static Result<std::unique_ptr<ObjectBytes>> open_reference(Drive& drive, const Record& record);
  virtual ~ObjectBytes() = default;

  // Fills `target` from `offset` on; returns the bytes read, fewer only at the end.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target) = 0;
  // The same without a comparison, for callers that have a checksum of their own (shard members).
  virtual Result<std::size_t> read_unchecked(std::uint64_t offset, std::span<std::byte> target) = 0;
  // Where `range` is, after a comparison; with `checked` false without one.
  enum class Check : std::uint8_t { kYes, kNo };
  virtual Result<std::vector<LocalExtent>> extents(ByteRange range, Check check) = 0;
  // The same if all of it was compared before, and its files are open.
  virtual bool extents_now(ByteRange range, std::vector<LocalExtent>& result) = 0;
};

// The bytes of a small object that was found on `drive`, compared with its checksum.
Result<std::vector<std::byte>> read_packed_object(Drive& drive, std::string_view key,
                                                  const Found& found);

}  // namespace leat::local
