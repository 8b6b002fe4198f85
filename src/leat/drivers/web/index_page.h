// The names on an index page, as web servers make them for a directory: nginx, Apache, lighttpd,
// Python's http.server and their like.
//
// Every link (an `href` of an `a`) that leads to something right in the directory is a name; one
// that ends in '/' is a directory. Links to elsewhere, upwards, with a query (how to sort) or a
// fragment are none. What is not understood is passed by. Pure functions, thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leat::web {

// In byte order, each once. `page_url` is the page's own, "http://host/dir/", percent-encoded.
// Names are decoded and relative to it; a directory's ends in '/'.
std::vector<std::string> parse_index_page(std::string_view html, std::string_view page_url);

// The name that `link` has in the directory of the page; empty when it has none.
std::string name_of_link(std::string_view link, std::string_view page_url);

// "&amp;" -> "&", and so on, for what stands in an attribute.
std::string unescape_html(std::string_view text);

}  // namespace leat::web
