// put_object: a body, plain or framed, or a copy of another object.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "leat/base/hash.h"
#include "leat/base/hex.h"
#include "leat/base/url.h"
#include "leat/doors/http/native/operation.h"
#include "leat/wire/object_headers.h"
#include "leat/wire/upload.h"

namespace leat::doors::http::native {
namespace {

using leat::http::Header;

// Headers that belong to the object when they come as they are.
constexpr std::array<std::string_view, 6> kContentHeaders{"cache-control",    "content-disposition",
                                                          "content-encoding", "content-language",
                                                          "content-type",     "expires"};

Error invalid(std::string message) {
  return Error(ErrorCode::kInvalidArgument, std::move(message));
}

// What is known of the object when its bytes are there.
struct Ending {
  CommitOptions commit;
  std::optional<std::uint32_t> crc32c;
};

Status read_ending(std::span<const Header> headers, Ending& ending) {
  for (const Header& header : headers) {
    if (leat::http::equals_ignoring_case(header.name, wire::kEtagHeader)) {
      if (header.value.empty() || !wire::is_plain_etag(header.value)) {
        return invalid("x-leat-etag is not an etag");
      }
      ending.commit.etag = header.value;
    } else if (leat::http::equals_ignoring_case(header.name, wire::kCrc32cHeader)) {
      const auto crc = parse_hex_u32(header.value);
      if (!crc.ok()) return invalid("x-leat-crc32c is not eight hexadecimal digits");
      ending.crc32c = *crc;
    }
  }
  return ok_status();
}

class PutObject final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Status take(std::span<const std::byte> piece, const Context& context) override {
    RETURN_IF_ERROR(start(context));
    const auto append = [&](std::span<const std::byte> part) {
      if (compares_) crc32c_ = crc32c(crc32c_, part);
      return writer_->append(part, context);
    };
    return is_framed_ ? frames_.feed(piece, append) : append(piece);
  }

  Result<Answer> perform(const Context& context) override {
    if (const auto source = header(wire::kCopySourceHeader)) return copy(*source, context);
    RETURN_IF_ERROR(start(context));
    if (is_framed_) {
      ASSIGN_OR_RETURN(const auto words, frames_.last_words());
      RETURN_IF_ERROR(read_ending(words, ending_));
      ASSIGN_OR_RETURN(Metadata metadata, wire::metadata_of(words));
      ending_.commit.checksums = std::move(metadata.checksums);
    }
    if (ending_.crc32c && *ending_.crc32c != crc32c_) {
      return invalid("the bytes that came have another crc32c than the one given");
    }
    ASSIGN_OR_RETURN(const ObjectInfo info, writer_->commit(ending_.commit, context));
    return answer_of(info);
  }

 private:
  static Answer answer_of(const ObjectInfo& info) {
    Answer answer;
    answer.headers = wire::info_lines(info);
    return answer;
  }

  Result<CreateOptions> create_options() const {
    CreateOptions options;
    for (const Header& sent : request_.head->headers()) {
      for (const std::string_view name : kContentHeaders) {
        if (leat::http::equals_ignoring_case(sent.name, name)) {
          options.metadata.headers[std::string(name)] = sent.value;
        }
      }
    }
    ASSIGN_OR_RETURN(Metadata described, wire::metadata_of(request_.head->headers()));
    for (auto& [name, value] : described.headers) options.metadata.headers[name] = value;
    options.metadata.user = std::move(described.user);
    options.metadata.checksums = std::move(described.checksums);
    ASSIGN_OR_RETURN(options.precondition, wire::precondition_of(request_.head->headers()));
    if (const auto durability = header(wire::kDurabilityHeader)) {
      ASSIGN_OR_RETURN(options.durability, wire::parse_durability(*durability));
    }
    return options;
  }

  Status start(const Context& context) {
    if (writer_) return ok_status();
    if (header(wire::kCopySourceHeader)) return invalid("a copy has no body");
    is_framed_ = header(wire::kFramedHeader).has_value();
    RETURN_IF_ERROR(read_ending(request_.head->headers(), ending_));
    compares_ = is_framed_ || ending_.crc32c.has_value();
    ASSIGN_OR_RETURN(const auto store, bucket());
    ASSIGN_OR_RETURN(CreateOptions options, create_options());
    if (!is_framed_ && !request_.head->is_chunked()) {
      options.expected_size_bytes = request_.head->content_length().value_or(0);
    } else if (const auto expected = header(wire::kExpectedSizeHeader)) {
      options.expected_size_bytes = wire::parse_number(*expected);
      if (!options.expected_size_bytes) return invalid("x-leat-expected-size is not a number");
    }
    ASSIGN_OR_RETURN(writer_, store->create(request_.route.name, options, context));
    return ok_status();
  }

  // "bucket/name", percent-encoded.
  Result<Answer> copy(std::string_view source, const Context& context) {
    const std::size_t slash = source.find('/');
    if (slash == source.npos) return invalid("x-leat-copy-source is not BUCKET/NAME");
    ASSIGN_OR_RETURN(const std::string source_bucket, percent_decode(source.substr(0, slash)));
    ASSIGN_OR_RETURN(const std::string source_name, percent_decode(source.substr(slash + 1)));
    if (!allows(Right::kRead, source_bucket, source_name)) {
      return Error(ErrorCode::kPermissionDenied, "this key may not read the source");
    }
    ASSIGN_OR_RETURN(CreateOptions options, create_options());
    ASSIGN_OR_RETURN(const auto target, bucket());
    if (source_bucket == request_.route.bucket) {
      ASSIGN_OR_RETURN(const ObjectInfo info,
                       target->copy(source_name, request_.route.name, options, context));
      return answer_of(info);
    }
    ASSIGN_OR_RETURN(const auto from, services_.buckets->open(source_bucket));
    ASSIGN_OR_RETURN(const auto reader, from->open(source_name, {}, context));
    return copy_from(*reader, *target, std::move(options), context);
  }

  Result<Answer> copy_from(ObjectReader& reader, ObjectStore& target, CreateOptions options,
                           const Context& context) {
    const ObjectInfo& source = reader.info();
    options.expected_size_bytes = source.size_bytes;
    if (options.metadata.empty() && source.metadata) options.metadata = *source.metadata;
    ASSIGN_OR_RETURN(const auto writer, target.create(request_.route.name, options, context));
    std::vector<std::byte> buffer(std::min<std::uint64_t>(1 << 20, source.size_bytes));
    for (std::uint64_t offset = 0; offset < source.size_bytes;) {
      ASSIGN_OR_RETURN(const std::size_t count, reader.read_at(offset, buffer, context));
      if (count == 0) return Error(ErrorCode::kIoError, "the source ended early");
      RETURN_IF_ERROR(writer->append(std::span(buffer).first(count), context));
      offset += count;
    }
    ASSIGN_OR_RETURN(const ObjectInfo info, writer->commit({}, context));
    return answer_of(info);
  }

  std::unique_ptr<ObjectWriter> writer_;
  Ending ending_;
  wire::UploadDecoder frames_;
  bool is_framed_ = false;
  bool compares_ = false;
  std::uint32_t crc32c_ = 0;
};

}  // namespace

std::unique_ptr<Exchange> make_put_object(NativeRequest request, Services& services) {
  return std::make_unique<PutObject>(std::move(request), services);
}

}  // namespace leat::doors::http::native
