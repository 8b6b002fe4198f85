#include "leat/drivers/leat/json.h"

#include <nlohmann/json.hpp>

#include "leat/base/hex.h"
#include "leat/base/url.h"
#include "leat/wire/object_headers.h"

namespace leat::native_json {
namespace {

using Json = nlohmann::json;

Error malformed() {
  return Error(ErrorCode::kCorrupted, "the answer is not what a Leat server says");
}

Result<Json> parse(std::string_view text) {
  Json document = Json::parse(text, nullptr, false);
  if (!document.is_object()) return malformed();
  return document;
}

const Json* find(const Json& object, const char* name) {
  const auto it = object.find(name);
  return it == object.end() ? nullptr : &*it;
}

Result<std::string> text_of(const Json* value) {
  if (value == nullptr || !value->is_string()) return malformed();
  return value->get_ref<const std::string&>();
}

// Names are percent-encoded wherever they stand.
Result<std::string> name_of(const Json* value) {
  ASSIGN_OR_RETURN(const std::string text, text_of(value));
  auto name = percent_decode(text);
  if (!name.ok()) return malformed();
  return name;
}

template <typename T>
Result<T> number_of(const Json* value) {
  if (value == nullptr || !value->is_number_integer()) return malformed();
  if (std::is_unsigned_v<T> && !value->is_number_unsigned()) return malformed();
  return value->get<T>();
}

Result<LeatServer::Bucket> bucket_of(const Json& object) {
  if (!object.is_object()) return malformed();
  LeatServer::Bucket bucket;
  ASSIGN_OR_RETURN(bucket.name, text_of(find(object, "name")));
  ASSIGN_OR_RETURN(const std::string durability, text_of(find(object, "durability")));
  // The one that is not told is the store's own.
  if (durability == "memory") bucket.durability = Durability::kMemory;
  ASSIGN_OR_RETURN(bucket.created_ns, number_of<std::int64_t>(find(object, "created_ns")));
  return bucket;
}

Result<ListPage::Entry> entry_of(const Json& object) {
  if (!object.is_object()) return malformed();
  ListPage::Entry entry;
  ASSIGN_OR_RETURN(entry.name, name_of(find(object, "name")));
  ASSIGN_OR_RETURN(entry.info.size_bytes, number_of<std::uint64_t>(find(object, "size")));
  ASSIGN_OR_RETURN(entry.info.mtime_ns, number_of<std::int64_t>(find(object, "mtime_ns")));
  ASSIGN_OR_RETURN(entry.info.generation, number_of<std::uint64_t>(find(object, "generation")));
  ASSIGN_OR_RETURN(entry.info.etag, text_of(find(object, "etag")));
  if (const Json* crc = find(object, "crc32c")) {
    ASSIGN_OR_RETURN(const std::string text, text_of(crc));
    const auto value = parse_hex_u32(text);
    if (!value.ok()) return malformed();
    entry.info.crc32c = *value;
  }
  return entry;
}

}  // namespace

Result<LeatServer::Bucket> parse_bucket(std::string_view text) {
  ASSIGN_OR_RETURN(const Json document, parse(text));
  return bucket_of(document);
}

Result<std::vector<LeatServer::Bucket>> parse_buckets(std::string_view text) {
  ASSIGN_OR_RETURN(const Json document, parse(text));
  const Json* const list = find(document, "buckets");
  if (list == nullptr || !list->is_array()) return malformed();
  std::vector<LeatServer::Bucket> buckets;
  for (const Json& one : *list) {
    ASSIGN_OR_RETURN(auto bucket, bucket_of(one));
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

Result<ListPage> parse_page(std::string_view text) {
  ASSIGN_OR_RETURN(const Json document, parse(text));
  const Json* const entries = find(document, "entries");
  const Json* const prefixes = find(document, "common_prefixes");
  if (entries == nullptr || !entries->is_array()) return malformed();
  if (prefixes == nullptr || !prefixes->is_array()) return malformed();
  ListPage page;
  page.entries.reserve(entries->size());
  for (const Json& one : *entries) {
    ASSIGN_OR_RETURN(auto entry, entry_of(one));
    page.entries.push_back(std::move(entry));
  }
  for (const Json& one : *prefixes) {
    ASSIGN_OR_RETURN(auto prefix, name_of(&one));
    page.common_prefixes.push_back(std::move(prefix));
  }
  ASSIGN_OR_RETURN(page.next_start_after, name_of(find(document, "next_start_after")));
  return page;
}

std::string error_message(std::string_view text) {
  const auto document = parse(text);
  const Json* const error = document.ok() ? find(*document, "error") : nullptr;
  if (error == nullptr || !error->is_object()) return "";
  const auto message = text_of(find(*error, "message"));
  return message.ok() ? *message : "";
}

}  // namespace leat::native_json
