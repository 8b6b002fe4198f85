// GetObject and HeadObject.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "leat/doors/http/browser_lines.h"
#include "leat/doors/http/s3/checksum.h"
#include "leat/doors/http/s3/conditions.h"
#include "leat/doors/http/s3/multipart.h"
#include "leat/doors/http/s3/object_metadata.h"
#include "leat/doors/http/s3/operation.h"
#include "leat/doors/http/s3/operations.h"
#include "leat/http/date.h"
#include "leat/http/range.h"

namespace leat::doors::http::s3 {
namespace {

using leat::http::Method;
using leat::http::parse_range;

// Other doors let metadata be longer than S3 does.
constexpr std::size_t kMostHeaderBytes = 64 << 10;

class GetObject final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    RETURN_IF_ERROR(open(context));
    const ObjectInfo& info = reader_->info();
    if (auto decided = check_conditions(info)) return *std::move(decided);
    Answer answer;
    std::string headers(kMostHeaderBytes, '\0');
    const auto written = append_object_headers(headers, info);
    if (!written) return Error(ErrorCode::kIoError, "the metadata is too long for an answer");
    headers.resize(*written);
    answer.headers = std::move(headers);
    ByteRange range{0, info.size_bytes};
    if (const auto error = choose_range(info.size_bytes, range, answer)) return failure(*error);
    override_headers(answer.headers);
    // Checksums are those of the whole object.
    if (answer.status == 200 && info.metadata && wants_checksums()) {
      answer.headers += checksum_headers(info.metadata->checksums);
    }
    if (request_.head->method() == Method::kHead) {
      answer.length_of_head = range.length;
    } else {
      answer.body = ObjectBody{std::move(reader_), range};
    }
    return answer;
  }

 private:
  // The object, and the sizes of its parts if one of them is asked for.
  Status open(const Context& context) {
    ASSIGN_OR_RETURN(const auto store, bucket());
    constexpr int kTries = 10;
    for (int i = 0; i < kTries; ++i) {
      ASSIGN_OR_RETURN(reader_, store->open(request_.address.key, {}, context));
      if (!request_.query.has("partNumber")) return ok_status();
      ASSIGN_OR_RETURN(const auto all, uploads());
      auto sizes = all->part_sizes(request_.address.key, reader_->info().generation, context);
      if (sizes.failed_with(ErrorCode::kNotFound)) continue;  // replaced between the two looks
      ASSIGN_OR_RETURN(part_sizes_, std::move(sizes));
      return ok_status();
    }
    return ErrorCode::kUnavailable;
  }

  // What of the object is asked for, by a range or by the number of a part.
  std::optional<S3Error> choose_range(std::uint64_t size_bytes, ByteRange& range,
                                      Answer& answer) const {
    const std::string_view wanted = header("range").value_or("");
    if (request_.query.has("partNumber")) {
      if (!wanted.empty()) {
        return S3Error{400, "InvalidRequest",
                       "Cannot specify both Range header and partNumber query parameter"};
      }
      if (auto error = choose_part(range, answer)) return error;
      if (range.length == 0) return std::nullopt;
    } else if (const auto part = parse_range(wanted, size_bytes)) {
      if (part->length == 0) return S3Error{416, "InvalidRange", "the range is not satisfiable"};
      range = {part->offset, part->length};
    } else {
      return std::nullopt;
    }
    answer.status = 206;
    answer.headers += fmt::format("Content-Range: bytes {}-{}/{}\r\n", range.offset,
                                  range.offset + range.length - 1, size_bytes);
    return std::nullopt;
  }

  // An object that came as one is its own first part.
  std::optional<S3Error> choose_part(ByteRange& range, Answer& answer) const {
    std::uint32_t number = 0;
    if (auto error = read_part_number(request_, number)) return error;
    if (number > std::max<std::size_t>(part_sizes_.size(), 1)) {
      return S3Error{416, "InvalidPartNumber", "The requested partnumber is not satisfiable"};
    }
    if (part_sizes_.empty()) return std::nullopt;
    answer.headers += fmt::format("x-amz-mp-parts-count: {}\r\n", part_sizes_.size());
    range.offset =
        std::accumulate(part_sizes_.begin(), part_sizes_.begin() + (number - 1), std::uint64_t{0});
    range.length = part_sizes_[number - 1];
    return std::nullopt;
  }

  bool wants_checksums() const {
    return leat::http::equals_ignoring_case(header("x-amz-checksum-mode").value_or(""), "enabled");
  }

  // The answer if a condition of the request decides it.
  std::optional<Answer> check_conditions(const ObjectInfo& info) const {
    const Verdict verdict = judge(*request_.head, "", info);
    if (verdict == Verdict::kGo) return std::nullopt;
    if (verdict == Verdict::kFailed) {
      return failure({412, "PreconditionFailed", "the object is not in the state asked for"});
    }
    Answer answer;
    answer.status = 304;
    answer.headers = fmt::format("ETag: \"{}\"\r\nLast-Modified: {}\r\n", info.etag,
                                 leat::http::format_date(info.mtime_ns / 1'000'000'000));
    return answer;
  }

  // "response-content-type=…" and its like: the presigned link says how a browser is to take it.
  void override_headers(std::string& headers) const {
    constexpr std::string_view kPrefix = "response-";
    for (const auto& [name, value] : request_.query.all()) {
      if (!name.starts_with(kPrefix)) continue;
      const std::string_view overridden = std::string_view(name).substr(kPrefix.size());
      if (!is_content_header(overridden) || !leat::http::is_header_value(value)) continue;
      remove_line(headers, overridden);
      headers += fmt::format("{}: {}\r\n", overridden, value);
    }
  }
  static void remove_line(std::string& headers, std::string_view lower_case_name) {
    for (std::size_t at = 0; at < headers.size();) {
      const std::size_t end = headers.find("\r\n", at) + 2;
      const std::string_view line = std::string_view(headers).substr(at, end - at);
      if (leat::http::equals_ignoring_case(line.substr(0, line.find(':')), lower_case_name)) {
        headers.erase(at, end - at);
      } else {
        at = end;
      }
    }
  }

  std::unique_ptr<ObjectReader> reader_;
  std::vector<std::uint64_t> part_sizes_;  // none: it came as one
};

}  // namespace

std::optional<std::size_t> append_object_headers(std::span<char> space, const ObjectInfo& info) {
  std::size_t used = 0;
  const auto append = [&](fmt::string_view format, const auto&... values) {
    const auto written = fmt::vformat_to_n(space.data() + used, space.size() - used, format,
                                           fmt::make_format_args(values...));
    used += written.size;
    return used <= space.size();
  };
  std::string_view type = kDefaultContentType;
  if (info.metadata) {
    // Other doors take any bytes; what would be more than a line, or another header, is not told.
    for (const auto& [name, value] : info.metadata->headers) {
      if (!is_content_header(name) || !leat::http::is_header_value(value)) continue;
      if (name == "content-type") {
        type = value;
      } else if (!append("{}: {}\r\n", name, value)) {
        return std::nullopt;
      }
    }
    std::size_t untold = 0;
    for (const auto& [name, value] : info.metadata->user) {
      if (!leat::http::is_header_name(name) || !leat::http::is_header_value(value)) {
        ++untold;
      } else if (!append("x-amz-meta-{}: {}\r\n", name, value)) {
        return std::nullopt;
      }
    }
    if (untold > 0 && !append("x-amz-missing-meta: {}\r\n", untold)) return std::nullopt;
  }
  std::array<char, leat::http::kDateBytes> date;
  leat::http::format_date_into(info.mtime_ns / 1'000'000'000, date);
  if (!append("Content-Type: {}\r\nETag: \"{}\"\r\nLast-Modified: {}\r\nAccept-Ranges: bytes\r\n{}",
              type, info.etag, std::string_view(date.data(), date.size()), kBrowserLines)) {
    return std::nullopt;
  }
  return used;
}

std::unique_ptr<Exchange> make_get_object(S3Request request, Buckets& buckets) {
  return std::make_unique<GetObject>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
