#include "leat/store/listing.h"

#include <utility>

namespace leat {
namespace {

constexpr std::uint64_t kStepsPerCheck = 1000;

// Where the first page item can be; nothing when no item can sort after `start_after`.
std::optional<std::string> first_position(const ListRequest& request) {
  const std::string& start = request.start_after;
  if (start < request.prefix) return request.prefix;
  if (start.starts_with(request.prefix)) {
    const std::string_view group = common_prefix(start, request.prefix, request.delimiter);
    if (!group.empty()) return after_prefix(group);
  }
  // NUL is in no name, so this is the least text that sorts after `start`.
  std::string position = start;
  if (!start.empty()) position += '\0';
  return position;
}

}  // namespace

std::optional<std::string> after_prefix(std::string_view prefix) {
  const std::size_t last = prefix.find_last_not_of('\xff');
  if (last == std::string_view::npos) return std::nullopt;
  std::string position(prefix.substr(0, last + 1));
  position.back() = static_cast<char>(static_cast<unsigned char>(position.back()) + 1);
  return position;
}

std::string_view common_prefix(std::string_view name, std::string_view prefix,
                               std::string_view delimiter) noexcept {
  if (delimiter.empty()) return {};
  const std::size_t at = name.find(delimiter, prefix.size());
  if (at == std::string_view::npos) return {};
  return name.substr(0, at + delimiter.size());
}

Result<ListPage> list_ordered(const ListRequest& request, OrderedCursor& cursor,
                              const Context& context) {
  RETURN_IF_ERROR(context.check());
  ListPage page;
  const std::optional<std::string> position = first_position(request);
  if (request.limit == 0 || !position) return page;
  RETURN_IF_ERROR(cursor.seek(*position));

  bool exhausted = false;  // nothing can sort after the last common prefix
  bool last_is_group = false;
  const auto more = [&] {
    return !exhausted && cursor.valid() && cursor.name().starts_with(request.prefix);
  };
  std::uint32_t count = 0;
  for (std::uint64_t step = 1; count < request.limit && more(); ++step) {
    if (step % kStepsPerCheck == 0) RETURN_IF_ERROR(context.check());
    const std::string_view name = cursor.name();
    const std::string_view group = common_prefix(name, request.prefix, request.delimiter);
    if (!group.empty()) {
      page.common_prefixes.emplace_back(group);
      last_is_group = true;
      ++count;
      const std::optional<std::string> beyond = after_prefix(page.common_prefixes.back());
      exhausted = !beyond.has_value();
      if (beyond) RETURN_IF_ERROR(cursor.seek(*beyond));
      continue;
    }
    auto info = cursor.info();
    if (info.ok()) {
      page.entries.push_back({std::string(name), *std::move(info)});
      last_is_group = false;
      ++count;
    } else if (!info.failed_with(ErrorCode::kNotFound)) {
      return std::move(info).error();
    }
    RETURN_IF_ERROR(cursor.next());
  }
  if (count == request.limit && more()) {
    page.next_start_after = last_is_group ? page.common_prefixes.back() : page.entries.back().name;
  }
  return page;
}

}  // namespace leat
