// get_object and head_object.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "leat/doors/http/native/operation.h"
#include "leat/http/etag.h"
#include "leat/http/range.h"
#include "leat/wire/object_headers.h"

namespace leat::doors::http::native {
namespace {

using leat::http::matches_etag;
using leat::http::Method;

// Up to this size an answer is read at once and leaves in one piece with its head.
constexpr std::uint64_t kJoinedBytes = 64 << 10;

// Content headers that a browser is to see as what they are.
constexpr std::array<std::string_view, 5> kShownHeaders{
    "cache-control", "content-disposition", "content-encoding", "content-language", "expires"};

std::string content_lines(const ObjectInfo& info) {
  std::string_view type = "application/octet-stream";
  std::string lines;
  if (info.metadata) {
    for (const auto& [name, value] : info.metadata->headers) {
      if (!leat::http::is_header_value(value)) continue;
      if (name == "content-type") {
        type = value;
      } else if (std::find(kShownHeaders.begin(), kShownHeaders.end(), name) !=
                 kShownHeaders.end()) {
        lines += fmt::format("{}: {}\r\n", name, value);
      }
    }
  }
  return lines + fmt::format("Content-Type: {}\r\nAccept-Ranges: bytes\r\n", type);
}

class GetObject final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    ASSIGN_OR_RETURN(const auto store, bucket());
    OpenOptions options;
    ASSIGN_OR_RETURN(options.generation, number_parameter("generation"));
    if (request_.head->method() == Method::kHead && !options.generation) {
      ASSIGN_OR_RETURN(const ObjectInfo info, store->stat(request_.route.name, context));
      return answer_for(info, nullptr, context);
    }
    ASSIGN_OR_RETURN(auto reader, store->open(request_.route.name, options, context));
    const ObjectInfo info = reader->info();
    return answer_for(info, std::move(reader), context);
  }

 private:
  Result<Answer> answer_for(const ObjectInfo& info, std::unique_ptr<ObjectReader> reader,
                            const Context& context) {
    Answer answer;
    answer.headers = object_lines(info);
    if (const auto wanted = header("if-match"); wanted && !matches_etag(*wanted, info.etag)) {
      return Error(ErrorCode::kPreconditionFailed, "the object has another etag");
    }
    if (const auto known = header("if-none-match"); known && matches_etag(*known, info.etag)) {
      answer.status = 304;
      return answer;
    }
    ASSIGN_OR_RETURN(const auto range, range_of(info, answer));
    if (!range) return answer;
    if (request_.head->method() == Method::kHead) {
      answer.length_of_head = range->length;
    } else if (range->length <= kJoinedBytes) {
      std::string bytes(range->length, '\0');
      ASSIGN_OR_RETURN(
          const std::size_t count,
          reader->read_at(range->offset, std::as_writable_bytes(std::span(bytes)), context));
      if (count != bytes.size()) return Error(ErrorCode::kIoError, "the object ended early");
      answer.body = std::move(bytes);
    } else {
      answer.body = ObjectBody{std::move(reader), *range};
    }
    return answer;
  }

  // By the query, which cuts what lies past the end, or by a Range header, which does not. Nothing:
  // the range is not satisfiable, and the answer says so.
  Result<std::optional<ByteRange>> range_of(const ObjectInfo& info, Answer& answer) const {
    ASSIGN_OR_RETURN(const auto offset, number_parameter("offset"));
    ASSIGN_OR_RETURN(const auto length, number_parameter("length"));
    const ByteRange asked{offset.value_or(0), length.value_or(kToEnd)};
    const ByteRange all = asked.within(info.size_bytes);
    const auto text = header("range");
    if (!text || offset || length) return std::optional(all);
    const auto range = leat::http::parse_range(*text, info.size_bytes);
    if (!range) return std::optional(all);
    if (range->length == 0) {
      answer.status = 416;
      answer.headers = fmt::format("Content-Range: bytes */{}\r\n", info.size_bytes);
      return std::optional<ByteRange>();
    }
    answer.status = 206;
    answer.headers += fmt::format("Content-Range: bytes {}-{}/{}\r\n", range->offset,
                                  range->offset + range->length - 1, info.size_bytes);
    return std::optional(ByteRange{range->offset, range->length});
  }
};

class DeleteObject final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    ASSIGN_OR_RETURN(const auto store, bucket());
    RemoveOptions options;
    ASSIGN_OR_RETURN(options.precondition, wire::precondition_of(request_.head->headers()));
    if (const auto durability = header(wire::kDurabilityHeader)) {
      ASSIGN_OR_RETURN(options.durability, wire::parse_durability(*durability));
    }
    RETURN_IF_ERROR(store->remove(request_.route.name, options, context));
    Answer answer;
    answer.status = 204;
    return answer;
  }
};

}  // namespace

std::string object_lines(const ObjectInfo& info) {
  return wire::info_lines(info) + content_lines(info);
}

std::unique_ptr<Exchange> make_get_object(NativeRequest request, Services& services) {
  return std::make_unique<GetObject>(std::move(request), services);
}

std::unique_ptr<Exchange> make_delete_object(NativeRequest request, Services& services) {
  return std::make_unique<DeleteObject>(std::move(request), services);
}

}  // namespace leat::doors::http::native
