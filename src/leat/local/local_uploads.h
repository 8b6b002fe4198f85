// The uploads of a bucket of the local store. Internal to local/; uploads.h is the public face.
#pragma once

#include <memory>
#include <string>

#include "leat/local/bucket.h"
#include "leat/local/uploads.h"

namespace leat::local {

std::shared_ptr<Uploads> make_uploads(std::shared_ptr<EngineSource> store,
                                      std::shared_ptr<BucketState> state, std::string url);

}  // namespace leat::local
