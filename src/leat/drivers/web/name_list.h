// Lists of names that need no index page: a template, and a manifest.
//
// Pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"

namespace leat::web {

inline constexpr std::size_t kMaxNames = 10'000'000;

// "shard-{000..002}.tar" -> shard-000.tar, shard-001.tar, shard-002.tar, as a shell or WebDataset
// expands it: ranges of numbers, with as many digits as are written, lists {train,val}, and
// several of them. kInvalidArgument for anything else in braces, kTooLarge beyond kMaxNames.
Result<std::vector<std::string>> expand_template(std::string_view text);

// One name a line, or a JSON list of names. Empty lines are passed by. kInvalidArgument for a name
// that leads elsewhere: an absolute one, one with ".." in it, a URL.
Result<std::vector<std::string>> parse_manifest(std::string_view text);

// Relative, without empty, "." and ".." components: what a web server takes as it is.
bool is_web_name(std::string_view name) noexcept;

}  // namespace leat::web
