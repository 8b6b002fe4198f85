// list_ordered(): ObjectStore::list() for every store that can walk its names in byte order.
//
// Prefix, delimiter, start_after, limit and paging are decided here once, so that all stores agree
// to the byte; a store brings a cursor over its names. A common prefix costs one seek, however
// many names lie beneath it.
//
// The rules, those of S3's ListObjectsV2. Every name that starts with `prefix` stands for one item:
// its common prefix when the delimiter occurs after `prefix`, otherwise itself. Of the distinct
// items in byte order a page holds the first `limit` that sort after `start_after`. So a common
// prefix that `start_after` lies within (start_after "a/b", common prefix "a/") is not returned:
// it sorts before. next_start_after is the last item of the page if there are more; a page with
// limit 0 is empty and the last.
//
// A function and an interface without state: as thread-safe as the cursor.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/store/object_store.h"

namespace leat {

// A walk over names in byte order. Names that come or go during the walk may be seen or not; one
// that is there all the time is seen exactly once.
class OrderedCursor {
 public:
  OrderedCursor() = default;
  OrderedCursor(const OrderedCursor&) = delete;
  OrderedCursor& operator=(const OrderedCursor&) = delete;
  virtual ~OrderedCursor() = default;

  // Moves to the first name that is not less than `at_or_after`, which may be empty or hold bytes
  // that no name has (NUL). `at_or_after` must not point into name().
  virtual Status seek(std::string_view at_or_after) = 0;
  // False before the first seek() and after the last name.
  virtual bool valid() const = 0;

  // The rest needs valid().
  // Stays good until the next seek() or next().
  virtual std::string_view name() const = 0;
  virtual Status next() = 0;
  // kNotFound when the object went away meanwhile: it is left out of the listing.
  virtual Result<ObjectInfo> info() const = 0;
};

// One page. Checks the context before the first step and every thousand.
Result<ListPage> list_ordered(const ListRequest& request, OrderedCursor& cursor,
                              const Context& context);

// The first text, in byte order, after all those that start with `prefix`; nothing when there is
// none (an empty prefix, or one of 0xFF bytes only).
std::optional<std::string> after_prefix(std::string_view prefix);

// The common prefix that `name` (which starts with `prefix`) belongs to; empty when the delimiter
// is empty or does not occur after `prefix`. Points into `name`.
std::string_view common_prefix(std::string_view name, std::string_view prefix,
                               std::string_view delimiter) noexcept;

}  // namespace leat
