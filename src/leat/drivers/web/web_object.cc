#include "leat/drivers/web/web_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "leat/http/date.h"
#include "leat/wire/stream_reader.h"

namespace leat::web {
namespace {

constexpr int kAttempts = 3;
// What is read and dropped, at most, of a server that gives no ranges.
constexpr std::uint64_t kMaxSkippedBytes = 64 << 20;

std::string_view without_quotes(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.starts_with('"') && etag.ends_with('"')) {
    return etag.substr(1, etag.size() - 2);
  }
  return etag;
}

ObjectInfo info_of(const WebAnswer& answer, std::uint64_t size_bytes) {
  ObjectInfo info;
  info.size_bytes = size_bytes;
  const auto modified = http::parse_date(answer.head().header("last-modified").value_or(""));
  if (modified) info.mtime_ns = static_cast<std::int64_t>(*modified) * 1'000'000'000;
  info.etag = without_quotes(answer.head().header("etag").value_or(""));
  // The least that changes with the bytes, of what such a server tells.
  if (info.etag.empty()) info.etag = fmt::format("{:x}-{:x}", modified.value_or(0), size_bytes);
  return info;
}

// "bytes 0-99/1000".
struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t size = 0;
};
std::optional<ContentRange> content_range_of(const WebAnswer& answer) {
  std::string_view text = answer.head().header("content-range").value_or("");
  ContentRange range;
  const auto take = [&](std::string_view before, std::uint64_t& number) {
    if (!text.starts_with(before)) return false;
    text.remove_prefix(before.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  };
  const bool is_good = take("bytes ", range.first) && take("-", range.last) &&
                       take("/", range.size) && text.empty() && range.first <= range.last &&
                       range.last < range.size;
  return is_good ? std::optional(range) : std::nullopt;
}

Error corrupted(const WebAnswer& answer) {
  return Error(ErrorCode::kCorrupted,
               answer.url.place() + " answers with another range than was asked for");
}

// Asks, and tells folders and errors from objects.
Result<WebAnswer> ask_object(WebClient& client, WebRequest request, const Context& context) {
  const std::string folder_path = request.url.path + "/";
  ASSIGN_OR_RETURN(WebAnswer answer, client.ask(std::move(request), context));
  if (answer.url.path == folder_path) {
    const Error error(ErrorCode::kNotFound, answer.url.place() + " is a folder");
    answer.finish(context);
    return error;
  }
  if (answer.head().status() == 416) return answer;
  if (const Status status = check_status(answer); !status.ok()) {
    answer.finish(context);
    return status.error();
  }
  const auto encoding = answer.head().header("content-encoding").value_or("identity");
  if (!http::equals_ignoring_case(encoding, "identity")) {
    return Error(ErrorCode::kUnsupported, answer.url.place() + " comes encoded, as " +
                                              std::string(encoding) + ", though nobody asked");
  }
  return answer;
}

Result<std::uint64_t> size_of(const WebAnswer& answer) {
  if (const auto length = answer.head().content_length()) return *length;
  return Error(ErrorCode::kUnsupported,
               answer.url.place() + ": the server does not say how long it is");
}

// Reads from a body that holds the object from its start on.
Status read_behind(WebAnswer& answer, std::uint64_t offset, std::span<std::byte> target,
                   const Context& context) {
  if (offset > kMaxSkippedBytes) {
    return Error(ErrorCode::kUnsupported,
                 answer.url.place() + ": the server gives no ranges; copy the object first");
  }
  RETURN_IF_ERROR(wire::skip_bytes(*answer.connection, offset, context));
  return answer.connection->read_all(target, context);
}

// Bytes of the version that `known` is; kNotFound when that is gone.
Status read_range(WebClient& client, const WebUrl& url, const ObjectInfo& known,
                  std::uint64_t offset, std::span<std::byte> target, const Context& context) {
  WebRequest request;
  request.url = url;
  request.headers.emplace_back("range",
                               fmt::format("bytes={}-{}", offset, offset + target.size() - 1));
  ASSIGN_OR_RETURN(WebAnswer answer, ask_object(client, std::move(request), context));
  const bool is_part = answer.head().status() == 206;
  const auto range = content_range_of(answer);
  if (is_part && !range) return corrupted(answer);
  const std::uint64_t size = is_part ? range->size : answer.head().content_length().value_or(0);
  if (answer.head().status() == 416 || info_of(answer, size).etag != known.etag ||
      size != known.size_bytes) {
    return ErrorCode::kNotFound;
  }
  if (!is_part) return read_behind(answer, offset, target, context);
  if (range->first != offset || range->last != offset + target.size() - 1) return corrupted(answer);
  RETURN_IF_ERROR(answer.connection->read_all(target, context));
  answer.finish(context);
  return ok_status();
}

std::string range_header(ByteRange range) {
  const std::uint64_t most = UINT64_MAX - range.offset;
  if (range.length > most) return fmt::format("bytes={}-", range.offset);
  return fmt::format("bytes={}-{}", range.offset, range.offset + range.length - 1);
}

constexpr std::uint64_t kStepBytes = 16 << 20;

Result<Slice> try_part(WebClient& client, const WebUrl& url, ByteRange range,
                       std::span<std::byte> target, const Context& context) {
  WebRequest request;
  request.url = url;
  request.headers.emplace_back("range", range_header(range));
  ASSIGN_OR_RETURN(WebAnswer answer, ask_object(client, std::move(request), context));
  if (answer.head().status() == 416) {  // it is there, and ends before
    answer.finish(context);
    return Slice{};
  }
  const bool is_part = answer.head().status() == 206;
  std::uint64_t size = 0;
  if (is_part) {
    const auto given = content_range_of(answer);
    if (!given || given->first != range.offset) return corrupted(answer);
    size = given->size;
    if (given->last - given->first + 1 != range.within(size).length) return corrupted(answer);
  } else {
    ASSIGN_OR_RETURN(size, size_of(answer));
  }
  const ByteRange wanted = range.within(size);
  const auto read_first = [&](std::span<std::byte> part) {
    return is_part ? answer.connection->read_all(part, context)
                   : read_behind(answer, wanted.offset, part, context);
  };
  Slice slice;
  if (!target.empty()) {
    target = target.first(static_cast<std::size_t>(wanted.length));
    if (!target.empty()) RETURN_IF_ERROR(read_first(target));
    slice.bytes = target;
  } else {
    // Memory for what comes, not for what a stranger says will come.
    auto bytes = std::make_shared<std::vector<std::byte>>();
    for (std::uint64_t done = 0; done < wanted.length; done = bytes->size()) {
      bytes->resize(static_cast<std::size_t>(std::min(wanted.length, done + kStepBytes)));
      const auto part = std::span(*bytes).subspan(static_cast<std::size_t>(done));
      RETURN_IF_ERROR(done == 0 ? read_first(part) : answer.connection->read_all(part, context));
    }
    slice.bytes = *bytes;
    slice.owner = std::move(bytes);
  }
  answer.finish(context);
  return slice;
}

}  // namespace

Result<ObjectInfo> stat_object(WebClient& client, const WebUrl& url, const Context& context) {
  WebRequest request;
  request.method = "HEAD";
  request.url = url;
  auto answer = ask_object(client, request, context);
  // Some servers answer no HEAD, or without a length: one byte tells as much.
  const bool is_answered = answer.ok() ? answer->head().content_length().has_value()
                                       : !answer.failed_with(ErrorCode::kIoError);
  if (is_answered) {
    if (!answer.ok()) return std::move(answer).error();
    const ObjectInfo info = info_of(*answer, *answer->head().content_length());
    answer->finish(context);
    return info;
  }
  request.method = "GET";
  request.headers.emplace_back("range", "bytes=0-0");
  ASSIGN_OR_RETURN(WebAnswer byte, ask_object(client, std::move(request), context));
  if (byte.head().status() == 416) return info_of(byte, 0);
  const auto range = content_range_of(byte);
  if (byte.head().status() == 206 && !range) return corrupted(byte);
  std::uint64_t size = range ? range->size : 0;
  if (byte.head().status() == 200) {
    ASSIGN_OR_RETURN(size, size_of(byte));
  }
  const ObjectInfo info = info_of(byte, size);
  byte.finish(context);
  return info;
}

Result<std::unique_ptr<ObjectReader>> open_object(std::shared_ptr<WebClient> client,
                                                  const WebUrl& url, const Context& context) {
  for (int attempt = 1;; ++attempt) {
    WebRequest request;
    request.url = url;
    ASSIGN_OR_RETURN(WebAnswer answer, ask_object(*client, std::move(request), context));
    ASSIGN_OR_RETURN(const std::uint64_t size, size_of(answer));
    const ObjectInfo info = info_of(answer, size);
    const auto elsewhere = [client, url, info](std::uint64_t offset, std::span<std::byte> target,
                                               const Context& range_context) {
      Status status = read_range(*client, url, info, offset, target, range_context);
      for (int again = 1; again < kAttempts && status.failed_with(ErrorCode::kUnavailable);
           ++again) {
        status = read_range(*client, url, info, offset, target, range_context);
      }
      return status;
    };
    auto reader = wire::StreamReader::open(answer.client, std::move(answer.connection), info,
                                           elsewhere, context);
    if (!reader.failed_with(ErrorCode::kUnavailable) || attempt == kAttempts) return reader;
  }
}

Result<Slice> read_part(WebClient& client, const WebUrl& url, ByteRange range,
                        std::span<std::byte> target, const Context& context) {
  if (!target.empty()) range.length = std::min<std::uint64_t>(range.length, target.size());
  if (range.length == 0) {
    RETURN_IF_ERROR(stat_object(client, url, context));
    return Slice{};
  }
  for (int attempt = 1;; ++attempt) {
    auto slice = try_part(client, url, range, target, context);
    if (!slice.failed_with(ErrorCode::kUnavailable) || attempt == kAttempts) return slice;
  }
}

}  // namespace leat::web
