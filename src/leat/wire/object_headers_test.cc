#include "leat/wire/object_headers.h"

#include <gtest/gtest.h>

namespace leat::wire {
namespace {

using http::Header;

// The headers of a text of lines.
std::vector<Header> headers_of(std::string_view lines) {
  std::vector<Header> headers;
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const auto header = http::parse_header_line(lines.substr(0, end));
    EXPECT_TRUE(header.ok()) << lines.substr(0, end);
    if (header.ok()) headers.push_back(*header);
    lines.remove_prefix(end + 2);
  }
  return headers;
}

TEST(ObjectHeaders, CarryAllThatIsKnown) {
  ObjectInfo info;
  info.size_bytes = 12;
  info.mtime_ns = -5;
  info.generation = UINT64_MAX;
  info.etag = "abc-3";
  info.crc32c = 0x1234;
  Metadata metadata;
  metadata.headers = {{"content-type", "a/b"}};
  metadata.user = {{"odd", "  line\r\nbreak \xff% "}, {"\xc3\xa9 key", ""}};
  metadata.checksums = {{"sha256", "00"}};
  info.metadata = std::make_shared<const Metadata>(metadata);
  const std::string lines = info_lines(info);
  const auto seen = info_of(headers_of(lines));
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->size_bytes, info.size_bytes);
  EXPECT_EQ(seen->mtime_ns, info.mtime_ns);
  EXPECT_EQ(seen->generation, info.generation);
  EXPECT_EQ(seen->etag, info.etag);
  EXPECT_EQ(seen->crc32c, info.crc32c);
  ASSERT_NE(seen->metadata, nullptr);
  EXPECT_EQ(*seen->metadata, metadata);
}

TEST(ObjectHeaders, MissOne) {
  const std::string lines = info_lines({});
  EXPECT_TRUE(info_of(headers_of(lines)).ok());
  for (const std::string_view name : {kSizeHeader, kGenerationHeader, kMtimeHeader}) {
    auto headers = headers_of(lines);
    std::erase_if(headers, [&](const Header& header) { return header.name == name; });
    EXPECT_TRUE(info_of(headers).failed_with(ErrorCode::kCorrupted)) << name;
  }
}

TEST(ObjectHeaders, CarryPreconditions) {
  for (const auto& precondition :
       {Precondition::none(), Precondition::absent(), Precondition::present(),
        Precondition::has_etag("x"), Precondition::has_etag(""), Precondition::has_generation(7)}) {
    HeaderList list;
    add_precondition(list, precondition);
    std::vector<Header> headers;
    for (const auto& [name, value] : list) headers.push_back({name, value});
    const auto seen = precondition_of(headers);
    ASSERT_TRUE(seen.ok());
    EXPECT_EQ(seen->kind, precondition.kind);
    EXPECT_EQ(seen->etag, precondition.etag);
    EXPECT_EQ(seen->generation, precondition.generation);
  }
  const Header two[] = {{"If-Match", "*"}, {"If-None-Match", "*"}};
  EXPECT_TRUE(precondition_of(two).failed_with(ErrorCode::kInvalidArgument));
  const Header other[] = {{"if-none-match", "\"x\""}};
  EXPECT_TRUE(precondition_of(other).failed_with(ErrorCode::kUnsupported));
}

TEST(ObjectHeaders, NameEveryError) {
  for (int code = 0; code < kErrorCodeCount; ++code) {
    const auto value = static_cast<ErrorCode>(code);
    EXPECT_EQ(error_code_of(error_traits(value).name), value);
  }
  EXPECT_EQ(error_code_of("fine"), std::nullopt);
}

}  // namespace
}  // namespace leat::wire
