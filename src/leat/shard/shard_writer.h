// ShardWriter: writes a tar archive into an object, one member after another.
//
// The output is a function of what is added and nothing else: owner 0, the given mode and mtime (by
// default 0644 and 0), so equal input makes equal shards. Members are plain ustar, with a pax
// header before those whose name does not fit. The archive ends with two zero blocks; it is not
// filled up to tape records of 10,240 bytes, which no reader asks for.
//
// Memory is one buffer, whatever the size of a member. For one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/store/object_store.h"

namespace leat {

struct ShardEntry {
  std::string_view name;
  std::int64_t mtime_s = 0;
  std::uint32_t mode = 0644;
};

class ShardWriter {
 public:
  explicit ShardWriter(std::unique_ptr<ObjectWriter> target);

  // kInvalidArgument for a name that fails check_member_name(): the writer can go on. After any
  // other Error the archive is broken: every further call returns that Error, and the object never
  // becomes visible.
  Status add(const ShardEntry& entry, std::span<const std::byte> bytes, const Context& context);
  Status add(const ShardEntry& entry, ObjectReader& source, const Context& context);
  // Ends the archive and commits the object. At most once.
  Result<ObjectInfo> finish(const Context& context);

  // Whether that Error came from a source: a new archive without it can succeed.
  bool source_failed() const noexcept { return source_failed_; }
  // Of the archive so far, without its end.
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }

 private:
  // The body of an operation, with its Error remembered.
  template <typename Operation>
  Status remember(Operation operation);
  Status write_headers(const ShardEntry& entry, std::uint64_t member_bytes, const Context& context);
  Status write(std::span<const std::byte> bytes, const Context& context);
  Status write_from(ObjectReader& source, const Context& context);
  Status write_padding(std::uint64_t member_bytes, const Context& context);
  Status flush(const Context& context);

  std::unique_ptr<ObjectWriter> target_;
  std::optional<Error> failure_;
  bool source_failed_ = false;
  std::vector<std::byte> buffer_;
  std::size_t buffer_fill_ = 0;
  std::uint64_t size_bytes_ = 0;
};

// kInvalidArgument for a name that a tar cannot hold as a file: empty, with a NUL, ending in '/'.
Status check_member_name(std::string_view name);

// What a ShardWriter adds to the archive for one member, headers and padding included.
std::uint64_t shard_member_bytes(std::string_view name, std::uint64_t size_bytes);
// The two blocks that end an archive.
inline constexpr std::uint64_t kShardEndBytes = 1024;

}  // namespace leat
