#include "leat/doors/http/s3/xml_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace leat::doors::http::s3 {
namespace {

// "path=text;" for each element, or the error.
std::string read(std::string_view document) {
  std::string seen;
  const Status status = read_xml(document, [&](std::string_view path, std::string_view text) {
    seen += fmt::format("{}={};", path, text);
    return ok_status();
  });
  return status.ok() ? seen : "malformed";
}

TEST(XmlReader, GivesElementsWithTheirText) {
  EXPECT_EQ(
      read("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- x --><Delete xmlns=\"http://a/\" >"
           "<Object><Key>a b</Key></Object><Quiet/><x:Odd y:z = '\"' >1</x:Odd></Delete>\n"),
      "Delete/Object/Key=a b;Delete/Object=;Delete/Quiet=;Delete/Odd=1;Delete=;");
  EXPECT_EQ(read("\xef\xbb\xbf<a/>"), "a=;");
  EXPECT_EQ(read("<a>1<b/>2<!-- 3 -->4</a>"), "a/b=;a=124;");
}

TEST(XmlReader, DecodesTextOnce) {
  EXPECT_EQ(read("<a>&lt;&gt;&quot;&apos;&amp;lt;&#65;&#x42;&#13;&#x1;&#8364;&#x1F600;</a>"),
            "a=<>\"'&lt;AB\r\x01\xe2\x82\xac\xf0\x9f\x98\x80;");
  EXPECT_EQ(read("<a> x\r\ny\rz\t</a>"), "a= x\ny\nz\t;");
}

TEST(XmlReader, RefusesWhatItNeedNotUnderstand) {
  for (const char* document : {"",
                               " ",
                               "a",
                               "<a>",
                               "<a></b>",
                               "</a>",
                               "<a/><b/>",
                               "<a/>x",
                               "<a",
                               "<a b>",
                               "<a b=c/>",
                               "<a b=\"<\"/>",
                               "<a b='1'c='2'/>",
                               "<>",
                               "< a/>",
                               "<a:/>",
                               "<:></:>",
                               "<a><b></a></b>",
                               "<a>&nbsp;</a>",
                               "<a>&</a>",
                               "<a>&#0;</a>",
                               "<a>&#xD800;</a>",
                               "<a>&#x110000;</a>",
                               "<a>&#;</a>",
                               "<a>&#-1;</a>",
                               "<a>&#99999999999;</a>",
                               "<a>\x01</a>",
                               "<a><![CDATA[x]]></a>",
                               "<a><?php ?></a>",
                               "<?xml ",
                               "<!DOCTYPE a><a/>",
                               "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
                               "<a><!-- </a>",
                               "<a><a><a><a><a><a><a><a><a></a></a></a></a></a></a></a></a></a>"}) {
    EXPECT_EQ(read(document), "malformed") << document;
  }
}

TEST(XmlReader, EndsWhenItIsToldTo) {
  int seen = 0;
  const Status status =
      read_xml("<a><b/><b/></a>", [&](std::string_view, std::string_view) -> Status {
        ++seen;
        return ErrorCode::kTooLarge;
      });
  EXPECT_TRUE(status.failed_with(ErrorCode::kTooLarge));
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace leat::doors::http::s3
