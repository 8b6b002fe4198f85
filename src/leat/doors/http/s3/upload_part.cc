// UploadPart and UploadPartCopy.
#include <fmt/format.h>

#include <charconv>
#include <string>

#include "leat/doors/http/s3/body_writer.h"
#include "leat/doors/http/s3/copy_source.h"
#include "leat/doors/http/s3/multipart.h"
#include "leat/doors/http/s3/object_metadata.h"
#include "leat/doors/http/s3/operation.h"
#include "leat/doors/http/s3/operations.h"
#include "leat/doors/http/s3/times.h"
#include "leat/doors/http/s3/xml_writer.h"

namespace leat::doors::http::s3 {
namespace {

// An upload, found, and the number of one of its parts.
class PartOperation : public Operation {
 public:
  using Operation::Operation;

 protected:
  // kNotFound is told as an upload that is not there.
  Status find_upload(const Context& context) {
    if (auto error = read_part_number(request_, number_)) return refuse(*std::move(error));
    ASSIGN_OR_RETURN(uploads_, uploads());
    const auto upload = uploads_->find(request_.address.key, upload_id(), context);
    if (upload.failed_with(ErrorCode::kNotFound)) return refuse(no_such_upload());
    if (!upload.ok()) return upload.error();
    checksum_ = upload_checksum(upload->options);
    return ok_status();
  }
  Result<std::unique_ptr<ObjectWriter>> create(std::optional<std::uint64_t> size_bytes,
                                               const Context& context) {
    CreateOptions options;
    options.expected_size_bytes = size_bytes;
    return uploads_->create_part(request_.address.key, upload_id(), number_, options, context);
  }
  Result<ObjectInfo> commit(ObjectWriter& writer, const CommitOptions& options,
                            const Context& context) {
    auto info = writer.commit(options, context);
    if (info.failed_with(ErrorCode::kNotFound)) {
      return Status(refuse(no_such_upload())).error();  // it ended meanwhile
    }
    return info;
  }
  // Keeps what the client is to be told.
  Status refuse(S3Error error) {
    refusal_ = std::move(error);
    return ErrorCode::kInvalidArgument;
  }
  Answer tell(const Error& error) const { return failure(refusal_ ? *refusal_ : s3_error(error)); }

  std::shared_ptr<local::Uploads> uploads_;
  std::uint32_t number_ = 0;
  std::optional<UploadChecksum> checksum_;
  std::optional<S3Error> refusal_;
};

class UploadPart final : public PartOperation {
 public:
  using PartOperation::PartOperation;

  bool wants_body() const override { return !body_.body().refusal(); }

  Status consume(std::span<const std::byte> piece, const Context& context) override {
    return body_.append(
        piece, [&] { return create_writer(context); }, context);
  }

 protected:
  Result<Answer> perform(const Context& context) override {
    RequestBody& body = body_.body();
    if (body.refusal()) return failure(*body.refusal());
    const Status started = body_.start([&] { return create_writer(context); });
    if (!started.ok() && refusal_) return failure(*refusal_);
    if (!started.ok()) return started.error();
    if (const auto error = body.finish()) return failure(*error);
    const auto info = commit(body_.writer(), {body.etag(), body.checksums()}, context);
    if (!info.ok()) return tell(info.error());
    Answer answer;
    answer.headers =
        fmt::format("ETag: \"{}\"\r\n", info->etag) + checksum_headers(body.checksums());
    return answer;
  }

 private:
  Result<std::unique_ptr<ObjectWriter>> create_writer(const Context& context) {
    RETURN_IF_ERROR(find_upload(context));
    if (checksum_) {
      if (auto error = body_.body().agree(checksum_->algorithm)) {
        return refuse(*std::move(error)).error();
      }
    }
    return create(body_.body().announced_bytes(), context);
  }

  BodyWriter body_{request_};
};

// "bytes=FIRST-LAST", both within an object of `size_bytes`; without it all of the object.
std::optional<ByteRange> copied_range(std::optional<std::string_view> text,
                                      std::uint64_t size_bytes) {
  constexpr std::string_view kUnit = "bytes=";
  if (!text) return ByteRange{0, size_bytes};
  if (!text->starts_with(kUnit)) return std::nullopt;
  const std::string_view numbers = text->substr(kUnit.size());
  const char* const end = numbers.data() + numbers.size();
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  const auto [dash, error] = std::from_chars(numbers.data(), end, first);
  if (error != std::errc() || dash == end || *dash != '-') return std::nullopt;
  const auto [rest, second_error] = std::from_chars(dash + 1, end, last);
  if (second_error != std::errc() || rest != end) return std::nullopt;
  if (first > last || last >= size_bytes) return std::nullopt;
  return ByteRange{first, last - first + 1};
}

class UploadPartCopy final : public PartOperation {
 public:
  using PartOperation::PartOperation;

 protected:
  Result<Answer> perform(const Context& context) override {
    if (const Status found = find_upload(context); !found.ok()) {
      if (refusal_) return failure(*refusal_);
      return found.error();
    }
    CopySource source;
    if (const auto error = open_copy_source(request_, buckets_, context, source)) {
      return failure(*error);
    }
    const auto range =
        copied_range(header("x-amz-copy-source-range"), source.reader->info().size_bytes);
    if (!range) {
      return failure({400, "InvalidArgument",
                      "x-amz-copy-source-range is not bytes=FIRST-LAST within the source"});
    }
    ASSIGN_OR_RETURN(const auto writer, create(range->length, context));
    RunningDigest md5(Algorithm::kMd5);
    std::optional<RunningDigest> digest;
    if (checksum_) digest.emplace(checksum_->algorithm);
    const auto append = [&](std::span<const std::byte> piece) {
      md5.add(piece);
      if (digest) digest->add(piece);
      return writer->append(piece, context);
    };
    RETURN_IF_ERROR(read_pieces(*source.reader, *range, append, context));
    CommitOptions options;
    options.etag = hex_of(md5.finish());
    if (digest) {
      options.checksums[std::string(name_of(checksum_->algorithm))] = hex_of(digest->finish());
    }
    const auto info = commit(*writer, options, context);
    if (!info.ok()) return tell(info.error());
    XmlWriter xml;
    {
      const auto root = xml.root("CopyPartResult");
      xml.text("LastModified", iso_time(info->mtime_ns));
      xml.text("ETag", fmt::format("\"{}\"", info->etag));
      for (const Algorithm algorithm : kChecksumAlgorithms) {
        const auto value = part_checksum({number_, *info}, algorithm);
        if (value) xml.text(xml_name_of(algorithm), to_base64(*value));
      }
    }
    return xml_answer(std::move(xml));
  }
};

}  // namespace

std::unique_ptr<Exchange> make_upload_part(S3Request request, Buckets& buckets) {
  if (auto error = refuse_unhonoured(*request.head)) {
    return make_refusal(std::move(request), *std::move(error));
  }
  return std::make_unique<UploadPart>(std::move(request), buckets);
}

std::unique_ptr<Exchange> make_upload_part_copy(S3Request request, Buckets& buckets) {
  if (auto error = refuse_unhonoured(*request.head)) {
    return make_refusal(std::move(request), *std::move(error));
  }
  return std::make_unique<UploadPartCopy>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
