#include "leat/base/utf8.h"

#include <gtest/gtest.h>

namespace leat {
namespace {

TEST(Utf8, KnowsValidCharacters) {
  EXPECT_EQ(utf8_character_bytes("a"), 1u);
  EXPECT_EQ(utf8_character_bytes("é"), 2u);
  EXPECT_EQ(utf8_character_bytes("€x"), 3u);
  EXPECT_EQ(utf8_character_bytes("\U0001F600"), 4u);
  EXPECT_EQ(utf8_character_bytes("\uD7FF"), 3u);
  EXPECT_EQ(utf8_character_bytes("\U0010FFFF"), 4u);
}

TEST(Utf8, RefusesEveryOtherSequence) {
  for (const char* text :
       {"", "\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x80\x80", "\xE2\x82",
        "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_EQ(utf8_character_bytes(text), 0u) << text;
  }
}

TEST(Utf8, ReplacesWhatIsInvalid) {
  EXPECT_EQ(to_valid_utf8("a\xFFé\xC3"), "a\uFFFDé\uFFFD");
  EXPECT_EQ(to_valid_utf8(std::string_view("\0", 1)), std::string_view("\0", 1));
}

TEST(Utf8, CutsBetweenCharacters) {
  EXPECT_EQ(utf8_prefix("aé", 3), "aé");
  EXPECT_EQ(utf8_prefix("aé", 2), "a");
  EXPECT_EQ(utf8_prefix("€uro", 2), "");
  EXPECT_EQ(utf8_prefix("abc", 0), "");
  // Not UTF-8 at all: it must still make progress.
  EXPECT_EQ(utf8_prefix("\x80\x80\x80\x80\x80\x80\x80\x80", 6).size(), 3u);
}

}  // namespace
}  // namespace leat
