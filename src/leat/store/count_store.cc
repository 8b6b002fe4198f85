#include "leat/store/count_store.h"

#include <utility>

namespace leat {

class CountStore::Reader final : public ForwardingReader {
 public:
  Reader(std::unique_ptr<ObjectReader> target, std::shared_ptr<Counters> counters)
      : ForwardingReader(std::move(target)), counters_(std::move(counters)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override {
    auto count = ForwardingReader::read_at(offset, target, context);
    counters_->add_call(StoreOperation::kRead, count, count.ok() ? *count : 0);
    return count;
  }

  Result<std::vector<LocalExtent>> local_extents(ByteRange range, const Context& context) override {
    auto extents = ForwardingReader::local_extents(range, context);
    counters_->add_call(StoreOperation::kLocalExtents, extents);
    return extents;
  }

 private:
  const std::shared_ptr<Counters> counters_;
};

class CountStore::Writer final : public ForwardingWriter {
 public:
  Writer(std::unique_ptr<ObjectWriter> target, std::shared_ptr<Counters> counters)
      : ForwardingWriter(std::move(target)), counters_(std::move(counters)) {}

  Status append(std::span<const std::byte> bytes, const Context& context) override {
    auto status = ForwardingWriter::append(bytes, context);
    counters_->add_call(StoreOperation::kAppend, status, bytes.size());
    return status;
  }

  Result<ObjectInfo> commit(const CommitOptions& options, const Context& context) override {
    auto info = ForwardingWriter::commit(options, context);
    counters_->add_call(StoreOperation::kCommit, info);
    return info;
  }

 private:
  const std::shared_ptr<Counters> counters_;
};

void CountStore::Counters::add(StoreOperation operation, const OperationCounts& counts) noexcept {
  Atomics& atomics = operations_[static_cast<std::size_t>(operation)];
  atomics.calls.fetch_add(counts.calls, std::memory_order_relaxed);
  if (counts.errors != 0) atomics.errors.fetch_add(counts.errors, std::memory_order_relaxed);
  if (counts.bytes != 0) atomics.bytes.fetch_add(counts.bytes, std::memory_order_relaxed);
}

StoreCounts CountStore::Counters::read() const noexcept {
  StoreCounts counts;
  for (std::size_t index = 0; index < kStoreOperationCount; ++index) {
    const Atomics& atomics = operations_[index];
    counts.operations[index] = {atomics.calls.load(std::memory_order_relaxed),
                                atomics.errors.load(std::memory_order_relaxed),
                                atomics.bytes.load(std::memory_order_relaxed)};
  }
  return counts;
}

CountStore::CountStore(std::shared_ptr<ObjectStore> target)
    : ForwardingStore(std::move(target)), counters_(std::make_shared<Counters>()) {}

StoreCounts CountStore::counts() const noexcept {
  return counters_->read();
}

Result<ObjectInfo> CountStore::stat(std::string_view name, const Context& context) {
  auto info = ForwardingStore::stat(name, context);
  counters_->add_call(StoreOperation::kStat, info);
  return info;
}

Result<ListPage> CountStore::list(const ListRequest& request, const Context& context) {
  auto page = ForwardingStore::list(request, context);
  counters_->add_call(StoreOperation::kList, page);
  return page;
}

Result<std::unique_ptr<ObjectReader>> CountStore::open(std::string_view name,
                                                       const OpenOptions& options,
                                                       const Context& context) {
  auto target = ForwardingStore::open(name, options, context);
  counters_->add_call(StoreOperation::kOpen, target);
  if (!target.ok()) return target;
  std::unique_ptr<ObjectReader> reader = std::make_unique<Reader>(*std::move(target), counters_);
  return reader;
}

Result<std::unique_ptr<ObjectWriter>> CountStore::create(std::string_view name,
                                                         const CreateOptions& options,
                                                         const Context& context) {
  auto target = ForwardingStore::create(name, options, context);
  counters_->add_call(StoreOperation::kCreate, target);
  if (!target.ok()) return target;
  std::unique_ptr<ObjectWriter> writer = std::make_unique<Writer>(*std::move(target), counters_);
  return writer;
}

Status CountStore::remove(std::string_view name, const RemoveOptions& options,
                          const Context& context) {
  auto status = ForwardingStore::remove(name, options, context);
  counters_->add_call(StoreOperation::kRemove, status);
  return status;
}

void CountStore::read_batch(std::span<BatchRead> reads, const Context& context) {
  ForwardingStore::read_batch(reads, context);
  OperationCounts items;
  items.calls = reads.size();
  for (const BatchRead& read : reads) {
    if (read.result.ok()) {
      items.bytes += read.result->bytes.size();
    } else {
      ++items.errors;
    }
  }
  counters_->add(StoreOperation::kReadBatch, {1, items.errors == 0 ? 0u : 1u, items.bytes});
  counters_->add(StoreOperation::kBatchItem, items);
}

Result<ObjectInfo> CountStore::copy(std::string_view source, std::string_view target,
                                    const CreateOptions& options, const Context& context) {
  auto info = ForwardingStore::copy(source, target, options, context);
  counters_->add_call(StoreOperation::kCopy, info, info.ok() ? info->size_bytes : 0);
  return info;
}

}  // namespace leat
