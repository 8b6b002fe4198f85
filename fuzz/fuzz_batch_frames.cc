// The framed answer to a batch and the JSON of the native API, as a client reads them; and the list
// of a batch, as a server does.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/check.h"
#include "leat/drivers/leat/frame_reader.h"
#include "leat/drivers/leat/json.h"
#include "leat/wire/batch.h"

namespace leat {
namespace {

constexpr std::size_t kTargetBytes = 16;

void check_result(const BatchRead& read) {
  if (!read.result.ok()) return;
  CHECK(read.result->bytes.size() <= read.range.length);
  if (!read.target.empty()) {
    CHECK(read.result->bytes.data() == read.target.data());
    CHECK(read.result->bytes.size() <= read.target.size());
  }
}

void check_frames(std::string_view text) {
  std::string_view rest = text;
  leat_driver::FrameReader frames([&](std::span<std::byte> target) -> Status {
    if (target.size() > rest.size()) return ErrorCode::kUnavailable;
    if (!target.empty()) std::memcpy(target.data(), rest.data(), target.size());
    rest.remove_prefix(target.size());
    return ok_status();
  });
  // As many as the text says, so that this does not end the test.
  std::size_t count = 0;
  if (text.size() >= wire::kFramesHeadBytes) {
    count = static_cast<unsigned char>(text[8]);
  }
  if (!frames.begin(count).ok()) return;
  std::array<std::byte, kTargetBytes + 1> space;
  space.back() = std::byte{0xAA};
  for (std::size_t i = 0; i < count; ++i) {
    BatchRead read;
    if (i % 3 == 1) read.target = std::span(space).first(kTargetBytes);
    if (i % 3 == 2) read.range.length = 100;
    if (!frames.next(read).ok()) return;
    check_result(read);
    CHECK(space.back() == std::byte{0xAA});
  }
}

void check_list(std::string_view text) {
  const auto list = wire::parse_batch_list(text);
  if (!list.ok()) return;
  std::string again;
  wire::begin_batch_list(again, list->items.size(), list->buckets);
  for (const wire::BatchItem& item : list->items) {
    CHECK(item.bucket < list->buckets.size());
    wire::append_batch_item(again, item);
  }
  CHECK(again == text);
}

}  // namespace
}  // namespace leat

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  leat::check_frames(text);
  leat::check_list(text);
  (void)leat::native_json::parse_page(text);
  (void)leat::native_json::parse_buckets(text);
  (void)leat::native_json::error_message(text);
  return 0;
}
