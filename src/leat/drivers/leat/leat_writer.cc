#include <fmt/format.h>

#include <vector>

#include "leat/base/hash.h"
#include "leat/base/hex.h"
#include "leat/drivers/leat/object_requests.h"
#include "leat/store/write_guard.h"
#include "leat/wire/upload.h"

namespace leat::leat_driver {
namespace {

using http::ClientConnection;
using http::ClientRequest;

constexpr std::size_t kWholeBytes =
    1 << 20;  // gathered, and sent in one request that can be repeated
constexpr std::size_t kPieceBytes = 256 << 10;  // of what is sent while it is made

// Gathers a small object; a large one is sent while it is made.
class Writer final : public ObjectWriter {
 public:
  Writer(std::shared_ptr<LeatServer> server, ClientRequest request, const CreateOptions& options)
      : server_(std::move(server)),
        request_(std::move(request)),
        expected_size_bytes_(options.expected_size_bytes),
        is_conditional_(options.precondition.kind != Precondition::Kind::kNone),
        guard_(options.expected_size_bytes) {}

  Status append(std::span<const std::byte> bytes, const Context& context) override {
    RETURN_IF_ERROR(guard_.begin_append(bytes.size(), context));
    crc32c_ = crc32c(crc32c_, bytes);
    Status status = add(bytes, context);
    if (!status.ok()) guard_.mark_broken();
    return status;
  }

  Result<ObjectInfo> commit(const CommitOptions& options, const Context& context) override {
    RETURN_IF_ERROR(guard_.begin_commit(context));
    wire::HeaderList ending;
    if (!options.etag.empty()) {
      if (!wire::is_plain_etag(options.etag)) {
        return Error(ErrorCode::kInvalidArgument, "the etag cannot be sent");
      }
      ending.emplace_back(wire::kEtagHeader, options.etag);
    }
    ending.emplace_back(wire::kCrc32cHeader, to_hex(crc32c_));
    Metadata checksums;
    checksums.checksums = options.checksums;
    wire::add_metadata(ending, checksums);
    return upload_ ? end_upload(ending, context) : put_whole(ending, context);
  }

 private:
  Status add(std::span<const std::byte> bytes, const Context& context) {
    const std::size_t most = upload_ ? kPieceBytes : kWholeBytes;
    if (buffer_.size() + bytes.size() <= most) {
      buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
      return ok_status();
    }
    if (!upload_) RETURN_IF_ERROR(start_upload(context));
    RETURN_IF_ERROR(send_piece(buffer_, context));
    buffer_.clear();
    if (bytes.size() < kPieceBytes) {
      buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
      return ok_status();
    }
    while (!bytes.empty()) {
      const auto piece = bytes.first(std::min(bytes.size(), kWholeBytes));
      RETURN_IF_ERROR(send_piece(piece, context));
      bytes = bytes.subspan(piece.size());
    }
    return ok_status();
  }

  Status start_upload(const Context& context) {
    ClientRequest request = request_;
    request.headers.emplace_back(wire::kFramedHeader, "1");
    if (expected_size_bytes_) {
      request.headers.emplace_back(wire::kExpectedSizeHeader,
                                   std::to_string(*expected_size_bytes_));
    }
    ASSIGN_OR_RETURN(upload_, server_->client().upload(request, context));
    return ok_status();
  }

  Status send_piece(std::span<const std::byte> piece, const Context& context) {
    if (piece.empty()) return ok_status();
    const std::string head = wire::upload_piece_head(static_cast<std::uint32_t>(piece.size()));
    Status status = upload_->send(std::as_bytes(std::span(head)), context);
    if (status.ok()) status = upload_->send(piece, context);
    if (!status.failed_with(ErrorCode::kUnavailable)) return status;
    // The server has said why, or it is gone.
    const Status told = upload_->finish(
        context, [&](ClientConnection& answer) { return LeatServer::check(answer, context); });
    return told.ok() ? status : told;
  }

  Result<ObjectInfo> end_upload(const wire::HeaderList& ending, const Context& context) {
    RETURN_IF_ERROR(send_piece(buffer_, context));
    const std::string words = wire::upload_end(ending);
    // When this fails the answer says why.
    const Status sent = upload_->send(std::as_bytes(std::span(words)), context);
    if (!sent.ok() && !sent.failed_with(ErrorCode::kUnavailable)) return sent.error();
    ObjectInfo info;
    RETURN_IF_ERROR(upload_->finish(
        context, [&](ClientConnection& answer) { return take_info(answer, info, context); }));
    return info;
  }

  Result<ObjectInfo> put_whole(const wire::HeaderList& ending, const Context& context) {
    add_headers(request_, ending);
    request_.body = buffer_;
    if (is_conditional_) request_.repeat = ClientRequest::Repeat::kUnsafe;
    ObjectInfo info;
    RETURN_IF_ERROR(server_->ask(request_, context, [&](ClientConnection& answer) {
      return take_info(answer, info, context);
    }));
    return info;
  }

  static Status take_info(ClientConnection& answer, ObjectInfo& info, const Context& context) {
    RETURN_IF_ERROR(LeatServer::check(answer, context));
    ASSIGN_OR_RETURN(info, wire::info_of(answer.head().headers()));
    return ok_status();
  }

  const std::shared_ptr<LeatServer> server_;
  ClientRequest request_;
  const std::optional<std::uint64_t> expected_size_bytes_;
  const bool is_conditional_;
  WriteGuard guard_;
  std::vector<std::byte> buffer_;
  std::unique_ptr<http::Client::Upload> upload_;
  std::uint32_t crc32c_ = 0;
};

}  // namespace

Result<std::unique_ptr<ObjectWriter>> make_writer(std::shared_ptr<LeatServer> server,
                                                  std::string path, const CreateOptions& options,
                                                  const Context& context) {
  RETURN_IF_ERROR(context.check());
  ClientRequest request;
  request.method = "PUT";
  request.path = std::move(path);
  RETURN_IF_ERROR(add_create_options(request, options));
  return std::unique_ptr<ObjectWriter>(
      std::make_unique<Writer>(std::move(server), std::move(request), options));
}

}  // namespace leat::leat_driver
