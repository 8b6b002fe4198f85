// WriteGuard: what every ObjectWriter must check besides writing bytes.
//
// It counts the bytes, insists on the expected size, and refuses what follows a commit or a failed
// append, so that each store's writer is left with its own work. A call that the Context stopped
// before it began changes nothing and may be made again. Like its writer, for one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "leat/base/context.h"
#include "leat/base/result.h"

namespace leat {

class WriteGuard {
 public:
  explicit WriteGuard(std::optional<std::uint64_t> expected_size_bytes)
      : expected_size_bytes_(expected_size_bytes) {}

  // Called at the start of append() and commit(); the caller goes on only when ok.
  Status begin_append(std::size_t count, const Context& context);
  Status begin_commit(const Context& context);

  // After an append that wrote a part only: nothing can be committed any more.
  void mark_broken() noexcept { state_ = State::kBroken; }

  // Bytes of all appends that began.
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }

 private:
  enum class State : std::uint8_t { kOpen, kBroken, kEnded };

  Status check_open(const Context& context) const;

  const std::optional<std::uint64_t> expected_size_bytes_;
  std::uint64_t size_bytes_ = 0;
  State state_ = State::kOpen;
};

}  // namespace leat
