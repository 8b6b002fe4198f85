// ChecksumStore: notices when a store gives back other bytes than it was given.
//
// An object's crc32c is what its store says (ObjectInfo::crc32c) or, with
// KeepChecksum::kInMetadata, what this decorator wrote into the object's metadata when it was
// committed, under a key that callers do not see. It is compared when an object was read as a
// whole: by read_at() calls that follow each other from the first byte to the last, and by items of
// read_batch() without a range. A difference is kCorrupted, naming the object and both values, from
// the call that brought the last byte; the bytes before it have been handed out by then. Ranges and
// local extents cannot be checked, and are not.
//
// A whole item of a batch is opened and read by itself: only an open object's checksum is sure to
// belong to its bytes. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "leat/store/forwarding.h"

namespace leat {

// For stores that say no crc32c of their own. Needs Capabilities::metadata; without it, objects
// without a checksum stay unchecked.
enum class KeepChecksum : std::uint8_t { kNowhere, kInMetadata };

class ChecksumStore final : public ForwardingStore {
 public:
  ChecksumStore(std::shared_ptr<ObjectStore> target, KeepChecksum keep);

  Result<ObjectInfo> stat(std::string_view name, const Context& context) override;
  Result<ListPage> list(const ListRequest& request, const Context& context) override;
  Result<std::unique_ptr<ObjectReader>> open(std::string_view name, const OpenOptions& options,
                                             const Context& context) override;
  Result<std::unique_ptr<ObjectWriter>> create(std::string_view name, const CreateOptions& options,
                                               const Context& context) override;
  void read_batch(std::span<BatchRead> reads, const Context& context) override;
  Result<ObjectInfo> copy(std::string_view source, std::string_view target,
                          const CreateOptions& options, const Context& context) override;

 private:
  class Reader;
  class Writer;

  const KeepChecksum keep_;
};

}  // namespace leat
