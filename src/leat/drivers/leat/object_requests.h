// The requests about one object of a server, and its readers and writers.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "leat/drivers/leat/leat_server.h"
#include "leat/store/object_store.h"
#include "leat/wire/object_headers.h"

namespace leat::leat_driver {

// Paths are "/leat/v1/objects/BUCKET/NAME".
std::string object_path(std::string_view bucket, std::string_view name);

// Headers are signed by their lower-case names.
void add_headers(http::ClientRequest& request, const wire::HeaderList& headers);
// kInvalidArgument for an etag that no object can have.
Status add_precondition(http::ClientRequest& request, const Precondition& precondition);
void add_durability(http::ClientRequest& request, Durability durability);
// All of it but the size.
Status add_create_options(http::ClientRequest& request, const CreateOptions& options);

Result<std::unique_ptr<ObjectReader>> open_reader(std::shared_ptr<LeatServer> server,
                                                  std::string path, const OpenOptions& options,
                                                  const Context& context);
Result<std::unique_ptr<ObjectWriter>> make_writer(std::shared_ptr<LeatServer> server,
                                                  std::string path, const CreateOptions& options,
                                                  const Context& context);
void read_batch(LeatServer& server, std::string_view bucket, std::span<BatchRead> reads,
                const Context& context);

}  // namespace leat::leat_driver
