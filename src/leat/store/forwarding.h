// ForwardingStore, ForwardingReader, ForwardingWriter: what a decorator derives from.
//
// Each hands every call on to its target, unchanged; a decorator overrides the calls that it has
// something to say about and stays right when the interface grows. As thread-safe as the target.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "leat/store/object_store.h"

namespace leat {

class ForwardingReader : public ObjectReader {
 public:
  explicit ForwardingReader(std::unique_ptr<ObjectReader> target) : target_(std::move(target)) {}

  const ObjectInfo& info() const noexcept override;
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override;
  Result<std::vector<LocalExtent>> local_extents(ByteRange range, const Context& context) override;

 private:
  const std::unique_ptr<ObjectReader> target_;
};

class ForwardingWriter : public ObjectWriter {
 public:
  explicit ForwardingWriter(std::unique_ptr<ObjectWriter> target) : target_(std::move(target)) {}

  Status append(std::span<const std::byte> bytes, const Context& context) override;
  Result<ObjectInfo> commit(const CommitOptions& options, const Context& context) override;

 private:
  const std::unique_ptr<ObjectWriter> target_;
};

class ForwardingStore : public ObjectStore {
 public:
  explicit ForwardingStore(std::shared_ptr<ObjectStore> target) : target_(std::move(target)) {}

  std::string_view url() const noexcept override;
  Capabilities capabilities() const noexcept override;
  std::vector<std::string> directories(std::string_view prefix) const override;
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
  const std::shared_ptr<ObjectStore> target_;
};

}  // namespace leat
