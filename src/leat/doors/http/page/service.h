// PageService: the page for people, at /leat: what the server holds and does, in a browser.
//
// The page is a handful of files that are part of the program and the same for everybody; whatever
// it shows it asks of the native API, as the key that its reader gives it. So there is nothing to
// guard here but the reader's browser: it may run only these files, and speak only to this server.
// Thread-safe.
#pragma once

#include <span>

#include "leat/base/embedded_file.h"
#include "leat/doors/http/application.h"

namespace leat::doors::http::page {

// "index.html" is the page itself; the others lie beneath /leat/page/.
std::span<const EmbeddedFile> page_files() noexcept;

// Whether a path is the page's: "/leat", "/leat/" and what begins with "/leat/page/".
bool is_page_path(std::string_view path) noexcept;

class PageService final : public Application {
 public:
  std::optional<QuickAnswer> answer_now(const RequestHead& head, const QuickSpace& space) override;
  std::unique_ptr<Exchange> begin(const RequestHead& head) override;
  Answer refuse(const BadRequest& request) override;
};

}  // namespace leat::doors::http::page
