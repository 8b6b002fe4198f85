#include "leat/wire/batch.h"

#include <gtest/gtest.h>

namespace leat::wire {
namespace {

constexpr auto kInvalid = ErrorCode::kInvalidArgument;

std::string sample_list() {
  std::string list;
  const std::string_view buckets[] = {"photos", "b2"};
  begin_batch_list(list, 3, buckets);
  append_batch_item(list, {"cat", {}, 0});
  append_batch_item(list, {std::string_view("\xff/\0x", 4), {7, 9}, 1});
  append_batch_item(list, {"", {UINT64_MAX, 0}, 0});
  return list;
}

TEST(BatchList, ComesBackAsItWas) {
  const std::string bytes = sample_list();
  const auto list = parse_batch_list(bytes);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->buckets, (std::vector<std::string_view>{"photos", "b2"}));
  ASSERT_EQ(list->items.size(), 3u);
  EXPECT_EQ(list->items[0].name, "cat");
  EXPECT_EQ(list->items[0].range, ByteRange());
  EXPECT_EQ(list->items[1].name, std::string_view("\xff/\0x", 4));
  EXPECT_EQ(list->items[1].range, (ByteRange{7, 9}));
  EXPECT_EQ(list->items[1].bucket, 1);
}

// Pinned: other programs speak it.
TEST(BatchList, HasTheseBytes) {
  std::string list;
  const std::string_view buckets[] = {"b"};
  begin_batch_list(list, 1, buckets);
  append_batch_item(list, {"n", {2, 3}, 0});
  using namespace std::string_literals;
  EXPECT_EQ(list, "LEATBRQ1\1\0\0\0\1\0\0\0\1b\0\0\1\0\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0n"s);
}

TEST(BatchList, RefusesEveryPartOfOne) {
  const std::string bytes = sample_list();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(parse_batch_list(std::string_view(bytes).substr(0, size)).failed_with(kInvalid));
  }
  EXPECT_TRUE(parse_batch_list(bytes + "x").failed_with(kInvalid));
}

TEST(BatchList, RefusesWhatIsTooMuch) {
  std::string list;
  begin_batch_list(list, kMaxBatchItems + 1, {});
  EXPECT_TRUE(parse_batch_list(list).failed_with(ErrorCode::kTooLarge));
  EXPECT_TRUE(
      parse_batch_list(std::string(kMaxBatchBytes + 1, 'x')).failed_with(ErrorCode::kTooLarge));
  std::string unknown_bucket;
  begin_batch_list(unknown_bucket, 1, {});
  append_batch_item(unknown_bucket, {"n", {}, 0});
  EXPECT_TRUE(parse_batch_list(unknown_bucket).failed_with(kInvalid));
}

TEST(BatchFrames, SayHowEachItemWent) {
  std::string frames;
  append_frames_head(frames, 2);
  append_frame(frames, std::as_bytes(std::span(std::string_view("bytes"))));
  append_error_frame(frames, ErrorCode::kNotFound, "gone");
  const auto bytes = std::as_bytes(std::span(frames));
  EXPECT_EQ(*parse_frames_head(bytes.first<kFramesHeadBytes>()), 2u);
  const auto first = parse_frame(bytes.subspan<16, kFrameBytes>());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->length, 5u);
  EXPECT_EQ(first->error, std::nullopt);
  const auto second = parse_frame(bytes.subspan<37, kFrameBytes>());
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->length, 4u);
  EXPECT_EQ(second->error, ErrorCode::kNotFound);
  EXPECT_FALSE(parse_frame(bytes.subspan<1, kFrameBytes>()).ok());
  EXPECT_FALSE(parse_frames_head(bytes.subspan<1, kFramesHeadBytes>()).ok());
}

}  // namespace
}  // namespace leat::wire
