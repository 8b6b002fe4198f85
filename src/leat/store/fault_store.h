// FaultStore: a store that fails when it is told to, for tests of everything that stands on one.
//
// A rule says which calls it looks at (by operation, by name) and which of those go wrong: the n-th
// and some that follow, or each with a probability from a seeded generator. The first rule that
// applies decides. To fail every call of a workload in turn, run it with the rule
// {.first_call = n} for n = 1, 2, … until faults() stays 0.
//
// The wrong answer is an error before the call is made; an error although it was made, as when the
// connection is lost before the answer; or, of a read, fewer bytes than there are. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "leat/store/forwarding.h"
#include "leat/store/operation.h"

namespace leat {

struct FaultRule {
  enum class Effect : std::uint8_t {
    kFail,       // the call is not made
    kFailAfter,  // the call is made, its answer lost
    kTruncate,   // kRead and kBatchItem only: half of the bytes, and no error
  };

  std::optional<StoreOperation> operation = {};                // every operation when not given
  std::function<bool(std::string_view name)> applies_to = {};  // every name when empty
  std::uint64_t first_call = 1;  // of the calls that the rule looks at, from 1
  std::uint64_t calls = 1;       // how many of them go wrong
  double probability = 1.0;      // with which each of them does
  Effect effect = Effect::kFail;
  ErrorCode code = ErrorCode::kIoError;
};
inline constexpr std::uint64_t kEveryCall = UINT64_MAX;

class FaultStore final : public ForwardingStore {
 public:
  // A list has its prefix as name, a copy its target.
  FaultStore(std::shared_ptr<ObjectStore> target, std::vector<FaultRule> rules,
             std::uint64_t seed = 0);
  ~FaultStore() override;

  // Calls that went wrong so far.
  std::uint64_t faults() const;

  Result<ObjectInfo> stat(std::string_view name, const Context& context) override;
  Result<ListPage> list(const ListRequest& request, const Context& context) override;
  Result<std::unique_ptr<ObjectReader>> open(std::string_view name, const OpenOptions& options,
                                             const Context& context) override;
  Result<std::unique_ptr<ObjectWriter>> create(std::string_view name, const CreateOptions& options,
                                               const Context& context) override;
  Status remove(std::string_view name, const RemoveOptions& options,
                const Context& context) override;
  // A fault of kReadBatch fails all items, one of kBatchItem its own.
  void read_batch(std::span<BatchRead> reads, const Context& context) override;
  Result<ObjectInfo> copy(std::string_view source, std::string_view target,
                          const CreateOptions& options, const Context& context) override;

 private:
  class Plan;
  class Reader;
  class Writer;

  // Shared with readers and writers, which may outlive the store.
  const std::shared_ptr<Plan> plan_;
};

}  // namespace leat
