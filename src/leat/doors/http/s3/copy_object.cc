// CopyObject.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "leat/doors/http/s3/checksum.h"
#include "leat/doors/http/s3/conditions.h"
#include "leat/doors/http/s3/copy_source.h"
#include "leat/doors/http/s3/etag.h"
#include "leat/doors/http/s3/object_metadata.h"
#include "leat/doors/http/s3/operation.h"
#include "leat/doors/http/s3/times.h"
#include "leat/doors/http/s3/xml_writer.h"

namespace leat::doors::http::s3 {
namespace {

class CopyObject final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    const std::string_view directive = header("x-amz-metadata-directive").value_or("COPY");
    replaces_ = directive == "REPLACE";
    if (!replaces_ && directive != "COPY") {
      return failure({400, "InvalidArgument", "x-amz-metadata-directive is COPY or REPLACE"});
    }
    if (const auto name = header("x-amz-checksum-algorithm")) {
      algorithm_ = checksum_algorithm(*name);
      if (!algorithm_) return failure({400, "InvalidRequest", "the checksum is of no known kind"});
    }
    ASSIGN_OR_RETURN(const auto target, bucket());
    if (const auto error = open_copy_source(request_, buckets_, context, source_)) {
      return failure(*error);
    }
    const bool is_same = source_.address.bucket == request_.address.bucket;
    if (is_same && source_.address.key == request_.address.key && !replaces_) {
      return failure({400, "InvalidRequest", "a copy onto itself that changes nothing"});
    }
    ASSIGN_OR_RETURN(const CreateOptions options, create_options());
    if (is_same && store_may_copy()) {
      ASSIGN_OR_RETURN(copy_,
                       target->copy(source_.address.key, request_.address.key, options, context));
    } else {
      ASSIGN_OR_RETURN(copy_, copy_bytes(*target, options, context));
    }
    return answer();
  }

 private:
  // The store opens the source anew, and may find a younger one than was opened here. That is as
  // good, unless something was decided by this one.
  bool store_may_copy() const {
    const auto& metadata = source_.reader->info().metadata;
    const bool keeps_checksums = replaces_ && metadata && !metadata->checksums.empty();
    return !keeps_checksums && !algorithm_ &&
           !has_conditions(*request_.head, kCopySourceConditions);
  }

  Result<CreateOptions> create_options() const {
    CreateOptions options;
    ASSIGN_OR_RETURN(options.precondition, precondition_of(*request_.head));
    const auto& old = source_.reader->info().metadata;
    if (!replaces_) return options;
    options.metadata = metadata_of(*request_.head);
    if (old) options.metadata.checksums = old->checksums;
    // Without any the store would take those of the source.
    if (options.metadata.empty()) {
      options.metadata.headers["content-type"] = kDefaultContentType;
    }
    return options;
  }

  Result<ObjectInfo> copy_bytes(ObjectStore& target, CreateOptions options,
                                const Context& context) {
    const ObjectInfo& info = source_.reader->info();
    if (!replaces_ && info.metadata) options.metadata = *info.metadata;
    options.expected_size_bytes = info.size_bytes;
    std::optional<RunningDigest> digest;
    if (algorithm_) digest.emplace(*algorithm_);
    ASSIGN_OR_RETURN(const auto writer, target.create(request_.address.key, options, context));
    const auto append = [&](std::span<const std::byte> piece) {
      if (digest) digest->add(piece);
      return writer->append(piece, context);
    };
    RETURN_IF_ERROR(read_pieces(*source_.reader, {}, append, context));
    CommitOptions commit;
    if (is_content_etag(info.etag)) commit.etag = info.etag;
    if (digest) commit.checksums[std::string(name_of(*algorithm_))] = hex_of(digest->finish());
    return writer->commit(commit, context);
  }

  Answer answer() const {
    XmlWriter xml;
    {
      const auto root = xml.root("CopyObjectResult");
      xml.text("LastModified", iso_time(copy_.mtime_ns));
      xml.text("ETag", fmt::format("\"{}\"", copy_.etag));
      if (copy_.metadata) {
        for (const auto& [name, value] : checksum_elements(copy_.metadata->checksums)) {
          xml.text(name, value);
        }
      }
    }
    return xml_answer(std::move(xml));
  }

  bool replaces_ = false;  // the metadata
  std::optional<Algorithm> algorithm_;
  CopySource source_;
  ObjectInfo copy_;
};

}  // namespace

std::unique_ptr<Exchange> make_copy_object(S3Request request, Buckets& buckets) {
  if (auto error = refuse_unhonoured(*request.head)) {
    return make_refusal(std::move(request), *std::move(error));
  }
  return std::make_unique<CopyObject>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
