// `http://host/dir/` and `https://…`: what a web server offers, to be read.
//
// The store is the URL's folder, up to its last '/'. Its names come from
//   - index pages: `https://host/data/` (drivers/web/index_page.h), folders within folders too;
//   - a template: `https://host/data/train-{0000..0146}.tar`, as WebDataset writes them;
//   - a manifest: `https://host/data/#manifest=names.txt`, a file in the folder (or anywhere on
//     that host, when it begins with '/') with one name a line, or a JSON list of names.
// A query, such as `?token=…`, goes with every request. Objects need none of this: any name can be
// read.
//
//   - Nothing can be written: kUnsupported.
//   - Listings ask for the size of each name that they give, one request a name. A name of a
//     template or manifest that the server does not have is an error, not left out.
//   - A reader is one version: what differs in ETag, or, without one, in date or size, is refused
//     with kPreconditionFailed. ETags that a server does not give are made of date and size.
//   - A server that does not know ranges is read from the front; what lies far behind that is
//     refused with kUnsupported.
//   - Redirects are followed. One that only adds a '/' says that the name is a folder.
//
// Thread-safe; starts no threads.
#pragma once

#include <memory>

#include "leat/base/result.h"
#include "leat/store/object_store.h"
#include "leat/store/registry.h"

namespace leat {

// The schemes "http" and "https".
void register_web(Registry& registry);

}  // namespace leat
