#include "leat/store/forwarding.h"

namespace leat {

const ObjectInfo& ForwardingReader::info() const noexcept {
  return target_->info();
}

Result<std::size_t> ForwardingReader::read_at(std::uint64_t offset, std::span<std::byte> target,
                                              const Context& context) {
  return target_->read_at(offset, target, context);
}

Result<std::vector<LocalExtent>> ForwardingReader::local_extents(ByteRange range,
                                                                 const Context& context) {
  return target_->local_extents(range, context);
}

Status ForwardingWriter::append(std::span<const std::byte> bytes, const Context& context) {
  return target_->append(bytes, context);
}

Result<ObjectInfo> ForwardingWriter::commit(const CommitOptions& options, const Context& context) {
  return target_->commit(options, context);
}

std::string_view ForwardingStore::url() const noexcept {
  return target_->url();
}

Capabilities ForwardingStore::capabilities() const noexcept {
  return target_->capabilities();
}

Result<ObjectInfo> ForwardingStore::stat(std::string_view name, const Context& context) {
  return target_->stat(name, context);
}

std::vector<std::string> ForwardingStore::directories(std::string_view prefix) const {
  return target_->directories(prefix);
}

Result<ListPage> ForwardingStore::list(const ListRequest& request, const Context& context) {
  return target_->list(request, context);
}

Result<std::unique_ptr<ObjectReader>> ForwardingStore::open(std::string_view name,
                                                            const OpenOptions& options,
                                                            const Context& context) {
  return target_->open(name, options, context);
}

Result<std::unique_ptr<ObjectWriter>> ForwardingStore::create(std::string_view name,
                                                              const CreateOptions& options,
                                                              const Context& context) {
  return target_->create(name, options, context);
}

Status ForwardingStore::remove(std::string_view name, const RemoveOptions& options,
                               const Context& context) {
  return target_->remove(name, options, context);
}

void ForwardingStore::read_batch(std::span<BatchRead> reads, const Context& context) {
  target_->read_batch(reads, context);
}

Result<ObjectInfo> ForwardingStore::copy(std::string_view source, std::string_view target,
                                         const CreateOptions& options, const Context& context) {
  return target_->copy(source, target, options, context);
}

}  // namespace leat
