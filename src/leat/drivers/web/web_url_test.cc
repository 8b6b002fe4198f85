#include "leat/drivers/web/web_url.h"

#include <gtest/gtest.h>

#include "leat/store/testing/contract.h"

namespace leat::web {
namespace {

using leat::testing::fails_with;
using leat::testing::succeeds;

Result<StoreUrl> parse(const char* text) {
  const auto url = Url::parse(text);
  if (!url.ok()) return url.error();
  return parse_store_url(*url);
}

TEST(WebStoreUrl, IsAFolderAndAName) {
  auto url = parse("https://host/a%20b/c.tar?token=x%26y");
  ASSERT_TRUE(succeeds(url));
  EXPECT_EQ(url->folder.place(), "https://host/a%20b/");
  EXPECT_EQ(url->folder.query, "token=x%26y");
  EXPECT_EQ(url->name, "c.tar");
  url = parse("http://host:8000");
  ASSERT_TRUE(succeeds(url));
  EXPECT_EQ(url->folder.place(), "http://host:8000/");
  EXPECT_EQ(url->name, "");
  url = parse("http://host/data/{a,b}/s-{0..1}.tar");
  ASSERT_TRUE(succeeds(url));
  EXPECT_EQ(url->folder.path, "/data/");
  EXPECT_EQ(url->names,
            (std::vector<std::string>{"a/s-0.tar", "a/s-1.tar", "b/s-0.tar", "b/s-1.tar"}));
  url = parse("http://host/data/#manifest=names.txt");
  ASSERT_TRUE(succeeds(url));
  EXPECT_EQ(url->folder.path, "/data/");
  EXPECT_EQ(url->manifest, "names.txt");
  for (const char* bad : {"http://", "http:///x", "http://user@host/", "http://host/#fragment",
                          "http://host/#manifest=", "http://host/{1..2}#manifest=x",
                          "http://host/{0..1}/..", "http://ho\nst/"}) {
    EXPECT_TRUE(fails_with(parse(bad), ErrorCode::kInvalidArgument)) << bad;
  }
  // Nothing of a URL can end the line that it stands on.
  url = parse("http://host/a\r\nX: y/b");
  ASSERT_TRUE(succeeds(url));
  EXPECT_EQ(url->folder.path, "/a%0D%0AX:%20y/");
}

TEST(WebUrl, RedirectsLeadWhereTheySay) {
  const WebUrl from = *WebUrl::parse("https://host/a/b/c?q=1#f");
  const auto to = [&](const char* location) {
    const auto url = from.resolve(location);
    return url.ok() ? url->place() + (url->query.empty() ? "" : "?" + url->query) : "none";
  };
  EXPECT_EQ(from.query, "q=1");
  EXPECT_EQ(to("d"), "https://host/a/b/d");
  EXPECT_EQ(to("../d/"), "https://host/a/d/");
  EXPECT_EQ(to("../../../../d"), "https://host/d");
  EXPECT_EQ(to("/d?x=y#z"), "https://host/d?x=y");
  EXPECT_EQ(to("?x"), "https://host/a/b/c?x");
  EXPECT_EQ(to("//other:81/d"), "https://other:81/d");
  EXPECT_EQ(to("HTTP://other"), "http://other/");
  EXPECT_EQ(to("ftp://other/"), "none");
  EXPECT_EQ(to("https://user:word@other/"), "none");
}

}  // namespace
}  // namespace leat::web
