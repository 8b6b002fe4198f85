#include "leat/drivers/null/null_store.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "leat/base/check.h"
#include "leat/base/hash.h"
#include "leat/base/hex.h"
#include "leat/base/random.h"
#include "leat/base/units.h"
#include "leat/store/listing.h"
#include "leat/store/url_query.h"
#include "leat/store/write_guard.h"

namespace leat {
namespace {

// 2020-09-13: an object that is the same everywhere has the same time everywhere.
constexpr std::int64_t kModifiedNs = 1'600'000'000'000'000'000;
constexpr std::size_t kNameDigits = 9;

// The repeated block, kept twice in a row, so that any stretch of its length lies in one piece.
class Pattern {
 public:
  static constexpr std::uint64_t kPeriodBytes = 1 << 20;

  Pattern() : bytes_(2 * kPeriodBytes) {
    Random random(0x6e756c6c);  // "null"
    for (std::size_t at = 0; at < kPeriodBytes; at += sizeof(std::uint64_t)) {
      const std::uint64_t word = random.next();
      for (std::size_t byte = 0; byte < sizeof word; ++byte) {
        bytes_[at + byte] = static_cast<std::byte>(word >> (8 * byte));
      }
    }
    std::copy_n(bytes_.begin(), kPeriodBytes, bytes_.begin() + kPeriodBytes);
  }

  static std::uint64_t start_of(std::string_view name) { return xxh3_64(name) % kPeriodBytes; }

  // At most kPeriodBytes bytes of the object that begins at `start`.
  std::span<const std::byte> piece(std::uint64_t start, std::uint64_t offset,
                                   std::uint64_t length) const {
    const std::uint64_t at = (start + offset % kPeriodBytes) % kPeriodBytes;
    return std::span(bytes_).subspan(at, std::min(length, kPeriodBytes));
  }

  void fill(std::uint64_t start, std::uint64_t offset, std::span<std::byte> target) const {
    while (!target.empty()) {
      const auto source = piece(start, offset, target.size());
      std::memcpy(target.data(), source.data(), source.size());
      target = target.subspan(source.size());
      offset += source.size();
    }
  }

 private:
  std::vector<std::byte> bytes_;
};

struct Counters {
  std::atomic<std::uint64_t> objects{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> removals{0};
};

ObjectInfo make_info(std::string_view name, std::uint64_t size_bytes) {
  ObjectInfo info;
  info.size_bytes = size_bytes;
  info.mtime_ns = kModifiedNs;
  info.etag = to_hex(xxh3_64(name)) + "-" + to_hex(size_bytes);
  return info;
}

std::uint64_t size_of(std::string_view name, std::uint64_t default_bytes) {
  const std::size_t mark = name.find_last_of(",@");
  if (mark == std::string_view::npos) return default_bytes;
  const auto size = parse_size(name.substr(mark + 1));
  return size.ok() ? *size : default_bytes;
}

class Reader final : public ObjectReader {
 public:
  Reader(std::shared_ptr<const Pattern> pattern, std::string_view name, std::uint64_t size_bytes)
      : pattern_(std::move(pattern)),
        start_(Pattern::start_of(name)),
        info_(make_info(name, size_bytes)) {}

  const ObjectInfo& info() const noexcept override { return info_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override {
    RETURN_IF_ERROR(context.check());
    const ByteRange range = ByteRange{offset, target.size()}.within(info_.size_bytes);
    pattern_->fill(start_, range.offset, target.first(range.length));
    return range.length;
  }

 private:
  const std::shared_ptr<const Pattern> pattern_;
  const std::uint64_t start_;
  const ObjectInfo info_;
};

class Writer final : public ObjectWriter {
 public:
  Writer(std::shared_ptr<Counters> counters, std::string_view name, const CreateOptions& options)
      : counters_(std::move(counters)), name_(name), guard_(options.expected_size_bytes) {}

  Status append(std::span<const std::byte> bytes, const Context& context) override {
    return guard_.begin_append(bytes.size(), context);
  }

  Result<ObjectInfo> commit(const CommitOptions& options, const Context& context) override {
    RETURN_IF_ERROR(guard_.begin_commit(context));
    if (!options.etag.empty() || !options.checksums.empty()) {
      return Error(ErrorCode::kUnsupported, "null: keeps neither etags nor checksums");
    }
    counters_->objects.fetch_add(1, std::memory_order_relaxed);
    counters_->bytes.fetch_add(guard_.size_bytes(), std::memory_order_relaxed);
    return make_info(name_, guard_.size_bytes());
  }

 private:
  const std::shared_ptr<Counters> counters_;
  const std::string name_;
  WriteGuard guard_;
};

// The names 000000000 … count-1.
class NumberCursor final : public OrderedCursor {
 public:
  NumberCursor(std::uint64_t count, std::uint64_t size_bytes)
      : count_(count), size_bytes_(size_bytes), number_(count) {}

  Status seek(std::string_view at_or_after) override {
    std::uint64_t low = 0;
    std::uint64_t high = count_;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (write_name(middle) < at_or_after) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    number_ = low;
    if (valid()) write_name(number_);
    return ok_status();
  }
  bool valid() const override { return number_ < count_; }
  std::string_view name() const override { return {name_.data(), name_.size()}; }
  Status next() override {
    if (++number_ < count_) write_name(number_);
    return ok_status();
  }
  Result<ObjectInfo> info() const override { return make_info(name(), size_bytes_); }

 private:
  std::string_view write_name(std::uint64_t number) {
    for (std::size_t digit = kNameDigits; digit-- > 0; number /= 10) {
      name_[digit] = static_cast<char>('0' + number % 10);
    }
    return name();
  }

  const std::uint64_t count_;
  const std::uint64_t size_bytes_;
  std::uint64_t number_;
  std::array<char, kNameDigits> name_ = {};
};

class NullStoreImplementation final : public NullStore {
 public:
  explicit NullStoreImplementation(const NullStoreOptions& options) : options_(options) {}

  std::string_view url() const noexcept override { return "null:"; }

  Capabilities capabilities() const noexcept override {
    Capabilities capabilities;
    capabilities.preconditions = false;
    capabilities.generations = false;
    capabilities.metadata = false;
    capabilities.stores_bytes = false;
    return capabilities;
  }

  NullStoreCounts counts() const noexcept override {
    return {counters_->objects.load(std::memory_order_relaxed),
            counters_->bytes.load(std::memory_order_relaxed),
            counters_->removals.load(std::memory_order_relaxed)};
  }

  Result<ObjectInfo> stat(std::string_view name, const Context& context) override {
    RETURN_IF_ERROR(check_call(name, context));
    return make_info(name, size_of(name, options_.size_bytes));
  }

  Result<ListPage> list(const ListRequest& request, const Context& context) override {
    NumberCursor cursor(options_.count, options_.size_bytes);
    return list_ordered(request, cursor, context);
  }

  Result<std::unique_ptr<ObjectReader>> open(std::string_view name, const OpenOptions& options,
                                             const Context& context) override {
    RETURN_IF_ERROR(check_call(name, context));
    if (options.generation) return Error(ErrorCode::kUnsupported, "null: has no generations");
    std::unique_ptr<ObjectReader> reader =
        std::make_unique<Reader>(pattern_, name, size_of(name, options_.size_bytes));
    return reader;
  }

  Result<std::unique_ptr<ObjectWriter>> create(std::string_view name, const CreateOptions& options,
                                               const Context& context) override {
    RETURN_IF_ERROR(check_call(name, context));
    RETURN_IF_ERROR(refuse(options.precondition));
    if (!options.metadata.empty()) {
      return Error(ErrorCode::kUnsupported, "null: keeps no metadata");
    }
    std::unique_ptr<ObjectWriter> writer = std::make_unique<Writer>(counters_, name, options);
    return writer;
  }

  Status remove(std::string_view name, const RemoveOptions& options,
                const Context& context) override {
    RETURN_IF_ERROR(check_call(name, context));
    RETURN_IF_ERROR(refuse(options.precondition));
    counters_->removals.fetch_add(1, std::memory_order_relaxed);
    return ok_status();
  }

  void read_batch(std::span<BatchRead> reads, const Context& context) override {
    for (BatchRead& read : reads) {
      if (auto status = check_call(read.name, context); !status.ok()) {
        read.result = std::move(status).error();
      } else {
        read.result = slice_of(read);
      }
    }
  }

 private:
  static Status check_call(std::string_view name, const Context& context) {
    RETURN_IF_ERROR(check_name(name));
    return context.check();
  }

  static Status refuse(const Precondition& precondition) {
    if (precondition.kind == Precondition::Kind::kNone) return ok_status();
    return Error(ErrorCode::kUnsupported, "null: checks no preconditions");
  }

  Slice slice_of(const BatchRead& read) const {
    const ByteRange range = read.range.within(size_of(read.name, options_.size_bytes));
    const std::uint64_t start = Pattern::start_of(read.name);
    if (!read.target.empty()) {
      const auto target = read.target.first(std::min(range.length, read.target.size()));
      pattern_->fill(start, range.offset, target);
      return Slice{target, nullptr};
    }
    if (range.length <= Pattern::kPeriodBytes) {
      return Slice{pattern_->piece(start, range.offset, range.length), pattern_};
    }
    auto bytes = std::make_shared<std::vector<std::byte>>(range.length);
    pattern_->fill(start, range.offset, *bytes);
    const std::span<const std::byte> view(*bytes);
    return Slice{view, std::move(bytes)};
  }

  const NullStoreOptions options_;
  const std::shared_ptr<const Pattern> pattern_ = std::make_shared<Pattern>();
  const std::shared_ptr<Counters> counters_ = std::make_shared<Counters>();
};

Result<NullStoreOptions> parse_options(const Url& url) {
  RETURN_IF_ERROR(check_query_keys(url, {"size", "count"}));
  NullStoreOptions options;
  if (const auto size = url.query.find("size"); size != url.query.end()) {
    ASSIGN_OR_RETURN(options.size_bytes, parse_size(size->second));
  }
  if (const auto count = url.query.find("count"); count != url.query.end()) {
    // The grammar of sizes reads numbers, too: count=1M.
    ASSIGN_OR_RETURN(options.count, parse_size(count->second));
    if (options.count > kMaxNullStoreCount) {
      return Error(ErrorCode::kInvalidArgument,
                   "null: lists at most " + std::to_string(kMaxNullStoreCount) + " names");
    }
  }
  return options;
}

}  // namespace

std::shared_ptr<NullStore> make_null_store(const NullStoreOptions& options) {
  CHECK(options.count <= kMaxNullStoreCount);
  return std::make_shared<NullStoreImplementation>(options);
}

void register_null(Registry& registry) {
  registry.add("null", [](const Url& url, IfMissing) -> Result<StoreLocation> {
    ASSIGN_OR_RETURN(const NullStoreOptions options, parse_options(url));
    ASSIGN_OR_RETURN(std::string name, percent_decode(url.path));
    return StoreLocation{make_null_store(options), std::move(name)};
  });
}

}  // namespace leat
