// Names of a web store in byte order: from its index pages, or from a list.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"
#include "leat/store/listing.h"

namespace leat::web {

// What is known of one name.
using InfoSource = std::function<Result<ObjectInfo>(std::string_view name)>;

// `names` is sorted and outlives the cursor.
std::unique_ptr<OrderedCursor> make_list_cursor(const std::vector<std::string>& names,
                                                InfoSource info);

// The names right in a folder ("" or "a/b/"), sorted; those of folders end in '/'.
using PageSource = std::function<Result<std::vector<std::string>>(const std::string& folder)>;
// Everything beneath `folder`; or what is right in it, the names of folders among it.
enum class Depth : std::uint8_t { kAll, kOne };
std::unique_ptr<OrderedCursor> make_page_cursor(std::string folder, Depth depth, PageSource pages,
                                                InfoSource info);

}  // namespace leat::web
