#include "leat/store/write_guard.h"

#include <gtest/gtest.h>

#include <limits>
#include <stop_token>

namespace leat {
namespace {

TEST(WriteGuard, CountsWithoutAnExpectedSize) {
  WriteGuard guard(std::nullopt);
  EXPECT_TRUE(guard.begin_append(3, {}).ok());
  EXPECT_TRUE(guard.begin_append(0, {}).ok());
  EXPECT_TRUE(guard.begin_append(4, {}).ok());
  EXPECT_EQ(guard.size_bytes(), 7u);
  EXPECT_TRUE(guard.begin_commit({}).ok());
}

TEST(WriteGuard, RefusesMoreThanExpectedAndCountsItNot) {
  WriteGuard guard(10);
  EXPECT_TRUE(guard.begin_append(4, {}).ok());
  EXPECT_TRUE(guard.begin_append(7, {}).failed_with(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(guard.begin_append(std::numeric_limits<std::size_t>::max(), {})
                  .failed_with(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(guard.begin_append(6, {}).ok());
  EXPECT_TRUE(guard.begin_commit({}).ok());
}

TEST(WriteGuard, RefusesLessThanExpected) {
  WriteGuard guard(10);
  EXPECT_TRUE(guard.begin_append(9, {}).ok());
  EXPECT_TRUE(guard.begin_commit({}).failed_with(ErrorCode::kInvalidArgument));
}

TEST(WriteGuard, RefusesEverythingAfterCommit) {
  WriteGuard guard(std::nullopt);
  EXPECT_TRUE(guard.begin_commit({}).ok());
  EXPECT_TRUE(guard.begin_append(1, {}).failed_with(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(guard.begin_commit({}).failed_with(ErrorCode::kInvalidArgument));
}

TEST(WriteGuard, NeverCommitsAfterABrokenAppend) {
  WriteGuard guard(std::nullopt);
  EXPECT_TRUE(guard.begin_append(5, {}).ok());
  guard.mark_broken();
  EXPECT_TRUE(guard.begin_append(1, {}).failed_with(ErrorCode::kIoError));
  EXPECT_TRUE(guard.begin_commit({}).failed_with(ErrorCode::kIoError));
}

TEST(WriteGuard, ACancelledCallMayBeMadeAgain) {
  std::stop_source source;
  source.request_stop();
  const Context cancelled = Context().with_cancellation(source.get_token());
  WriteGuard guard(5);
  EXPECT_TRUE(guard.begin_append(5, cancelled).failed_with(ErrorCode::kCancelled));
  EXPECT_TRUE(guard.begin_append(5, {}).ok());
  EXPECT_TRUE(guard.begin_commit(cancelled).failed_with(ErrorCode::kCancelled));
  EXPECT_TRUE(guard.begin_commit({}).ok());
}

}  // namespace
}  // namespace leat
