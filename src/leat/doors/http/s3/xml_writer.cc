#include "leat/doors/http/s3/xml_writer.h"

#include <fmt/format.h>

#include "leat/base/utf8.h"

namespace leat::doors::http::s3 {
namespace {

constexpr std::string_view kNamespace = "http://s3.amazonaws.com/doc/2006-03-01/";
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

void append_escaped(std::string& target, std::string_view value) {
  for (const char c : to_valid_utf8(value)) {
    switch (c) {
      case '&':
        target += "&amp;";
        break;
      case '<':
        target += "&lt;";
        break;
      case '>':
        target += "&gt;";
        break;
      case '"':
        target += "&quot;";
        break;
      case '\r':
        target += "&#13;";
        break;  // a reader would turn it into a line feed
      case '\n':
      case '\t':
        target += c;
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          target += kReplacement;
        } else {
          target += c;
        }
    }
  }
}

}  // namespace

XmlWriter::XmlWriter() : text_("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n") {}

XmlWriter::Element::Element(std::string& text, std::string_view name) : text_(text), name_(name) {
  text_ += fmt::format("<{}>", name);
}

XmlWriter::Element::~Element() {
  text_ += fmt::format("</{}>", std::string_view(name_).substr(0, name_.find(' ')));
}

XmlWriter::Element XmlWriter::root(std::string_view name) {
  return Element(text_, fmt::format("{} xmlns=\"{}\"", name, kNamespace));
}

void XmlWriter::text(std::string_view name, std::string_view value) {
  text_ += fmt::format("<{}>", name);
  append_escaped(text_, value);
  text_ += fmt::format("</{}>", name);
}

void XmlWriter::number(std::string_view name, std::uint64_t value) {
  text_ += fmt::format("<{}>{}</{}>", name, value, name);
}

}  // namespace leat::doors::http::s3
