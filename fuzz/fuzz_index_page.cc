// Index pages, manifests and redirects, from any web server.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "leat/base/check.h"
#include "leat/base/url.h"
#include "leat/drivers/web/index_page.h"
#include "leat/drivers/web/name_list.h"
#include "leat/drivers/web/web_client.h"
#include "leat/store/object_store.h"

namespace leat::web {
namespace {

constexpr std::string_view kPage = "http://host/data/a%20b/";

void check_page(std::string_view text) {
  const auto names = parse_index_page(text, kPage);
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  for (const std::string& name : names) {
    const bool is_folder = name.ends_with('/');
    const std::string bare = is_folder ? name.substr(0, name.size() - 1) : name;
    // Nothing leads out of the folder, or to where the name does not say.
    CHECK(check_name(bare).ok() && bare.find('/') == bare.npos && is_web_name(bare));
    CHECK(name_of_link(percent_encode(bare) + (is_folder ? "/" : ""), kPage) == name);
  }
}

void check_manifest(std::string_view text) {
  const auto names = parse_manifest(text);
  if (!names.ok()) return;
  for (const std::string& name : *names) CHECK(check_name(name).ok() && is_web_name(name));
}

void check_redirect(std::string_view text) {
  const auto url = WebUrl::parse("https://host/a/b?c")->resolve(text);
  if (!url.ok()) return;
  CHECK(url->scheme == "http" || url->scheme == "https");
  CHECK(url->path.starts_with('/'));
  for (const std::string* part : {&url->host, &url->path, &url->query}) {
    CHECK(std::all_of(part->begin(), part->end(), [](char c) { return c > ' ' && c < 0x7f; }));
  }
}

}  // namespace
}  // namespace leat::web

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  leat::web::check_page(text);
  leat::web::check_manifest(text);
  leat::web::check_redirect(text);
  return 0;
}
