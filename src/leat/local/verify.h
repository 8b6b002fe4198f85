// verify_store(): reads everything that a store holds and compares it with its checksums.
#pragma once

#include "leat/local/engine.h"
#include "leat/local/local_store.h"
#include "leat/local/shard_members.h"

namespace leat::local {

Result<VerifyReport> verify_store(Engine& engine, ShardMembers& members,
                                  const VerifyOptions& options, const Context& context);

}  // namespace leat::local
