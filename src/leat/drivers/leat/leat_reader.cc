#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "leat/base/mutex.h"
#include "leat/drivers/leat/object_requests.h"

namespace leat::leat_driver {
namespace {

using http::ClientConnection;
using http::ClientRequest;

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

// A large object: the answer that began when it was opened, for those who read on, and requests for
// ranges of the same version, for the others.
class StreamReader final : public ObjectReader {
 public:
  StreamReader(std::shared_ptr<LeatServer> server, std::string path, ObjectInfo info,
               std::unique_ptr<ClientConnection> answer)
      : server_(std::move(server)), path_(std::move(path)), info_(std::move(info)) {
    const MutexLock lock(mutex_);
    stream_ = {std::move(answer), 0};
  }

  const ObjectInfo& info() const noexcept override { return info_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context& context) override {
    RETURN_IF_ERROR(context.check());
    const ByteRange range = ByteRange{offset, target.size()}.within(info_.size_bytes);
    target = target.first(static_cast<std::size_t>(range.length));
    if (target.empty()) return std::size_t{0};
    if (Stream stream = take_stream(range.offset, Place::kExact); stream.answer) {
      const Status status = read_on(std::move(stream), target, context);
      if (status.ok()) return target.size();
      if (!status.failed_with(ErrorCode::kUnavailable)) return status.error();
    }
    const Status status = read_range(range.offset, target, context);
    if (status.ok()) return target.size();
    if (!status.failed_with(ErrorCode::kNotFound)) return status.error();
    // Only the stream has this version still.
    if (Stream stream = take_stream(range.offset, Place::kBefore); stream.answer) {
      RETURN_IF_ERROR(skip(stream, range.offset, context));
      RETURN_IF_ERROR(read_on(std::move(stream), target, context));
      return target.size();
    }
    return Error(ErrorCode::kPreconditionFailed, "the object was replaced while it was read");
  }

 private:
  struct Stream {
    std::unique_ptr<ClientConnection> answer;
    std::uint64_t position = 0;
  };
  enum class Place : std::uint8_t { kExact, kBefore };

  // The stream, if it is there and not elsewhere. Others who read meanwhile ask for ranges.
  Stream take_stream(std::uint64_t offset, Place place) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const bool fits =
        place == Place::kExact ? stream_.position == offset : stream_.position <= offset;
    return fits ? std::exchange(stream_, Stream()) : Stream();
  }

  Status read_on(Stream stream, std::span<std::byte> target, const Context& context)
      EXCLUDES(mutex_) {
    RETURN_IF_ERROR(stream.answer->read_all(target, context));
    stream.position += target.size();
    if (stream.position == info_.size_bytes) {
      stream.answer->finish(context);
      server_->client().keep(std::move(stream.answer));
      return ok_status();
    }
    const MutexLock lock(mutex_);
    if (!stream_.answer) stream_ = std::move(stream);
    return ok_status();
  }

  static Status skip(Stream& stream, std::uint64_t offset, const Context& context) {
    std::vector<std::byte> dropped(64 << 10);
    while (stream.position < offset) {
      const auto most = static_cast<std::size_t>(
          std::min<std::uint64_t>(dropped.size(), offset - stream.position));
      RETURN_IF_ERROR(stream.answer->read_all(std::span(dropped).first(most), context));
      stream.position += most;
    }
    return ok_status();
  }

  Status read_range(std::uint64_t offset, std::span<std::byte> target, const Context& context) {
    ClientRequest request;
    request.path = path_;
    request.query =
        fmt::format("generation={}&length={}&offset={}", info_.generation, target.size(), offset);
    return server_->ask(request, context, [&](ClientConnection& answer) {
      if (answer.head().content_length() != target.size()) {
        return Status(Error(ErrorCode::kCorrupted, "the answer has another length than was asked"));
      }
      return answer.read_all(target, context);
    });
  }

  const std::shared_ptr<LeatServer> server_;
  const std::string path_;
  const ObjectInfo info_;
  Mutex mutex_;
  Stream stream_ GUARDED_BY(mutex_);
};

}  // namespace

Result<std::unique_ptr<ObjectReader>> open_reader(std::shared_ptr<LeatServer> server,
                                                  std::string path, const OpenOptions& options,
                                                  const Context& context) {
  ClientRequest request;
  request.path = path;
  if (options.generation) request.query = fmt::format("generation={}", *options.generation);
  constexpr int kAttempts = 3;
  for (int attempt = 1;; ++attempt) {
    ASSIGN_OR_RETURN(auto answer, server->client().begin(request, context));
    if (const Status status = LeatServer::check(*answer, context); !status.ok()) {
      server->client().keep(std::move(answer));
      return status.error();
    }
    ASSIGN_OR_RETURN(ObjectInfo info, wire::info_of(answer->head().headers()));
    if (answer->head().content_length() != info.size_bytes) {
      return Error(ErrorCode::kCorrupted, "the answer is not as long as the object");
    }
    if (info.size_bytes > kWholeBytes) {
      return std::unique_ptr<ObjectReader>(std::make_unique<StreamReader>(
          std::move(server), std::move(path), std::move(info), std::move(answer)));
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(info.size_bytes));
    const Status status = answer->read_all(bytes, context);
    if (status.ok()) {
      server->client().keep(std::move(answer));
      return std::unique_ptr<ObjectReader>(
          std::make_unique<WholeReader>(std::move(info), std::move(bytes)));
    }
    if (!status.failed_with(ErrorCode::kUnavailable) || attempt == kAttempts) {
      return status.error();
    }
  }
}

}  // namespace leat::leat_driver
