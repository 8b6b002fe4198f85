// XmlWriter: XML without attributes but a namespace, which is all that S3 answers with.
//
// Whatever the text is, the result is well-formed: characters that XML 1.0 cannot hold become
// U+FFFD. For one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace leat::doors::http::s3 {

class XmlWriter {
 public:
  XmlWriter();

  // An element that ends with this.
  class [[nodiscard]] Element {
   public:
    Element(std::string& text, std::string_view name);
    ~Element();
    Element(const Element&) = delete;
    Element& operator=(const Element&) = delete;

   private:
    std::string& text_;
    const std::string name_;
  };
  Element element(std::string_view name) { return Element(text_, name); }
  // The outermost one, in S3's namespace.
  Element root(std::string_view name);
  void text(std::string_view name, std::string_view value);
  void number(std::string_view name, std::uint64_t value);
  void boolean(std::string_view name, bool value) { text(name, value ? "true" : "false"); }

  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace leat::doors::http::s3
