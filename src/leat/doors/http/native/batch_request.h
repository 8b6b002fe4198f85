// What a batch asks for, from its binary or its JSON form.
//
// JSON: {"bucket": …, "format": "tar" or "frames", "items": [{"bucket", "name", "offset",
// "length"} …]}; names are percent-encoded as in listings, and an item without a bucket is of the
// one that stands at the top. Nothing of it is kept but the items.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "leat/base/result.h"
#include "leat/wire/batch.h"

namespace leat::doors::http::native {

enum class BatchFormat : std::uint8_t { kTar, kFrames };

struct BatchRequest {
  wire::BatchList list;
  BatchFormat format = BatchFormat::kTar;
  std::deque<std::string> texts;  // what the list views, when that is not the body
};

// `text` is viewed only while this runs. kInvalidArgument when it is malformed, kTooLarge beyond
// the limits of wire/batch.h.
Result<BatchRequest> parse_batch_json(std::string_view text);

Result<BatchFormat> parse_batch_format(std::string_view text);

}  // namespace leat::doors::http::native
