#include "leat/base/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace leat {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

enum class Mode { kFast, kSafe };

class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() {
    schema_.section("").string("name", &name_, "how this node is called");
    schema_.section("store")
        .size("threshold", &threshold_bytes_, "larger objects are files of their own")
        .duration("timeout", &timeout_, "of one operation")
        .integer("threads", &threads_, 1u, 64u, "that read")
        .boolean("verify", &verify_, "checksums")
        .choice("mode", &mode_, {{"fast", Mode::kFast}, {"safe", Mode::kSafe}}, "of writing");
    schema_.section("store.cache").string_list("drives", &drives_, "directories");
  }

  std::string errors_of(std::string_view text) {
    const Status status = schema_.load(text, "leat.toml");
    if (status.ok()) return "";
    EXPECT_EQ(status.error().code(), ErrorCode::kInvalidArgument);
    return std::string(status.error().message());
  }

  ConfigSchema schema_;
  std::string name_ = "default";
  std::uint64_t threshold_bytes_ = 256 << 10;
  std::chrono::nanoseconds timeout_ = 30s;
  unsigned threads_ = 4;
  bool verify_ = true;
  Mode mode_ = Mode::kSafe;
  std::vector<std::string> drives_ = {"a"};
};

TEST_F(ConfigTest, SetsWhatTheFileSays) {
  EXPECT_EQ(errors_of("name = 'node 1'\n"
                      "[store]\n"
                      "threshold = '64MiB'\n"
                      "timeout = \"1h30m\"\n"
                      "threads = 64\n"
                      "verify = false\n"
                      "mode = 'fast'\n"
                      "cache.drives = ['x', 'y.z']\n"),
            "");
  EXPECT_EQ(name_, "node 1");
  EXPECT_EQ(threshold_bytes_, 64u << 20);
  EXPECT_EQ(timeout_, 90min);
  EXPECT_EQ(threads_, 64u);
  EXPECT_FALSE(verify_);
  EXPECT_EQ(mode_, Mode::kFast);
  EXPECT_EQ(drives_, (std::vector<std::string>{"x", "y.z"}));
}

TEST_F(ConfigTest, WhatIsNotMentionedStays) {
  EXPECT_EQ(errors_of(""), "");
  EXPECT_EQ(errors_of("[store]\n[store.cache]\n# nothing\n"), "");
  EXPECT_EQ(errors_of("[store]\nthreshold = 4096\n"), "");
  EXPECT_EQ(threshold_bytes_, 4096u);
  EXPECT_EQ(timeout_, 30s);
}

TEST_F(ConfigTest, UnknownKeyNamesFileLineAndTheNearest) {
  EXPECT_EQ(errors_of("\n[store]\n\ntreshold = '1MiB'\n"),
            "leat.toml:4: unknown key 'treshold' in [store]; did you mean 'threshold'?");
  EXPECT_EQ(errors_of("[stoer]\nthreads = 1\n"),
            "leat.toml:1: unknown section 'stoer'; did you mean 'store'?");
  EXPECT_EQ(errors_of("[store.cache]\nxyzzy = 1\n"),
            "leat.toml:2: unknown key 'xyzzy' in [store.cache]; known are drives");
  EXPECT_THAT(errors_of("threads = 3\n"),
              HasSubstr("unknown key 'threads'; known are name, store"));
  EXPECT_THAT(errors_of("\"store.cache\" = {drives = []}\n"), HasSubstr("unknown section"));
  EXPECT_THAT(errors_of("\"\" = 1\n"), HasSubstr("unknown key ''"));
}

TEST_F(ConfigTest, WrongTypeOrValueSaysWhatIsExpected) {
  EXPECT_EQ(errors_of("[store]\nthreshold = true\n"),
            "leat.toml:2: 'threshold' in [store] must be a size such as \"64MiB\" or a number of "
            "bytes, not a boolean");
  EXPECT_THAT(errors_of("[store]\nthreshold = -1\n"), HasSubstr("not -1"));
  EXPECT_THAT(errors_of("[store]\nthreshold = 'much'\n"), HasSubstr("not 'much'"));
  EXPECT_THAT(errors_of("[store]\ntimeout = 5\n"), HasSubstr("must be a duration"));
  EXPECT_THAT(errors_of("[store]\nthreads = 65\n"), HasSubstr("an integer from 1 to 64, not 65"));
  EXPECT_THAT(errors_of("[store]\nthreads = 1.5\n"), HasSubstr("not a floating-point number"));
  EXPECT_THAT(errors_of("[store]\nverify = 'yes'\n"), HasSubstr("true or false, not 'yes'"));
  EXPECT_THAT(errors_of("[store]\nmode = 'quick'\n"), HasSubstr("one of \"fast\", \"safe\""));
  EXPECT_THAT(errors_of("[store]\ncache.drives = ['a', 1]\n"), HasSubstr("an array of strings"));
  EXPECT_THAT(errors_of("store = 3\n"), HasSubstr("must be a section [store], not an integer"));
  EXPECT_THAT(errors_of("[[store]]\n"), HasSubstr("must be a section [store], not an array"));
  EXPECT_THAT(errors_of("name = 1979-05-27\n"), HasSubstr("a string, not a date or time"));
}

TEST_F(ConfigTest, AllErrorsComeTogetherAndNothingIsSet) {
  const std::string errors = errors_of(
      "name = 'changed'\n"
      "[store]\n"
      "verify = 1\n"
      "threads = 8\n"
      "tiemout = '1s'\n"
      "[store.cache]\n"
      "drives = 'x'\n");
  EXPECT_THAT(errors, HasSubstr("leat.toml:3: 'verify'"));
  EXPECT_THAT(errors, HasSubstr("\nleat.toml:5: unknown key 'tiemout'"));
  EXPECT_THAT(errors, HasSubstr("\nleat.toml:7: 'drives'"));
  EXPECT_EQ(name_, "default");
  EXPECT_EQ(threads_, 4u);
}

TEST_F(ConfigTest, SyntaxErrorsNameTheLine) {
  EXPECT_THAT(errors_of("name = 'a'\n[store\n"), HasSubstr("leat.toml:2: "));
  EXPECT_THAT(errors_of("name = 'a'\nname = 'b'\n"), HasSubstr("leat.toml:2: "));
  EXPECT_THAT(errors_of("name = 'a'\n# ok\n[st\u00f6re]\nx = 1\n"), HasSubstr("leat.toml:3: "));
  EXPECT_THAT(errors_of("name = 'a'\n[\u00f6]\nx = 1\n"), HasSubstr("leat.toml:2: "));
  EXPECT_THAT(errors_of("name = 'a'\n\n[!]"), HasSubstr("leat.toml:3: "));
  EXPECT_EQ(name_, "default");
}

TEST_F(ConfigTest, HostileFilesAreErrors) {
  std::string dotted = "a";
  for (int i = 0; i < 200'000; ++i) dotted += ".a";
  EXPECT_THAT(errors_of(dotted + " = 1"), HasSubstr("parts"));
  EXPECT_THAT(errors_of("[" + dotted + "]"), HasSubstr("parts"));
  EXPECT_THAT(errors_of("x = [\"\"\"\n\"\"\", {" + dotted + " = 1}]"), HasSubstr("parts"));
  EXPECT_THAT(errors_of("x = [\"\"\"a\\\"\"\"\"\"\", {" + dotted + " = 1}]"), HasSubstr("parts"));
  EXPECT_THAT(errors_of("x = '\\' #\n" + dotted + " = 1"), HasSubstr("parts"));
  EXPECT_NE(errors_of("x = " + std::string(100'000, '[')), "");
  std::string inline_tables = "x = ";
  for (int i = 0; i < 50'000; ++i) inline_tables += "{a=";
  EXPECT_NE(errors_of(inline_tables), "");
  EXPECT_NE(errors_of("\xff\xfe\x00"), "");
  EXPECT_NE(errors_of(std::string(1000, '\0')), "");
}

TEST_F(ConfigTest, MessagesStayShortAndPrintable) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "key" + std::to_string(i) + " = 1\n";
  EXPECT_THAT(errors_of(many), HasSubstr("and 950 more errors"));
  const std::string errors = errors_of("\"" + std::string(100'000, 'x') + "\\n\\u0007\" = 1\n");
  EXPECT_LT(errors.size(), 300u);
  EXPECT_THAT(errors_of("\"a\\u001b[31m\" = 1"), Not(HasSubstr("\x1b")));
}

TEST_F(ConfigTest, CharactersBeyondAsciiStandInStringsAndComments) {
  EXPECT_EQ(errors_of("name = \"\u00e9\" # \u00e9\n"), "");
  EXPECT_EQ(errors_of("name = '''\u00e9\n\u00e9''' # \u00e9\n"), "");
  EXPECT_EQ(name_, "\u00e9\n\u00e9");
  EXPECT_THAT(errors_of("\n\u00e9 = 1\n"), HasSubstr("leat.toml:2: not TOML: a character"));
  EXPECT_THAT(errors_of("name\u02ff = 1\n"), HasSubstr("leat.toml:1: not TOML: a character"));
  EXPECT_EQ(errors_of("name = \"\"\"\\\n  \u00e9\"\"\""), "");
  EXPECT_EQ(name_, "\u00e9");
  EXPECT_THAT(errors_of(std::string_view("na\0me = 1", 9)), HasSubstr("a character"));
  EXPECT_THAT(errors_of("name = 1\"\"\"\"\ufedf#"), HasSubstr("unexpected '\"'"));
}

TEST_F(ConfigTest, DotsInStringsAreNotKeys) {
  std::string hosts = "'10.0.0.1'";
  for (int i = 0; i < 100; ++i) hosts += ", \"10.0.0.1 \\\" \"";
  EXPECT_EQ(errors_of("[store.cache]\ndrives = [" + hosts + "] # ... and so on ................."),
            "");
  EXPECT_EQ(drives_.size(), 101u);
}

TEST_F(ConfigTest, WritesAFileThatItReads) {
  name_ = "quote \" back \\ line\n";
  timeout_ = 1500us;
  const std::string text = schema_.to_toml();
  EXPECT_THAT(text, HasSubstr("# of writing\nmode = \"safe\"\n"));
  EXPECT_THAT(text, HasSubstr("[store]\n"));
  EXPECT_THAT(text, HasSubstr("threshold = \"256KiB\"\n"));
  const std::string name = std::exchange(name_, "");
  timeout_ = 0s;
  drives_.clear();
  EXPECT_EQ(errors_of(text), "");
  EXPECT_EQ(name_, name);
  EXPECT_EQ(timeout_, 1500us);
  EXPECT_EQ(drives_, std::vector<std::string>{"a"});
}

TEST_F(ConfigTest, LoadsFiles) {
  std::string path = ::testing::TempDir() + "leat_config_test_XXXXXX";
  const int descriptor = mkstemp(path.data());
  ASSERT_GE(descriptor, 0);
  const std::string text = "name = 'from file'\n";
  ASSERT_EQ(write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  EXPECT_TRUE(schema_.load_file(path).ok());
  EXPECT_EQ(name_, "from file");
  ASSERT_EQ(ftruncate(descriptor, ConfigSchema::kMaxFileBytes + 1), 0);
  EXPECT_TRUE(schema_.load_file(path).failed_with(ErrorCode::kTooLarge));
  close(descriptor);
  std::remove(path.c_str());
  EXPECT_TRUE(schema_.load_file(path).failed_with(ErrorCode::kNotFound));
  EXPECT_FALSE(schema_.load_file("/").ok());
}

TEST_F(ConfigTest, IntegersOfEveryWidth) {
  std::uint64_t wide = 0;
  std::int8_t narrow = 0;
  ConfigSchema schema;
  schema.section("")
      .integer("wide", &wide, std::uint64_t{0}, std::uint64_t{UINT64_MAX}, "")
      .integer("narrow", &narrow, std::int8_t{-5}, std::int8_t{5}, "");
  EXPECT_TRUE(schema.load("wide = 9223372036854775807\nnarrow = -5", "f").ok());
  EXPECT_EQ(wide, static_cast<std::uint64_t>(INT64_MAX));
  EXPECT_EQ(narrow, -5);
  EXPECT_FALSE(schema.load("narrow = 6", "f").ok());
  EXPECT_FALSE(schema.load("wide = -1", "f").ok());
}

}  // namespace
}  // namespace leat
