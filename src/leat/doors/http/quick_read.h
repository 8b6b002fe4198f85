// Objects that are read on the event loop: what the GET and HEAD of every API share.
//
// Nothing here waits. Whatever is not at hand, or asks for more than bytes, goes the other way, as
// an Exchange. Thread-safe.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "leat/doors/http/application.h"
#include "leat/doors/http/request_stats.h"
#include "leat/http/request_head.h"
#include "leat/store/object_store.h"

namespace leat::doors::http {

struct QuickRead {
  leat::http::Method method = leat::http::Method::kGet;
  std::string_view range{};                   // a Range header; empty: all of it
  std::optional<ByteRange> part{};            // goes before `range`; what lies past the end is cut
  std::optional<std::uint64_t> generation{};  // only this one
  bool is_signed = false;                     // in its headers
};

// The read that a head asks for. Nothing when there is more to it, as conditions; what stands in
// the query is for the caller.
std::optional<QuickRead> quick_read_of(const RequestHead& head);

// The headers of an object's answer, as whole lines; the bytes written, or nothing when they do not
// fit.
using WriteObjectHeaders = std::optional<std::size_t> (*)(std::span<char> space,
                                                          const ObjectInfo& info);

// Which object, how an API tells of it, and where it is counted.
struct QuickSource {
  ObjectStore& bucket;
  std::string_view name;
  WriteObjectHeaders write_headers;
  RequestStats::Operation& stats;
};
std::optional<QuickAnswer> answer_read_now(const QuickSource& source, const QuickRead& read,
                                           const QuickSpace& space);

}  // namespace leat::doors::http
