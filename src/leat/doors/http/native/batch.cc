// batch: many objects or parts of them in one answer, in the order asked for.
//
// Items are read in groups, each by one read_batch() a bucket: a small one first, so that the
// answer begins soon, then larger ones, as many as fit a bound of memory. What is larger than
// kInlineBytes is streamed on its own.
#include <fmt/format.h>

#include <algorithm>

#include "leat/doors/http/native/batch_encoder.h"
#include "leat/doors/http/native/batch_request.h"
#include "leat/doors/http/native/operation.h"

namespace leat::doors::http::native {
namespace {

// On the event loop, and, where items may be large, on the pool.
constexpr std::size_t kNowItems = 64;
constexpr std::size_t kFirstGroupItems = 16;
// Of all lists that a server holds at a time.
constexpr std::uint64_t kMostListBytes = 256 << 20;
// Objects are this long at most when a group is read on the event loop.
constexpr std::size_t kNowBytes = (4 << 10) + 1;
constexpr std::size_t kLeastGroupItems = 16;
constexpr std::size_t kMostGroupItems = 256;
// A longer list takes a loop too long.
constexpr std::uint64_t kQuickListBytes = 64 << 10;
constexpr std::uint64_t kGroupBytes = 4 << 20;
constexpr std::uint64_t kInlineBytes = 256 << 10;
constexpr std::uint64_t kStreamBytes = 1 << 20;

// A bucket of the batch, and what its reader may see of it. Without a store and an error it was not
// looked for yet.
struct BatchBucket {
  std::shared_ptr<ObjectStore> store;
  std::optional<Error> error;
  bool is_open_as_a_whole = false;
};

class BatchSource final : public BodySource {
 public:
  BatchSource(BatchRequest request, std::string body, std::vector<BatchBucket> buckets,
              Buckets& all_buckets, std::function<bool(const wire::BatchItem&)> allows)
      : body_(std::move(body)),
        request_(std::move(request)),
        buckets_(std::move(buckets)),
        all_buckets_(all_buckets),
        allows_(std::move(allows)),
        encoder_(BatchEncoder::make(request_.format, request_.list)) {}

  std::string_view content_type() const { return encoder_->content_type(); }

  Result<Left> next(std::string& target, const Context& context) override {
    if (!has_begun_) encoder_->begin(target);
    has_begun_ = true;
    if (large_) {
      RETURN_IF_ERROR(stream(target, context));
    } else if (!items().empty()) {
      if (at_ == reads_.size()) {
        RETURN_IF_ERROR(context.check());
        open_buckets();
        read_group(context);
        target.reserve(target.size() + group_bytes_);
      }
      while (at_ < reads_.size() && !large_) add_item(target, context);
    }
    return end_piece(target);
  }

  // A group of small objects that the store has at hand.
  std::optional<Left> next_now(std::string& target) override {
    if (large_ || at_ != reads_.size()) return std::nullopt;
    if (!read_group_now()) return std::nullopt;
    if (!has_begun_) encoder_->begin(target);
    has_begun_ = true;
    for (; at_ < reads_.size(); ++at_) {
      const auto bytes = reads_[at_].result->bytes;
      encoder_->begin_item(target, index(), bytes.size());
      target.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      encoder_->end_item(target, bytes.size());
    }
    return end_piece(target);
  }

 private:
  struct Large {
    std::unique_ptr<ObjectReader> reader;
    ByteRange left;
    std::uint64_t length = 0;
  };

  const std::vector<wire::BatchItem>& items() const { return request_.list.items; }
  std::size_t index() const { return group_end_ - reads_.size() + at_; }

  Left end_piece(std::string& target) {
    const bool has_more = large_ || at_ < reads_.size() || group_end_ < items().size();
    if (has_more) return Left::kMore;
    encoder_->end(target);
    return Left::kNothing;
  }

  // False, and nothing was done, unless all of it is small and need not be waited for.
  bool read_group_now() {
    // Of the thread: a group's bytes are copied from here at once.
    thread_local std::array<std::byte, kNowItems * kNowBytes> space;
    const std::size_t begin = group_end_;
    const std::size_t count = std::min(kNowItems, items().size() - begin);
    if (count == 0) return true;
    const BatchBucket& bucket = buckets_[items()[begin].bucket];
    if (!bucket.store || !bucket.is_open_as_a_whole) return false;
    std::vector<BatchRead> reads(count);
    for (std::size_t i = 0; i < count; ++i) {
      const wire::BatchItem& item = items()[begin + i];
      if (item.bucket != items()[begin].bucket) return false;
      if (!encoder_->check(begin + i).ok()) return false;
      reads[i].name = item.name;
      reads[i].range = item.range;
      reads[i].target = std::span(space).subspan(i * kNowBytes, kNowBytes);
    }
    if (!bucket.store->read_batch_now(reads)) return false;
    // What fills its place may be longer.
    const auto is_cut = [](const BatchRead& read) {
      return read.result->bytes.size() == kNowBytes;
    };
    if (std::any_of(reads.begin(), reads.end(), is_cut)) return false;
    reads_ = std::move(reads);
    at_ = 0;
    group_end_ += count;
    return true;
  }

  // Those that were not at hand when the batch began.
  void open_buckets() {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      BatchBucket& bucket = buckets_[i];
      if (bucket.store || bucket.error) continue;
      auto opened = all_buckets_.open(request_.list.buckets[i]);
      if (opened.ok()) {
        bucket.store = *std::move(opened);
      } else {
        bucket.error = std::move(opened).error();
      }
    }
  }

  void read_group(const Context& context) {
    const std::size_t begin = group_end_;
    const std::size_t count = std::min(next_group_items_, items().size() - begin);
    group_end_ += count;
    at_ = 0;
    reads_.clear();
    reads_.resize(count);
    bool is_uniform = true;
    for (std::size_t i = 0; i < count; ++i) {
      const wire::BatchItem& item = items()[begin + i];
      reads_[i].name = item.name;
      reads_[i].range = {item.range.offset, std::min(item.range.length, kInlineBytes + 1)};
      is_uniform &= item.bucket == items()[begin].bucket;
    }
    const BatchBucket& first = buckets_[items()[begin].bucket];
    if (is_uniform && first.is_open_as_a_whole && !first.error) {
      first.store->read_batch(reads_, context);
    } else {
      for (std::size_t number = 0; number < buckets_.size(); ++number) {
        read_bucket(begin, number, context);
      }
    }
    measure_group();
  }

  // The items of one bucket, whichever may be read.
  void read_bucket(std::size_t begin, std::size_t number, const Context& context) {
    const BatchBucket& bucket = buckets_[number];
    std::vector<BatchRead> chosen;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < reads_.size(); ++i) {
      const wire::BatchItem& item = items()[begin + i];
      if (item.bucket != number) continue;
      if (!bucket.is_open_as_a_whole && !allows_(item)) {
        reads_[i].result = Error(ErrorCode::kPermissionDenied, "this key may not read that");
      } else if (bucket.error) {
        reads_[i].result = *bucket.error;
      } else {
        chosen.push_back(std::move(reads_[i]));
        places.push_back(i);
      }
    }
    if (chosen.empty()) return;
    bucket.store->read_batch(chosen, context);
    for (std::size_t i = 0; i < chosen.size(); ++i) reads_[places[i]] = std::move(chosen[i]);
  }

  // How large the group is as an answer, and so how many items the next one may have.
  void measure_group() {
    std::uint64_t bytes = 0;
    for (const BatchRead& read : reads_) {
      if (read.result.ok())
        bytes += std::min<std::uint64_t>(read.result->bytes.size(), kInlineBytes);
    }
    group_bytes_ = bytes + reads_.size() * encoder_->overhead_bytes() + kShardEndReserve;
    const std::uint64_t average = bytes / reads_.size() + 1;
    next_group_items_ = static_cast<std::size_t>(
        std::clamp<std::uint64_t>(kGroupBytes / average, kLeastGroupItems, kMostGroupItems));
  }

  void add_item(std::string& piece, const Context& context) {
    BatchRead& read = reads_[at_];
    const Status fits = read.result.ok() ? encoder_->check(index()) : ok_status();
    if (!fits.ok()) {
      encoder_->add_error(piece, index(), fits.error());
    } else if (!read.result.ok()) {
      encoder_->add_error(piece, index(), read.result.error());
    } else if (read.result->bytes.size() > kInlineBytes) {
      begin_large(piece, context);
    } else {
      const auto bytes = read.result->bytes;
      encoder_->begin_item(piece, index(), bytes.size());
      piece.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      encoder_->end_item(piece, bytes.size());
    }
    read.result = Error(ErrorCode::kCancelled);  // its bytes are no longer needed
    ++at_;
  }

  // What was read of it says no more than that it is large: the version that is sent is the one
  // that is opened now.
  void begin_large(std::string& piece, const Context& context) {
    const wire::BatchItem& item = items()[index()];
    auto reader = buckets_[item.bucket].store->open(item.name, {}, context);
    if (!reader.ok()) {
      encoder_->add_error(piece, index(), reader.error());
      return;
    }
    Large large;
    large.left = item.range.within((*reader)->info().size_bytes);
    large.length = large.left.length;
    large.reader = *std::move(reader);
    encoder_->begin_item(piece, index(), large.length);
    large_ = std::move(large);
  }

  // After its head is out, an error can only be told by cutting the connection.
  Status stream(std::string& piece, const Context& context) {
    const std::uint64_t length = std::min(large_->left.length, kStreamBytes);
    const std::size_t begin = piece.size();
    piece.resize(begin + length);
    ASSIGN_OR_RETURN(
        const std::size_t count,
        large_->reader->read_at(large_->left.offset,
                                std::as_writable_bytes(std::span(piece)).subspan(begin), context));
    if (count != length) return Error(ErrorCode::kIoError, "the object ended early");
    large_->left.offset += length;
    large_->left.length -= length;
    if (large_->left.length > 0) return ok_status();
    encoder_->end_item(piece, large_->length);
    large_.reset();
    return ok_status();
  }

  static constexpr std::size_t kShardEndReserve = 1024;

  const std::string body_;  // the list views it
  const BatchRequest request_;
  std::vector<BatchBucket> buckets_;
  Buckets& all_buckets_;
  const std::function<bool(const wire::BatchItem&)> allows_;
  const std::unique_ptr<BatchEncoder> encoder_;
  bool has_begun_ = false;
  std::size_t next_group_items_ = kFirstGroupItems;
  std::size_t group_end_ = 0;  // items before it were read
  std::uint64_t group_bytes_ = 0;
  std::vector<BatchRead> reads_;  // of the group
  std::size_t at_ = 0;            // the next of them to be told
  std::optional<Large> large_;
};

class Batch final : public Operation {
 public:
  using Operation::Operation;
  ~Batch() override { services_.batch_list_bytes.fetch_sub(held_bytes_); }

  bool never_waits() const override {
    return request_.head->content_length().value_or(SIZE_MAX) <= kQuickListBytes;
  }

 protected:
  Status take(std::span<const std::byte> piece, const Context& /*context*/) override {
    if (body_.size() + piece.size() > wire::kMaxBatchBytes) {
      return Error(ErrorCode::kTooLarge, "the batch is too long");
    }
    if (body_.empty()) {
      body_.reserve(std::min<std::uint64_t>(request_.head->content_length().value_or(0),
                                            wire::kMaxBatchBytes));
    }
    held_bytes_ += piece.size();
    if (services_.batch_list_bytes.fetch_add(piece.size()) + piece.size() > kMostListBytes) {
      return Error(ErrorCode::kUnavailable, "too many batches at a time");
    }
    body_.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return ok_status();
  }

  Result<Answer> perform(const Context& /*context*/) override {
    BatchRequest batch;
    if (header("content-type") == wire::kBatchType) {
      batch.format = BatchFormat::kFrames;
      ASSIGN_OR_RETURN(batch.list, wire::parse_batch_list(body_));
    } else {
      ASSIGN_OR_RETURN(batch, parse_batch_json(body_));
    }
    if (const auto format = request_.query.find("format")) {
      ASSIGN_OR_RETURN(batch.format, parse_batch_format(*format));
    }
    std::vector<BatchBucket> buckets;
    for (const std::string_view name : batch.list.buckets) buckets.push_back(find_bucket(name));
    // The list's own views of the buckets' names stay good: the body moves as a whole.
    const auto names = batch.list.buckets;
    const auto allows_item = [this, names](const wire::BatchItem& item) {
      return allows(Right::kRead, names[item.bucket], item.name);
    };
    auto source = std::make_unique<BatchSource>(
        std::move(batch), std::move(body_), std::move(buckets), *services_.buckets, allows_item);
    Answer answer;
    answer.headers = fmt::format("Content-Type: {}\r\n", source->content_type());
    answer.body = std::move(source);
    return answer;
  }

 private:
  BatchBucket find_bucket(std::string_view name) const {
    BatchBucket bucket;
    bucket.is_open_as_a_whole = allows(Right::kRead, name, "");
    bucket.store = services_.buckets->find(name);
    return bucket;
  }

  std::string body_;
  std::uint64_t held_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Exchange> make_batch(NativeRequest request, Services& services) {
  return std::make_unique<Batch>(std::move(request), services);
}

}  // namespace leat::doors::http::native
