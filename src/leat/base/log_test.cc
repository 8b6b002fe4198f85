#include "leat/base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <thread>

#include "leat/base/testing/captured_descriptor.h"

namespace leat {
namespace {

using namespace std::chrono_literals;

class LogTest : public ::testing::Test {
 protected:
  DescriptorLoggerOptions options(LogFormat format = LogFormat::kText) {
    return {.descriptor = captured_.descriptor(), .format = format, .clock = &clock_};
  }

  ManualClock clock_;
  CapturedDescriptor captured_;
};

TEST_F(LogTest, WritesText) {
  DescriptorLogger logger(options());
  logger.warning("drive is full", {{"drive", 3},
                                   {"path", "/a b"},
                                   {"free", std::uint64_t{0}},
                                   {"ratio", 0.5},
                                   {"ok", false},
                                   {"name", std::string("plain")},
                                   {"empty", ""},
                                   {"error", Error(ErrorCode::kBusy)}});
  EXPECT_EQ(captured_.text(),
            "2020-09-13T12:26:40.000000Z warning drive is full drive=3 path=\"/a b\" free=0 "
            "ratio=0.5 ok=false name=plain empty=\"\" error=busy\n");
}

TEST_F(LogTest, WritesJson) {
  DescriptorLogger logger(options(LogFormat::kJson));
  clock_.advance(1234567us);
  logger.error("say \"hi\"", {{"delta", -1},
                              {"big", UINT64_MAX},
                              {"text", "a\\b\n\x01\xFF"},
                              {"ratio", std::numeric_limits<double>::infinity()},
                              {"flag", true}});
  EXPECT_EQ(captured_.text(),
            "{\"time\":\"2020-09-13T12:26:41.234567Z\",\"level\":\"error\","
            "\"message\":\"say \\\"hi\\\"\",\"delta\":-1,\"big\":18446744073709551615,"
            "\"text\":\"a\\\\b\\n\\u0001\uFFFD\",\"ratio\":\"inf\",\"flag\":true}\n");
}

TEST_F(LogTest, ANameCannotForgeALine) {
  DescriptorLogger logger(options());
  logger.info("put\nfake", {{"name", "x\n2020 error forged key=1"}});
  const std::string text = captured_.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_NE(text.find("name=\"x\\n2020 error forged key=1\""), std::string::npos);
}

TEST_F(LogTest, LongValuesAreCut) {
  DescriptorLogger logger(options());
  logger.info("put", {{"name", std::string(1 << 20, 'x')}});
  EXPECT_LT(captured_.text().size(), 1200u);
  EXPECT_NE(captured_.text().find("x\u2026\""), std::string::npos);
}

TEST_F(LogTest, LevelsBelowTheLowestAreSilent) {
  DescriptorLogger logger(options());
  EXPECT_FALSE(logger.enabled(LogLevel::kDebug));
  EXPECT_TRUE(logger.enabled(LogLevel::kInfo));
  logger.debug("nothing");
  EXPECT_EQ(captured_.text(), "");
}

TEST_F(LogTest, RepeatedMessagesAreCutShort) {
  DescriptorLoggerOptions limited = options();
  limited.repeat_limit = 2;
  limited.repeat_window = 10s;
  DescriptorLogger logger(limited);
  for (int i = 0; i < 314; ++i) logger.warning("slow", {{"i", i}});
  logger.info("slow");   // another level is another message
  logger.info("other");  // not affected
  std::string text = captured_.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_EQ(text.find("repeated"), std::string::npos);

  clock_.advance(10s);
  logger.warning("slow");
  text = captured_.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
  EXPECT_NE(text.find("warning slow \u2026 repeated 312 times repeated=312\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("warning slow\n"));
}

TEST_F(LogTest, SaysAtTheEndWhatWasSuppressed) {
  DescriptorLoggerOptions limited = options();
  limited.repeat_limit = 1;
  {
    DescriptorLogger logger(limited);
    for (int i = 0; i < 3; ++i) logger.info("x");
  }
  EXPECT_NE(captured_.text().find("repeated 2 times"), std::string::npos);
}

TEST_F(LogTest, WatchesABoundedNumberOfMessages) {
  DescriptorLoggerOptions limited = options();
  limited.repeat_limit = 1;
  DescriptorLogger logger(limited);
  logger.info("first");
  logger.info("first");
  for (int i = 0; i < 200; ++i) logger.info("message " + std::to_string(i));
  const std::string text = captured_.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 202);
  EXPECT_NE(text.find("first \u2026 repeated 1 times"), std::string::npos);
}

TEST_F(LogTest, LinesOfThreadsDoNotMix) {
  DescriptorLoggerOptions unlimited = options();
  unlimited.repeat_limit = 0;
  fcntl(captured_.descriptor(), F_SETFL, O_APPEND);
  DescriptorLogger logger(unlimited);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&logger] {
        for (int i = 0; i < 200; ++i) logger.info("same line", {{"key", "value"}});
      });
    }
  }
  const std::string text = captured_.text();
  const std::string line = text.substr(0, text.find('\n') + 1);
  ASSERT_EQ(text.size(), 800 * line.size());
  for (std::size_t i = 0; i < 800; ++i) ASSERT_EQ(text.substr(i * line.size(), line.size()), line);
}

TEST_F(LogTest, AFailedWriteIsCountedAndHarmless) {
  DescriptorLoggerOptions closed = options();
  closed.descriptor = -1;
  DescriptorLogger logger(closed);
  errno = 42;
  logger.info("lost");
  EXPECT_EQ(errno, 42);
  EXPECT_EQ(logger.dropped_lines(), 1u);
}

TEST(NullLogger, IsSilent) {
  EXPECT_FALSE(Logger::null().enabled(LogLevel::kError));
  Logger::null().error("nobody hears", {{"key", 1}});
}

}  // namespace
}  // namespace leat
