#include "leat/cli/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "leat/base/hex.h"
#include "leat/base/url.h"
#include "leat/base/utf8.h"

namespace leat::cli {
namespace {

void write_text(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fputc('\n', stream);
}

std::string dump(const Json& document, int indent) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// Columns that a text takes on a terminal, near enough: one for each character.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

}  // namespace

void Output::line(std::string_view text) {
  write_text(stdout, text);
}

void Output::json(const Json& document) {
  write_text(stdout, dump(document, -1));
}

void Output::table(const std::vector<std::vector<std::string>>& rows, std::string_view right) {
  for (const std::string& text : aligned(rows, right)) line(text);
}

void Output::summary(std::string_view text) {
  if (!options_.quiet && !options_.json) line(text);
}

void Output::note(std::string_view text) {
  if (!options_.quiet) write_text(stderr, text);
}

void Output::error(std::string_view what, const Error& error, std::string_view advice) {
  write_error(fmt::format("cannot {}: {}", what, error.message()), error_traits(error.code()).name,
              advice);
}

void Output::usage_error(std::string_view message, std::string_view advice) {
  write_error(message, "usage", advice);
}

void Output::write_error(std::string_view message, std::string_view code, std::string_view advice) {
  if (options_.json) {
    const Json document = {{"error", message}, {"code", code}, {"try", advice}};
    write_text(stderr, dump(document, -1));
    return;
  }
  write_text(stderr, fmt::format("leat: {}\ntry: {}", message, advice));
}

bool Output::flush() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows,
                                 std::string_view right) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      const bool to_the_right = right.find(static_cast<char>('0' + i)) != std::string_view::npos;
      if (i > 0) text += "  ";
      if (to_the_right) text += padding;
      text += row[i];
      if (!to_the_right && i + 1 < row.size()) text += padding;
    }
    lines.push_back(std::move(text));
  }
  return lines;
}

std::string printable(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const std::size_t bytes = std::max<std::size_t>(1, utf8_character_bytes(name));
    const auto first = static_cast<unsigned char>(name.front());
    // The two-byte characters from U+0080 to U+009F are control characters as well.
    const bool is_control =
        first < 0x20 || first == 0x7F ||
        (bytes == 2 && first == 0xC2 && static_cast<unsigned char>(name[1]) < 0xA0);
    const bool is_plain = utf8_character_bytes(name) > 0 && !is_control && first != '%';
    const std::string_view character = name.substr(0, bytes);
    text += is_plain ? std::string(character) : percent_encode(character);
    name.remove_prefix(bytes);
  }
  return text;
}

void set_name(Json& object, const std::string& key, std::string_view name) {
  const std::string valid = to_valid_utf8(name);
  object[key] = valid;
  if (valid != name) object[key + "_encoded"] = percent_encode(name, "/");
}

std::string time_text(std::int64_t wall_ns) {
  const std::chrono::sys_time<std::chrono::nanoseconds> time{std::chrono::nanoseconds(wall_ns)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void set_info(Json& object, const ObjectInfo& info) {
  object["size_bytes"] = info.size_bytes;
  object["mtime"] = time_text(info.mtime_ns);
  object["mtime_ns"] = info.mtime_ns;
  if (!info.etag.empty()) object["etag"] = info.etag;
  if (info.generation > 0) object["generation"] = info.generation;
  if (info.crc32c) object["crc32c"] = to_hex(*info.crc32c);
  if (!info.metadata || info.metadata->empty()) return;
  Json metadata;
  metadata["headers"] = info.metadata->headers;
  metadata["user"] = info.metadata->user;
  metadata["checksums"] = info.metadata->checksums;
  object["metadata"] = metadata;
}

}  // namespace leat::cli
