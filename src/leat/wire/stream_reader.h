// StreamReader: an object that a server is sending, as a reader.
//
// A small object is taken as a whole when it is opened. Of a large one the answer that began then
// is kept, for those who read on from where the last read ended; it is of one version whatever
// happens to the name. Reads elsewhere are requests of their own, which the driver makes. Safe for
// concurrent use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "leat/base/context.h"
#include "leat/base/mutex.h"
#include "leat/base/result.h"
#include "leat/http/client.h"
#include "leat/store/object_store.h"

namespace leat::wire {

class StreamReader final : public ObjectReader {
 public:
  // Fills `target` from `offset` on, from the same version; kNotFound when it is gone.
  using RangeRead = std::function<Status(std::uint64_t offset, std::span<std::byte> target,
                                         const Context& context)>;

  // An answer whose body is the object. kUnavailable when it ends too early: ask again.
  static Result<std::unique_ptr<ObjectReader>> open(std::shared_ptr<http::Client> client,
                                                    std::unique_ptr<http::ClientConnection> answer,
                                                    ObjectInfo info, RangeRead read_range,
                                                    const Context& context);

  const ObjectInfo& info() const noexcept override { return info_; }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override EXCLUDES(mutex_);

 private:
  struct Stream {
    std::unique_ptr<http::ClientConnection> answer;
    std::uint64_t position = 0;
  };
  enum class Place : std::uint8_t { kExact, kBefore };

  StreamReader(std::shared_ptr<http::Client> client, ObjectInfo info, RangeRead read_range)
      : client_(std::move(client)), info_(std::move(info)), read_range_(std::move(read_range)) {}
  Stream take_stream(std::uint64_t offset, Place place) EXCLUDES(mutex_);
  Status read_on(Stream stream, std::span<std::byte> target, const Context& context)
      EXCLUDES(mutex_);

  const std::shared_ptr<http::Client> client_;
  const ObjectInfo info_;
  const RangeRead read_range_;
  Mutex mutex_;
  Stream stream_ GUARDED_BY(mutex_);  // empty while somebody reads on
};

// Reads `count` bytes of a body and drops them.
Status skip_bytes(http::ClientConnection& answer, std::uint64_t count, const Context& context);

}  // namespace leat::wire
