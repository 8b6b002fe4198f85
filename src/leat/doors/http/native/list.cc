// list_objects and list_shard: names in JSON. Names may hold any byte, so they are percent-encoded
// wherever they stand, with '/' as it is.
#include <fmt/format.h>

#include "leat/base/hex.h"
#include "leat/base/url.h"
#include "leat/doors/http/native/operation.h"

namespace leat::doors::http::native {
namespace {

constexpr std::uint32_t kMostNames = 10'000;

// Letters, digits and the like as they are: all but a few names are copied.
void append_name(std::string& text, std::string_view name) {
  constexpr auto kPlain = [] {
    std::array<bool, 256> plain{};
    for (int c = 'a'; c <= 'z'; ++c) plain[static_cast<std::size_t>(c)] = true;
    for (int c = 'A'; c <= 'Z'; ++c) plain[static_cast<std::size_t>(c)] = true;
    for (int c = '0'; c <= '9'; ++c) plain[static_cast<std::size_t>(c)] = true;
    for (const char c : std::string_view("-._~/")) plain[static_cast<unsigned char>(c)] = true;
    return plain;
  }();
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain[byte]) {
      text += c;
    } else {
      text += '%';
      text += kDigits[byte >> 4];
      text += kDigits[byte & 15];
    }
  }
}

class ListObjects final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    ASSIGN_OR_RETURN(const auto store, bucket());
    ListRequest list;
    list.prefix = request_.query.find("prefix").value_or("");
    list.delimiter = request_.query.find("delimiter").value_or("");
    list.start_after = request_.query.find("start_after").value_or("");
    ASSIGN_OR_RETURN(const auto limit, number_parameter("limit"));
    if (limit) list.limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(*limit, kMostNames));
    if (request_.query.find("members") == "1") list.members = ListRequest::Members::kShow;
    if (request_.query.find("reachable") == "1") {
      list.unreachable = ListRequest::Unreachable::kLeaveOut;
    }
    ASSIGN_OR_RETURN(const ListPage page, store->list(list, context));
    return json_answer(to_json(page));
  }

 private:
  static std::string to_json(const ListPage& page) {
    std::string text = "{\"entries\":[";
    text.reserve(page.entries.size() * 160 + page.common_prefixes.size() * 40 + 100);
    std::string_view separator = "\n";
    for (const ListPage::Entry& entry : page.entries) {
      text += separator;
      text += "{\"name\":\"";
      append_name(text, entry.name);
      fmt::format_to(std::back_inserter(text),
                     "\",\"size\":{},\"mtime_ns\":{},\"generation\":{},\"etag\":\"{}\"",
                     entry.info.size_bytes, entry.info.mtime_ns, entry.info.generation,
                     json_text_of(entry.info.etag));
      if (entry.info.crc32c) {
        text += ",\"crc32c\":\"";
        text += to_hex(*entry.info.crc32c);
        text += '"';
      }
      text += '}';
      separator = ",\n";
    }
    text += "],\n\"common_prefixes\":[";
    separator = "";
    for (const std::string& prefix : page.common_prefixes) {
      text += separator;
      text += '"';
      append_name(text, prefix);
      text += '"';
      separator = ",";
    }
    text += "],\n\"next_start_after\":\"";
    append_name(text, page.next_start_after);
    return text + "\"}\n";
  }

  // Etags are plain almost always.
  static std::string json_text_of(const std::string& etag) {
    const bool is_plain = etag.find_first_not_of("0123456789abcdefABCDEF-") == etag.npos;
    return is_plain ? etag : json_text(etag);
  }
};

class ListShard final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    ASSIGN_OR_RETURN(const auto shard, services_.buckets->store()->shard(
                                           request_.route.bucket, request_.route.name, context));
    const ShardIndex& index = *shard.index;
    ASSIGN_OR_RETURN(const auto limit, number_parameter("limit"));
    const std::uint64_t most = std::min<std::uint64_t>(limit.value_or(kMostNames), kMostNames);
    std::size_t position = 0;
    if (const auto after = request_.query.find("start_after")) {
      position = index.seek(*after);
      if (position < index.size() && index.name(position) == *after) ++position;
    }
    std::string text =
        fmt::format("{{\"generation\":{},\"size\":{},\"member_count\":{},\"members\":[",
                    shard.generation, index.shard_bytes(), index.size());
    std::string next;
    std::string_view separator = "\n";
    for (std::uint64_t count = 0; position < index.size() && count < most; ++count, ++position) {
      const ShardMember member = index.member(position);
      text += separator;
      text += "{\"name\":\"";
      append_name(text, member.name);
      fmt::format_to(std::back_inserter(text),
                     "\",\"offset\":{},\"size\":{},\"mtime_ns\":{},\"crc32c\":\"{}\"}}",
                     member.data_offset, member.size_bytes, member.mtime_ns, to_hex(member.crc32c));
      separator = ",\n";
      next = member.name;
    }
    if (position == index.size()) next.clear();
    text += "],\n\"next_start_after\":\"";
    append_name(text, next);
    return json_answer(text + "\"}\n");
  }
};

}  // namespace

std::unique_ptr<Exchange> make_list(NativeRequest request, Services& services) {
  if (request.route.row->route == Route::kListShard) {
    return std::make_unique<ListShard>(std::move(request), services);
  }
  return std::make_unique<ListObjects>(std::move(request), services);
}

}  // namespace leat::doors::http::native
