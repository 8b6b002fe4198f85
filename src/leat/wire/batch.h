// The binary forms of a batch of reads: the list of what is wanted, and the answer.
//
// Little-endian, without padding between the parts. The list:
//     0  "LEATBRQ1"
//     8  u32 number of items, n        12  u32 number of buckets, b
//    16  b buckets: u8 length, then the name
//        n items: u16 bucket (its position among the buckets), u16 bytes of the name, n,
//        u64 offset, u64 length (all ones: to the end), then the n bytes of the name
//
// The answer, in the order of the list:
//     0  "LEATBAN1"
//     8  u32 number of items           12  4 bytes 0
//    16  items: u8 status (0: well; otherwise 1 + the position of the error's code in
//        base/error.h), 7 bytes 0, u64 length, then so many bytes: the object's, or of an error
//        its message
//
// The parser of the list makes views into it and nothing more. Pure, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"
#include "leat/store/object_store.h"

namespace leat::wire {

inline constexpr std::size_t kMaxBatchItems = 65'536;
inline constexpr std::size_t kMaxBatchBuckets = 256;
inline constexpr std::size_t kMaxBatchBytes = 16 << 20;  // of the list
inline constexpr std::string_view kBatchType = "application/x-leat-batch";
inline constexpr std::string_view kFramesType = "application/x-leat-frames";

struct BatchItem {
  std::string_view name;
  ByteRange range;
  std::uint16_t bucket = 0;
};

struct BatchList {
  std::vector<std::string_view> buckets;
  std::vector<BatchItem> items;
};

// The result views `bytes`. kInvalidArgument for anything else than a list; kTooLarge beyond the
// limits.
Result<BatchList> parse_batch_list(std::string_view bytes);

// Appends a list; REQUIRES: names and counts within the limits.
void begin_batch_list(std::string& target, std::size_t item_count,
                      std::span<const std::string_view> buckets);
void append_batch_item(std::string& target, const BatchItem& item);

inline constexpr std::size_t kFramesHeadBytes = 16;
inline constexpr std::size_t kFrameBytes = 16;  // before the bytes of an item

void append_frames_head(std::string& target, std::size_t item_count);
void append_frame(std::string& target, std::span<const std::byte> bytes);
void append_frame_head(std::string& target, std::uint64_t length);
void append_error_frame(std::string& target, ErrorCode code, std::string_view message);

// The number of items. kCorrupted when it is none.
Result<std::size_t> parse_frames_head(std::span<const std::byte, kFramesHeadBytes> bytes);
struct Frame {
  std::uint64_t length = 0;
  std::optional<ErrorCode> error;
};
Result<Frame> parse_frame(std::span<const std::byte, kFrameBytes> bytes);

}  // namespace leat::wire
