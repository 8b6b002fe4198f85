// CountStore: how often each operation of a store was called, how many bytes it moved, how often
// it failed.
//
// For metrics, and for tests that care how a result was reached ("one read, not two"). Every
// failure counts as an error, a normal miss too. Bytes are those that were read or appended; a copy
// counts the size of its object. Costs a few relaxed atomic additions a call. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "leat/store/forwarding.h"
#include "leat/store/operation.h"

namespace leat {

struct OperationCounts {
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;
  std::uint64_t bytes = 0;
  bool operator==(const OperationCounts&) const = default;
};

struct StoreCounts {
  std::array<OperationCounts, kStoreOperationCount> operations;

  const OperationCounts& operator[](StoreOperation operation) const {
    return operations[static_cast<std::size_t>(operation)];
  }
};

class CountStore final : public ForwardingStore {
 public:
  explicit CountStore(std::shared_ptr<ObjectStore> target);

  // Each number is exact; numbers of operations under way may not fit together.
  StoreCounts counts() const noexcept;

  Result<ObjectInfo> stat(std::string_view name, const Context& context) override;
  Result<ListPage> list(const ListRequest& request, const Context& context) override;
  Result<std::unique_ptr<ObjectReader>> open(std::string_view name, const OpenOptions& options,
                                             const Context& context) override;
  Result<std::unique_ptr<ObjectWriter>> create(std::string_view name, const CreateOptions& options,
                                               const Context& context) override;
  Status remove(std::string_view name, const RemoveOptions& options,
                const Context& context) override;
  void read_batch(std::span<BatchRead> reads, const Context& context) override;
  Result<ObjectInfo> copy(std::string_view source, std::string_view target,
                          const CreateOptions& options, const Context& context) override;

 private:
  class Reader;
  class Writer;

  class Counters {
   public:
    void add(StoreOperation operation, const OperationCounts& counts) noexcept;
    // One call that ended with `result` and, if it succeeded, moved `bytes`.
    template <typename T>
    void add_call(StoreOperation operation, const Result<T>& result, std::uint64_t bytes = 0) {
      const bool ok = result.ok();
      add(operation, {1, ok ? 0u : 1u, ok ? bytes : 0u});
    }
    StoreCounts read() const noexcept;

   private:
    struct Atomics {
      std::atomic<std::uint64_t> calls{0};
      std::atomic<std::uint64_t> errors{0};
      std::atomic<std::uint64_t> bytes{0};
    };
    std::array<Atomics, kStoreOperationCount> operations_;
  };

  // Shared with readers and writers, which may outlive the store.
  const std::shared_ptr<Counters> counters_;
};

}  // namespace leat
