// One object of a web server: what its headers say, and its bytes.
#pragma once

#include <memory>
#include <string>

#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/drivers/web/web_client.h"
#include "leat/store/object_store.h"

namespace leat::web {

// kNotFound also for a folder.
Result<ObjectInfo> stat_object(WebClient& client, const WebUrl& url, const Context& context);
Result<std::unique_ptr<ObjectReader>> open_object(std::shared_ptr<WebClient> client,
                                                  const WebUrl& url, const Context& context);
// One read of a batch: one request, for what is wanted of the object and no more.
Result<Slice> read_part(WebClient& client, const WebUrl& url, ByteRange range,
                        std::span<std::byte> target, const Context& context);

}  // namespace leat::web
