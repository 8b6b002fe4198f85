#include "leat/wire/object_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "leat/base/hex.h"
#include "leat/base/url.h"
#include "leat/http/date.h"
#include "leat/http/etag.h"

namespace leat::wire {
namespace {

using http::unquoted;

constexpr std::string_view kMetaPrefix = "x-leat-meta-";
constexpr std::string_view kHeaderPrefix = "x-leat-header-";
constexpr std::string_view kChecksumPrefix = "x-leat-checksum-";

using Texts = std::map<std::string, std::string>;

// A value needs no more than what keeps it on one line and its spaces as they are.
constexpr std::string_view kPlainInValues = "!\"#$&'()*+,/:;<=>?@[\\]^`{|}";

std::string encode_value(std::string_view value) {
  return percent_encode(value, kPlainInValues);
}

void add_all(HeaderList& headers, std::string_view prefix, const Texts& texts) {
  for (const auto& [name, value] : texts) {
    headers.emplace_back(std::string(prefix) + percent_encode(name), encode_value(value));
  }
}

bool starts_with_ignoring_case(std::string_view text, std::string_view lower_case) {
  return text.size() >= lower_case.size() &&
         http::equals_ignoring_case(text.substr(0, lower_case.size()), lower_case);
}

// True when the header has this prefix and was taken.
Result<bool> take(const http::Header& header, std::string_view prefix, Texts& texts) {
  if (!starts_with_ignoring_case(header.name, prefix)) return false;
  ASSIGN_OR_RETURN(std::string name, percent_decode(header.name.substr(prefix.size())));
  ASSIGN_OR_RETURN(std::string value, percent_decode(header.value));
  if (name.empty()) return Error(ErrorCode::kInvalidArgument, "metadata without a name");
  texts[http::to_lower(name)] = std::move(value);
  return true;
}

std::optional<std::string_view> find(std::span<const http::Header> headers,
                                     std::string_view lower_case_name) {
  for (const http::Header& header : headers) {
    if (http::equals_ignoring_case(header.name, lower_case_name)) return header.value;
  }
  return std::nullopt;
}

Error missing(std::string_view header) {
  return Error(ErrorCode::kCorrupted,
               fmt::format("the answer has no {}: is that a Leat server?", header));
}

}  // namespace

void add_metadata(HeaderList& headers, const Metadata& metadata) {
  add_all(headers, kHeaderPrefix, metadata.headers);
  add_all(headers, kMetaPrefix, metadata.user);
  add_all(headers, kChecksumPrefix, metadata.checksums);
}

Result<Metadata> metadata_of(std::span<const http::Header> headers) {
  Metadata metadata;
  for (const http::Header& header : headers) {
    ASSIGN_OR_RETURN(bool is_taken, take(header, kMetaPrefix, metadata.user));
    if (is_taken) continue;
    ASSIGN_OR_RETURN(is_taken, take(header, kHeaderPrefix, metadata.headers));
    if (is_taken) continue;
    RETURN_IF_ERROR(take(header, kChecksumPrefix, metadata.checksums));
  }
  return metadata;
}

std::string info_lines(const ObjectInfo& info) {
  std::string lines =
      fmt::format("ETag: \"{}\"\r\nLast-Modified: {}\r\n{}: {}\r\n{}: {}\r\n{}: {}\r\n",
                  is_plain_etag(info.etag) ? info.etag : percent_encode(info.etag),
                  http::format_date(info.mtime_ns / 1'000'000'000), kSizeHeader, info.size_bytes,
                  kGenerationHeader, info.generation, kMtimeHeader, info.mtime_ns);
  if (info.crc32c) lines += fmt::format("{}: {}\r\n", kCrc32cHeader, to_hex(*info.crc32c));
  if (info.metadata) {
    HeaderList headers;
    add_metadata(headers, *info.metadata);
    for (const auto& [name, value] : headers) lines += fmt::format("{}: {}\r\n", name, value);
  }
  return lines;
}

Result<ObjectInfo> info_of(std::span<const http::Header> headers) {
  const auto number = [&](std::string_view name) -> std::optional<std::uint64_t> {
    const auto text = find(headers, name);
    return text ? parse_number(*text) : std::nullopt;
  };
  ObjectInfo info;
  const auto size = number(kSizeHeader);
  if (!size) return missing(kSizeHeader);
  info.size_bytes = *size;
  const auto generation = number(kGenerationHeader);
  if (!generation) return missing(kGenerationHeader);
  info.generation = *generation;
  const std::string_view mtime = find(headers, kMtimeHeader).value_or("");
  const auto [end, error] =
      std::from_chars(mtime.data(), mtime.data() + mtime.size(), info.mtime_ns);
  if (error != std::errc() || end != mtime.data() + mtime.size()) return missing(kMtimeHeader);
  info.etag = unquoted(find(headers, "etag").value_or(""));
  if (const auto crc = find(headers, kCrc32cHeader)) {
    const auto value = parse_hex_u32(*crc);
    if (!value.ok()) return missing(kCrc32cHeader);
    info.crc32c = *value;
  }
  auto metadata = metadata_of(headers);
  if (!metadata.ok()) {
    return Error(ErrorCode::kCorrupted, std::string(metadata.error().message()));
  }
  if (!metadata->empty()) info.metadata = std::make_shared<const Metadata>(*std::move(metadata));
  return info;
}

void add_precondition(HeaderList& headers, const Precondition& precondition) {
  switch (precondition.kind) {
    case Precondition::Kind::kNone:
      return;
    case Precondition::Kind::kAbsent:
      headers.emplace_back("if-none-match", "*");
      return;
    case Precondition::Kind::kPresent:
      headers.emplace_back("if-match", "*");
      return;
    case Precondition::Kind::kEtag:
      headers.emplace_back("if-match", "\"" + precondition.etag + "\"");
      return;
    case Precondition::Kind::kGeneration:
      headers.emplace_back(kIfGenerationHeader, std::to_string(precondition.generation));
      return;
  }
}

Result<Precondition> precondition_of(std::span<const http::Header> headers) {
  const auto match = find(headers, "if-match");
  const auto none_match = find(headers, "if-none-match");
  const auto generation = find(headers, kIfGenerationHeader);
  const int count = (match ? 1 : 0) + (none_match ? 1 : 0) + (generation ? 1 : 0);
  if (count == 0) return Precondition::none();
  if (count > 1) {
    return Error(ErrorCode::kInvalidArgument, "a change has one precondition at most");
  }
  if (none_match) {
    if (*none_match == "*") return Precondition::absent();
    return Error(ErrorCode::kUnsupported, "of a change only \"If-None-Match: *\" is understood");
  }
  if (match) {
    if (*match == "*") return Precondition::present();
    return Precondition::has_etag(std::string(unquoted(*match)));
  }
  const auto number = parse_number(*generation);
  if (!number) return Error(ErrorCode::kInvalidArgument, "x-leat-if-generation is not a number");
  return Precondition::has_generation(*number);
}

std::string_view durability_name(Durability durability) noexcept {
  switch (durability) {
    case Durability::kMemory:
      return "memory";
    case Durability::kDisk:
      return "disk";
    case Durability::kDefault:
      break;
  }
  return "";
}

Result<Durability> parse_durability(std::string_view text) {
  if (text == "memory") return Durability::kMemory;
  if (text == "disk") return Durability::kDisk;
  return Error(ErrorCode::kInvalidArgument, "durability is \"memory\" or \"disk\"");
}

std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<ErrorCode> error_code_of(std::string_view name) noexcept {
  for (int code = 0; code < kErrorCodeCount; ++code) {
    if (error_traits(static_cast<ErrorCode>(code)).name == name) {
      return static_cast<ErrorCode>(code);
    }
  }
  return std::nullopt;
}

bool is_plain_etag(std::string_view etag) noexcept {
  return std::all_of(etag.begin(), etag.end(),
                     [](char c) { return c > ' ' && c < 0x7f && c != '"'; });
}

}  // namespace leat::wire
