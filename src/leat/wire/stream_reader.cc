#include "leat/wire/stream_reader.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace leat::wire {
namespace {

constexpr std::uint64_t kWholeBytes = 256 << 10;  // read when opened

// An object that is in memory as a whole.
class WholeReader final : public ObjectReader {
 public:
  WholeReader(ObjectInfo info, std::vector<std::byte> bytes)
      : info_(std::move(info)), bytes_(std::move(bytes)) {}

  const ObjectInfo& info() const noexcept override { return info_; }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override {
    RETURN_IF_ERROR(context.check());
    const ByteRange range = ByteRange{offset, target.size()}.within(bytes_.size());
    if (range.length > 0) std::memcpy(target.data(), bytes_.data() + range.offset, range.length);
    return static_cast<std::size_t>(range.length);
  }

 private:
  const ObjectInfo info_;
  const std::vector<std::byte> bytes_;
};

}  // namespace

Status skip_bytes(http::ClientConnection& answer, std::uint64_t count, const Context& context) {
  std::vector<std::byte> dropped(
      static_cast<std::size_t>(std::min<std::uint64_t>(64 << 10, count)));
  while (count > 0) {
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(dropped.size(), count));
    RETURN_IF_ERROR(answer.read_all(std::span(dropped).first(most), context));
    count -= most;
  }
  return ok_status();
}

Result<std::unique_ptr<ObjectReader>> StreamReader::open(
    std::shared_ptr<http::Client> client, std::unique_ptr<http::ClientConnection> answer,
    ObjectInfo info, RangeRead read_range, const Context& context) {
  if (info.size_bytes > kWholeBytes) {
    std::unique_ptr<StreamReader> reader(
        new StreamReader(std::move(client), std::move(info), std::move(read_range)));
    const MutexLock lock(reader->mutex_);
    reader->stream_ = {std::move(answer), 0};
    return std::unique_ptr<ObjectReader>(std::move(reader));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(info.size_bytes));
  RETURN_IF_ERROR(answer->read_all(bytes, context));
  answer->finish(context);
  client->keep(std::move(answer));
  return std::unique_ptr<ObjectReader>(
      std::make_unique<WholeReader>(std::move(info), std::move(bytes)));
}

Result<std::size_t> StreamReader::read_at(std::uint64_t offset, std::span<std::byte> target,
                                          const Context& context) {
  RETURN_IF_ERROR(context.check());
  const ByteRange range = ByteRange{offset, target.size()}.within(info_.size_bytes);
  target = target.first(static_cast<std::size_t>(range.length));
  if (target.empty()) return std::size_t{0};
  if (Stream stream = take_stream(range.offset, Place::kExact); stream.answer) {
    const Status status = read_on(std::move(stream), target, context);
    if (status.ok()) return target.size();
    if (!status.failed_with(ErrorCode::kUnavailable)) return status.error();
  }
  const Status status = read_range_(range.offset, target, context);
  if (status.ok()) return target.size();
  if (!status.failed_with(ErrorCode::kNotFound)) return status.error();
  // Only the stream has this version still.
  if (Stream stream = take_stream(range.offset, Place::kBefore); stream.answer) {
    RETURN_IF_ERROR(skip_bytes(*stream.answer, range.offset - stream.position, context));
    stream.position = range.offset;
    RETURN_IF_ERROR(read_on(std::move(stream), target, context));
    return target.size();
  }
  return Error(ErrorCode::kPreconditionFailed, "the object was replaced while it was read");
}

// The stream, if it is there and not elsewhere. Others who read meanwhile ask for ranges.
StreamReader::Stream StreamReader::take_stream(std::uint64_t offset, Place place) {
  const MutexLock lock(mutex_);
  const bool fits =
      place == Place::kExact ? stream_.position == offset : stream_.position <= offset;
  return fits ? std::exchange(stream_, Stream()) : Stream();
}

Status StreamReader::read_on(Stream stream, std::span<std::byte> target, const Context& context) {
  RETURN_IF_ERROR(stream.answer->read_all(target, context));
  stream.position += target.size();
  if (stream.position == info_.size_bytes) {
    stream.answer->finish(context);
    client_->keep(std::move(stream.answer));
    return ok_status();
  }
  const MutexLock lock(mutex_);
  if (!stream_.answer) stream_ = std::move(stream);
  return ok_status();
}

}  // namespace leat::wire
