// read_xml(): the XML that S3 clients send, element by element.
//
// Takes what those documents are made of and refuses the rest, so that nothing can grow beyond its
// text: no document type and so no entities but the five of XML and numbers, no CDATA, no
// processing instructions. Attributes are checked for their form and dropped, and so are prefixes
// of namespaces. Does not recurse. Pure function; hostile text gives an error, never a crash.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "leat/base/result.h"

namespace leat::doors::http::s3 {

inline constexpr std::size_t kMostXmlDepth = 8;

// Called at the end of each element, with the names of it and those around it ("Delete/Object/Key")
// and the text right inside. An error ends the reading and is returned.
using OnXmlElement = std::function<Status(std::string_view path, std::string_view text)>;

// kInvalidArgument when it is not well-formed.
Status read_xml(std::string_view document, const OnXmlElement& on_element);

}  // namespace leat::doors::http::s3
