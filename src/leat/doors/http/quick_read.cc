#include "leat/doors/http/quick_read.h"

#include <fmt/format.h>

#include "leat/http/range.h"

namespace leat::doors::http {
namespace {

using leat::http::equals_ignoring_case;
using leat::http::Method;

// What of an object of that size is asked for.
struct Part {
  ByteRange range;
  bool is_partial = false;  // told as such: 206
};
// Nothing: the range is not satisfiable.
std::optional<Part> part_of(const QuickRead& read, std::uint64_t size_bytes) {
  if (read.part) return Part{read.part->within(size_bytes), false};
  const auto range = leat::http::parse_range(read.range, size_bytes);
  if (!range) return Part{{0, size_bytes}, false};
  if (range->length == 0) return std::nullopt;
  return Part{{range->offset, range->length}, true};
}

}  // namespace

std::optional<QuickRead> quick_read_of(const RequestHead& head) {
  if (head.method() != Method::kGet && head.method() != Method::kHead) return std::nullopt;
  QuickRead read;
  read.method = head.method();
  for (const leat::http::Header& header : head.headers()) {
    switch (header.name.front() | 0x20) {
      case 'r':
        if (equals_ignoring_case(header.name, "range")) read.range = header.value;
        break;
      case 'i':
        if (equals_ignoring_case(header.name.substr(0, 3), "if-")) return std::nullopt;
        break;
      case 'o':
        if (equals_ignoring_case(header.name, "origin")) return std::nullopt;
        break;
      case 'a':
        read.is_signed |= equals_ignoring_case(header.name, "authorization");
        break;
      case 'x':
        if (equals_ignoring_case(header.name, "x-amz-checksum-mode")) return std::nullopt;
        break;
      default:
        break;
    }
  }
  return read;
}

std::optional<QuickAnswer> answer_read_now(const QuickSource& source, const QuickRead& read,
                                           const QuickSpace& space) {
  const MonotonicTime begin = std::chrono::steady_clock::now();
  QuickAnswer answer;
  thread_local ObjectInfo small_info;  // keeps the memory of its strings
  const ObjectInfo* info = &small_info;
  std::shared_ptr<ObjectReader> reader;
  if (const auto bytes = source.bucket.read_now(source.name, space.body, small_info)) {
    answer.body = *bytes;
  } else {
    reader = source.bucket.open_now(source.name);
    if (!reader) return std::nullopt;
    info = &reader->info();
  }
  if (read.generation && *read.generation != info->generation) return std::nullopt;
  const auto part = part_of(read, info->size_bytes);
  if (!part) return std::nullopt;
  const ByteRange range = part->range;
  const auto end = source.write_headers(space.headers, *info);
  if (!end) return std::nullopt;
  answer.header_bytes = *end;
  if (part->is_partial) {
    answer.status = 206;
    const auto written = fmt::format_to_n(space.headers.data() + *end, space.headers.size() - *end,
                                          "Content-Range: bytes {}-{}/{}\r\n", range.offset,
                                          range.offset + range.length - 1, info->size_bytes);
    answer.header_bytes += written.size;
    if (answer.header_bytes > space.headers.size()) return std::nullopt;
  }
  std::uint64_t bytes = range.length;
  if (read.method == Method::kHead) {
    answer.length_of_head = range.length;
    answer.body = {};
    bytes = 0;
  } else if (reader) {
    answer.object = ObjectBody{std::move(reader), range};
  } else {
    answer.body = answer.body.subspan(range.offset, range.length);
  }
  answer.counted = {&source.stats, begin, answer.status, bytes};
  return answer;
}

}  // namespace leat::doors::http
