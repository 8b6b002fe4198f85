// `leat://host:port/bucket`: a bucket of a Leat server, over its native API. `leats:` is the same
// with TLS.
//
//   - The store can do what the server's own can: any name, metadata, generations, preconditions.
//   - A batch is one request and one streamed answer; when it breaks off, what is missing is asked
//     for again.
//   - A small object is read as a whole when it is opened. A large one streams from then on, by a
//     request that the server holds to one version: whoever reads on from where the last read ended
//     sees that version, whatever happens to the name. A read elsewhere asks for that version;
//     when the object was replaced meanwhile it fails with kPreconditionFailed and never gives the
//     bytes of another version.
//   - What changes nothing is repeated when the connection fails. So is the write of a small object
//     and a removal, without a precondition; a write in pieces, or with a precondition whose
//     outcome would be unknown, is not: kUnavailable then leaves the old object or the new one.
//
// Thread-safe; starts no threads.
#pragma once

#include "leat/drivers/leat/leat_server.h"
#include "leat/store/registry.h"

namespace leat {

// The schemes "leat" and "leats". All locations that one Registry opens on one server share its
// connections. IfMissing::kCreate makes a bucket that is missing.
void register_leat(Registry& registry);

}  // namespace leat
