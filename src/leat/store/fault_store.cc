#include "leat/store/fault_store.h"

#include <string>
#include <utility>

#include "leat/base/mutex.h"
#include "leat/base/random.h"

namespace leat {

class FaultStore::Plan {
 public:
  Plan(std::vector<FaultRule> rules, std::uint64_t seed) : random_(seed) {
    for (FaultRule& rule : rules) rules_.push_back({std::move(rule), 0});
  }

  struct Fault {
    FaultRule::Effect effect = FaultRule::Effect::kFail;
    Error error = Error(ErrorCode::kIoError);
  };

  // What goes wrong with this call, if anything.
  std::optional<Fault> next(StoreOperation operation, std::string_view name) {
    const MutexLock lock(mutex_);
    std::optional<Fault> fault;
    for (CountedRule& counted : rules_) {
      const FaultRule& rule = counted.rule;
      if (rule.operation && *rule.operation != operation) continue;
      if (rule.applies_to && !rule.applies_to(name)) continue;
      // Every rule counts, also when an earlier one decides.
      const std::uint64_t number = ++counted.seen;
      if (fault || number < rule.first_call || number - rule.first_call >= rule.calls) continue;
      if (rule.probability < 1.0 && random_.unit() >= rule.probability) continue;
      fault = Fault{rule.effect,
                    Error(rule.code, "injected fault of " + std::string(operation_name(operation)) +
                                         " " + std::string(name))};
    }
    faults_ += fault ? 1 : 0;
    return fault;
  }

  std::uint64_t faults() const {
    const MutexLock lock(mutex_);
    return faults_;
  }

  // Makes the call unless the plan says otherwise.
  template <typename Call>
  auto run(StoreOperation operation, std::string_view name, Call call) -> decltype(call()) {
    auto fault = next(operation, name);
    if (fault && fault->effect == FaultRule::Effect::kFail) return std::move(fault->error);
    auto result = call();
    if (fault && fault->effect == FaultRule::Effect::kFailAfter) return std::move(fault->error);
    return result;
  }

 private:
  struct CountedRule {
    FaultRule rule;
    std::uint64_t seen = 0;
  };

  mutable Mutex mutex_;
  std::vector<CountedRule> rules_ GUARDED_BY(mutex_);
  Random random_ GUARDED_BY(mutex_);
  std::uint64_t faults_ GUARDED_BY(mutex_) = 0;
};

class FaultStore::Reader final : public ForwardingReader {
 public:
  Reader(std::unique_ptr<ObjectReader> target, std::shared_ptr<Plan> plan, std::string_view name)
      : ForwardingReader(std::move(target)), plan_(std::move(plan)), name_(name) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override {
    auto fault = plan_->next(StoreOperation::kRead, name_);
    if (fault && fault->effect == FaultRule::Effect::kFail) return std::move(fault->error);
    auto count = ForwardingReader::read_at(offset, target, context);
    if (!fault || !count.ok()) return count;
    if (fault->effect == FaultRule::Effect::kFailAfter) return std::move(fault->error);
    return *count / 2;
  }

  Result<std::vector<LocalExtent>> local_extents(ByteRange range, const Context& context) override {
    return plan_->run(StoreOperation::kLocalExtents, name_,
                      [&] { return ForwardingReader::local_extents(range, context); });
  }

 private:
  const std::shared_ptr<Plan> plan_;
  const std::string name_;
};

class FaultStore::Writer final : public ForwardingWriter {
 public:
  Writer(std::unique_ptr<ObjectWriter> target, std::shared_ptr<Plan> plan, std::string_view name)
      : ForwardingWriter(std::move(target)), plan_(std::move(plan)), name_(name) {}

  Status append(std::span<const std::byte> bytes, const Context& context) override {
    return plan_->run(StoreOperation::kAppend, name_,
                      [&] { return ForwardingWriter::append(bytes, context); });
  }

  Result<ObjectInfo> commit(const CommitOptions& options, const Context& context) override {
    return plan_->run(StoreOperation::kCommit, name_,
                      [&] { return ForwardingWriter::commit(options, context); });
  }

 private:
  const std::shared_ptr<Plan> plan_;
  const std::string name_;
};

FaultStore::FaultStore(std::shared_ptr<ObjectStore> target, std::vector<FaultRule> rules,
                       std::uint64_t seed)
    : ForwardingStore(std::move(target)), plan_(std::make_shared<Plan>(std::move(rules), seed)) {}

FaultStore::~FaultStore() = default;

std::uint64_t FaultStore::faults() const {
  return plan_->faults();
}

Result<ObjectInfo> FaultStore::stat(std::string_view name, const Context& context) {
  return plan_->run(StoreOperation::kStat, name,
                    [&] { return ForwardingStore::stat(name, context); });
}

Result<ListPage> FaultStore::list(const ListRequest& request, const Context& context) {
  return plan_->run(StoreOperation::kList, request.prefix,
                    [&] { return ForwardingStore::list(request, context); });
}

Result<std::unique_ptr<ObjectReader>> FaultStore::open(std::string_view name,
                                                       const OpenOptions& options,
                                                       const Context& context) {
  auto target = plan_->run(StoreOperation::kOpen, name,
                           [&] { return ForwardingStore::open(name, options, context); });
  if (!target.ok()) return target;
  std::unique_ptr<ObjectReader> reader = std::make_unique<Reader>(*std::move(target), plan_, name);
  return reader;
}

Result<std::unique_ptr<ObjectWriter>> FaultStore::create(std::string_view name,
                                                         const CreateOptions& options,
                                                         const Context& context) {
  auto target = plan_->run(StoreOperation::kCreate, name,
                           [&] { return ForwardingStore::create(name, options, context); });
  if (!target.ok()) return target;
  std::unique_ptr<ObjectWriter> writer = std::make_unique<Writer>(*std::move(target), plan_, name);
  return writer;
}

Status FaultStore::remove(std::string_view name, const RemoveOptions& options,
                          const Context& context) {
  return plan_->run(StoreOperation::kRemove, name,
                    [&] { return ForwardingStore::remove(name, options, context); });
}

void FaultStore::read_batch(std::span<BatchRead> reads, const Context& context) {
  const auto whole = plan_->next(StoreOperation::kReadBatch, {});
  if (!whole || whole->effect != FaultRule::Effect::kFail) {
    ForwardingStore::read_batch(reads, context);
  }
  for (BatchRead& read : reads) {
    auto fault = plan_->next(StoreOperation::kBatchItem, read.name);
    if (whole && whole->effect != FaultRule::Effect::kTruncate) {
      read.result = whole->error;
    } else if (fault && fault->effect != FaultRule::Effect::kTruncate) {
      read.result = std::move(fault->error);
    } else if (fault && read.result.ok()) {
      read.result->bytes = read.result->bytes.first(read.result->bytes.size() / 2);
    }
  }
}

Result<ObjectInfo> FaultStore::copy(std::string_view source, std::string_view target,
                                    const CreateOptions& options, const Context& context) {
  return plan_->run(StoreOperation::kCopy, target,
                    [&] { return ForwardingStore::copy(source, target, options, context); });
}

}  // namespace leat
