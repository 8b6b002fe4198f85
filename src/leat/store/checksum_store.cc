#include "leat/store/checksum_store.h"

#include <string>
#include <utility>
#include <vector>

#include "leat/base/hash.h"
#include "leat/base/hex.h"
#include "leat/base/mutex.h"

namespace leat {
namespace {

// In Metadata::checksums, which holds those beyond crc32c, so that no caller uses it.
constexpr const char* kChecksumKey = "crc32c";

// Moves our checksum from the metadata to where callers expect it.
ObjectInfo unwrapped(ObjectInfo info) {
  if (info.metadata == nullptr) return info;
  const auto found = info.metadata->checksums.find(kChecksumKey);
  if (found == info.metadata->checksums.end()) return info;
  // Ours is the older witness: the store may have been given damaged bytes already.
  if (const auto kept = parse_hex_u32(found->second); kept.ok()) info.crc32c = *kept;
  auto rest = std::make_shared<Metadata>(*info.metadata);
  rest->checksums.erase(kChecksumKey);
  info.metadata = rest->empty() ? nullptr : std::move(rest);
  return info;
}

Error mismatch(std::string_view name, std::uint32_t expected, std::uint32_t found) {
  return Error(ErrorCode::kCorrupted, "object " + std::string(name) + " should have crc32c " +
                                          to_hex(expected) + " and has " + to_hex(found));
}

}  // namespace

class ChecksumStore::Reader final : public ForwardingReader {
 public:
  Reader(std::unique_ptr<ObjectReader> target, std::string_view name)
      : ForwardingReader(std::move(target)),
        name_(name),
        info_(unwrapped(ForwardingReader::info())) {}

  const ObjectInfo& info() const noexcept override { return info_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override {
    ASSIGN_OR_RETURN(const auto count, ForwardingReader::read_at(offset, target, context));
    if (!info_.crc32c || !continues(offset)) return count;
    RETURN_IF_ERROR(check(offset, crc32c(0, target.first(count)), count));
    return count;
  }

 private:
  // Whether the bytes from `offset` on extend what is known, or start anew.
  bool continues(std::uint64_t offset) {
    const MutexLock lock(mutex_);
    return offset == 0 || offset == known_bytes_;
  }

  Status check(std::uint64_t offset, std::uint32_t crc, std::size_t count) {
    const MutexLock lock(mutex_);
    if (offset == 0) {
      known_crc_ = crc;
    } else if (offset == known_bytes_) {
      known_crc_ = crc32c_combine(known_crc_, crc, count);
    } else {
      return ok_status();  // another thread was faster
    }
    known_bytes_ = offset + count;
    if (known_bytes_ != info_.size_bytes || known_crc_ == *info_.crc32c) return ok_status();
    return mismatch(name_, *info_.crc32c, known_crc_);
  }

  const std::string name_;
  const ObjectInfo info_;
  Mutex mutex_;
  std::uint64_t known_bytes_ GUARDED_BY(mutex_) = 0;  // from the first on
  std::uint32_t known_crc_ GUARDED_BY(mutex_) = 0;
};

class ChecksumStore::Writer final : public ForwardingWriter {
 public:
  Writer(std::unique_ptr<ObjectWriter> target, std::string_view name, KeepChecksum keep)
      : ForwardingWriter(std::move(target)), name_(name), keep_(keep) {}

  Status append(std::span<const std::byte> bytes, const Context& context) override {
    RETURN_IF_ERROR(ForwardingWriter::append(bytes, context));
    crc_ = crc32c(crc_, bytes);
    return ok_status();
  }

  Result<ObjectInfo> commit(const CommitOptions& options, const Context& context) override {
    CommitOptions extended = options;
    if (keep_ == KeepChecksum::kInMetadata) extended.checksums[kChecksumKey] = to_hex(crc_);
    ASSIGN_OR_RETURN(auto committed, ForwardingWriter::commit(extended, context));
    ObjectInfo info = unwrapped(std::move(committed));
    if (info.crc32c && *info.crc32c != crc_) return mismatch(name_, crc_, *info.crc32c);
    return info;
  }

 private:
  const std::string name_;
  const KeepChecksum keep_;
  std::uint32_t crc_ = 0;
};

ChecksumStore::ChecksumStore(std::shared_ptr<ObjectStore> target, KeepChecksum keep)
    : ForwardingStore(std::move(target)),
      keep_(ForwardingStore::capabilities().metadata ? keep : KeepChecksum::kNowhere) {}

Result<ObjectInfo> ChecksumStore::stat(std::string_view name, const Context& context) {
  ASSIGN_OR_RETURN(auto info, ForwardingStore::stat(name, context));
  return unwrapped(std::move(info));
}

Result<ListPage> ChecksumStore::list(const ListRequest& request, const Context& context) {
  ASSIGN_OR_RETURN(auto page, ForwardingStore::list(request, context));
  for (ListPage::Entry& entry : page.entries) entry.info = unwrapped(std::move(entry.info));
  return page;
}

Result<std::unique_ptr<ObjectReader>> ChecksumStore::open(std::string_view name,
                                                          const OpenOptions& options,
                                                          const Context& context) {
  ASSIGN_OR_RETURN(auto target, ForwardingStore::open(name, options, context));
  std::unique_ptr<ObjectReader> reader = std::make_unique<Reader>(std::move(target), name);
  return reader;
}

Result<std::unique_ptr<ObjectWriter>> ChecksumStore::create(std::string_view name,
                                                            const CreateOptions& options,
                                                            const Context& context) {
  ASSIGN_OR_RETURN(auto target, ForwardingStore::create(name, options, context));
  std::unique_ptr<ObjectWriter> writer = std::make_unique<Writer>(std::move(target), name, keep_);
  return writer;
}

void ChecksumStore::read_batch(std::span<BatchRead> reads, const Context& context) {
  std::vector<BatchRead> ranged;
  std::vector<std::size_t> places;
  for (std::size_t index = 0; index < reads.size(); ++index) {
    if (reads[index].range == ByteRange{}) {
      ObjectStore::read_batch(reads.subspan(index, 1), context);  // by our open()
    } else {
      ranged.push_back(reads[index]);
      places.push_back(index);
    }
  }
  ForwardingStore::read_batch(ranged, context);
  for (std::size_t index = 0; index < ranged.size(); ++index) {
    reads[places[index]].result = std::move(ranged[index].result);
  }
}

Result<ObjectInfo> ChecksumStore::copy(std::string_view source, std::string_view target,
                                       const CreateOptions& options, const Context& context) {
  // With metadata of its own, the copy would lose our checksum: read and write it instead.
  if (keep_ == KeepChecksum::kInMetadata && !options.metadata.empty()) {
    return ObjectStore::copy(source, target, options, context);
  }
  ASSIGN_OR_RETURN(auto info, ForwardingStore::copy(source, target, options, context));
  return unwrapped(std::move(info));
}

}  // namespace leat
