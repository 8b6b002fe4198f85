// FrameReader: the framed answer to a batch (wire/batch.h), as the results of its reads.
//
// The stream is not trusted: a length beyond what was asked for is refused before anything is
// allocated for it, and memory grows only with bytes that really came. For one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "leat/base/result.h"
#include "leat/store/object_store.h"

namespace leat::leat_driver {

class FrameReader {
 public:
  // Fills all of `target`.
  using Source = std::function<Status(std::span<std::byte> target)>;
  explicit FrameReader(Source source) : source_(std::move(source)) {}

  // kCorrupted when this is no answer for so many items.
  Status begin(std::size_t item_count);
  // Sets the result of `read`, which is the next item's. A failure is one of the stream; the item
  // has no result then.
  Status next(BatchRead& read);

 private:
  Status take_bytes(BatchRead& read, std::uint64_t length);
  Status take_error(BatchRead& read, ErrorCode code, std::uint64_t length);

  const Source source_;
};

}  // namespace leat::leat_driver
