#include "leat/drivers/web/index_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leat::web {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kPage = "http://host:8000/data/train%20set/";

TEST(IndexPage, OfNginx) {
  EXPECT_THAT(parse_index_page(R"(<html><head><title>Index of /data/</title></head><body>
<h1>Index of /data/</h1><hr><pre><a href="../">../</a>
<a href="sub/">sub/</a>                       01-Jan-2026 00:00       -
<a href="b%20c.tar">b c.tar</a>               01-Jan-2026 00:00    1024
<a href="a.tar">a.tar</a>                     01-Jan-2026 00:00    1024
</pre><hr></body></html>)",
                               kPage),
              ElementsAre("a.tar", "b c.tar", "sub/"));
}

TEST(IndexPage, OfApache) {
  EXPECT_THAT(parse_index_page(R"(<table><tr><th><a href="?C=N;O=D">Name</a></th></tr>
<tr><td><a href="/data/">Parent Directory</a></td></tr>
<tr><td><a href="x.bin"><img src="/icons/binary.gif"></a></td><td><A class=x HREF='x.bin'>x</A></td></tr>
<tr><td><a href="Tom&amp;Jerry%27s.txt">T</a></td></tr></table>)",
                               kPage),
              ElementsAre("Tom&Jerry's.txt", "x.bin"));
}

TEST(IndexPage, OfPython) {
  EXPECT_THAT(parse_index_page("<ul>\n<li><a href=\"%C3%A9.txt\">\xc3\xa9.txt</a></li>\n"
                               "<li><a href=\"a%3Fb%23c.txt\">a?b#c.txt</a></li>\n"
                               "<li><a href=\"link@\">link@</a></li></ul>",
                               kPage),
              ElementsAre("a?b#c.txt", "link@", "\xc3\xa9.txt"));
}

TEST(IndexPage, LinksToElsewhereAreNoNames) {
  for (const char* link : {"",
                           ".",
                           "./",
                           "..",
                           "../",
                           "../x",
                           "%2e%2e",
                           "a/b",
                           "a%2Fb",
                           "/",
                           "/x",
                           "/data/",
                           "/data/train%20set/",
                           "/data/train%20set/a/b",
                           "//host/x",
                           "?x",
                           "x?y",
                           "#x",
                           "x#y",
                           "http://other/data/train%20set/x",
                           "https://host:8000/data/train%20set/x",
                           "http://host:80000/data/train%20set/x",
                           "mailto:x",
                           "javascript:x",
                           "a%00b",
                           "%zz",
                           "ftp://host/x"}) {
    EXPECT_EQ(name_of_link(link, kPage), "") << link;
  }
  EXPECT_EQ(name_of_link("x", kPage), "x");
  EXPECT_EQ(name_of_link("./x", kPage), "x");
  EXPECT_EQ(name_of_link("./a:b", kPage), "a:b");
  EXPECT_EQ(name_of_link("/data/train%20set/x%25", kPage), "x%");
  EXPECT_EQ(name_of_link("http://host:8000/data/train%20set/x/", kPage), "x/");
}

TEST(IndexPage, BrokenPagesGiveWhatTheyGive) {
  EXPECT_THAT(parse_index_page("<a href=\"x", kPage), IsEmpty());
  EXPECT_THAT(parse_index_page("<a href", kPage), IsEmpty());
  EXPECT_THAT(parse_index_page("<a href=", kPage), IsEmpty());
  EXPECT_THAT(parse_index_page("<a =x href=y>", kPage), ElementsAre("y"));
  EXPECT_THAT(parse_index_page("<abbr href=x><!-- <a href=hidden> --><a href=y>", kPage),
              ElementsAre("y"));
  EXPECT_THAT(parse_index_page("<!-- <a href=x>", kPage), IsEmpty());
  EXPECT_EQ(unescape_html("&amp;&lt;&#65;&#x42;&#x1F40E;&none;&#99999999;&"),
            "&<AB\xF0\x9F\x90\x8E&none;&#99999999;&");
}

}  // namespace
}  // namespace leat::web
