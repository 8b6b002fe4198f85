// Objects from and to descriptors: standard input and output.
//
// Functions without state. Reading and writing wait in short steps, so that Ctrl-C and --timeout
// end a wait for a slow pipe.
#pragma once

#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/store/object_store.h"

namespace leat::cli {

// Every byte that comes, until the end. The crc32c that the store states is compared with ours.
Result<ObjectInfo> write_from_descriptor(int descriptor, ObjectStore& store, std::string_view name,
                                         const CreateOptions& options, const Context& context);

// kCorrupted after the last byte when the object's checksum is known and does not match.
Status read_to_descriptor(ObjectReader& reader, int descriptor, const Context& context);

}  // namespace leat::cli
