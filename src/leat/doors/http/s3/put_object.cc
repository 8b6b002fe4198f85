// PutObject.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "leat/doors/http/s3/chunked_payload.h"
#include "leat/doors/http/s3/operation.h"
#include "leat/doors/http/s3/signature.h"

namespace leat::doors::http::s3 {
namespace {

// Headers that describe the content and come back with it.
constexpr std::array<std::string_view, 6> kContentHeaders{"cache-control",    "content-disposition",
                                                          "content-encoding", "content-language",
                                                          "content-type",     "expires"};

class PutObject final : public Operation {
 public:
  using Operation::Operation;

  Status consume(std::span<const std::byte> piece, const Context& context) override {
    Status status = start(context);
    if (status.ok() && digest_) digest_->add(piece);
    if (status.ok()) {
      const auto append = [&](std::span<const std::byte> part) {
        return writer_->append(part, context);
      };
      status = chunks_ ? chunks_->feed(piece, append) : append(piece);
    }
    if (!status.ok()) error_ = status.error();
    return status;
  }

 protected:
  Result<Answer> perform(const Context& context) override {
    if (error_) return *error_;
    RETURN_IF_ERROR(start(context));
    if (digest_ && digest_->finish() != request_.signer.payload_hash) {
      return failure(
          {400, "XAmzContentSHA256Mismatch", "the body is not the one whose SHA-256 was signed"});
    }
    if (chunks_) RETURN_IF_ERROR(check_chunks());
    ASSIGN_OR_RETURN(const ObjectInfo info, writer_->commit({}, context));
    Answer answer;
    answer.headers = fmt::format("ETag: \"{}\"\r\n", info.etag);
    return answer;
  }

 private:
  // The body came in chunks: all of it, as long as announced, and with no trailer whose checksum
  // we cannot compare yet.
  Status check_chunks() const {
    RETURN_IF_ERROR(chunks_->finish());
    if (const auto announced = header("x-amz-decoded-content-length");
        announced && *announced != std::to_string(chunks_->decoded_bytes())) {
      return Error(ErrorCode::kInvalidArgument, "the body is not as long as announced");
    }
    if (!chunks_->trailers().empty()) {
      return Error(ErrorCode::kUnsupported, "checksums in trailers are not compared yet");
    }
    return ok_status();
  }

  Status start(const Context& context) {
    if (writer_) return ok_status();
    switch (request_.signer.payload) {
      case PayloadKind::kUnsigned:
        break;
      case PayloadKind::kHashed:
        digest_.emplace();
        break;
      default:
        chunks_.emplace(request_.signer);
        break;
    }
    ASSIGN_OR_RETURN(const auto store, bucket());
    CreateOptions options;
    if (!chunks_) options.expected_size_bytes = request_.head->content_length();
    options.metadata = metadata();
    ASSIGN_OR_RETURN(options.precondition, precondition_of(*request_.head));
    ASSIGN_OR_RETURN(writer_, store->create(request_.address.key, options, context));
    return ok_status();
  }

  Metadata metadata() const {
    Metadata metadata;
    for (const leat::http::Header& sent : request_.head->headers()) {
      std::string name(sent.name);
      for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      if (name.starts_with(kUserPrefix)) {
        metadata.user[name.substr(kUserPrefix.size())] = sent.value;
      } else if (std::find(kContentHeaders.begin(), kContentHeaders.end(), name) !=
                 kContentHeaders.end()) {
        // "aws-chunked" is how it came, not what it is.
        if (name == "content-encoding" && sent.value == "aws-chunked") continue;
        // What S3 answers when nothing was given need not be kept.
        if (name != "content-type" || sent.value != kDefaultContentType) {
          metadata.headers[name] = sent.value;
        }
      }
    }
    return metadata;
  }

  std::optional<Sha256> digest_;  // of a body whose hash was signed
  std::optional<ChunkedPayload> chunks_;
  std::unique_ptr<ObjectWriter> writer_;
  std::optional<Error> error_;
};

}  // namespace

std::unique_ptr<Exchange> make_put_object(S3Request request, Buckets& buckets) {
  return std::make_unique<PutObject>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
