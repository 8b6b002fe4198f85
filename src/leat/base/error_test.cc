#include "leat/base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

namespace leat {
namespace {

TEST(ErrorTable, EveryCodeHasARow) {
  std::set<std::string_view> names;
  for (int i = 0; i < kErrorCodeCount; ++i) {
    const ErrorTraits& traits = error_traits(static_cast<ErrorCode>(i));
    EXPECT_FALSE(traits.name.empty()) << i;
    EXPECT_TRUE(names.insert(traits.name).second) << traits.name;
    EXPECT_GT(traits.posix_errno, 0) << traits.name;
    EXPECT_GE(traits.http_status, 400) << traits.name;
    EXPECT_LT(traits.http_status, 600) << traits.name;
    EXPECT_FALSE(traits.s3_code.empty()) << traits.name;
  }
  EXPECT_EQ(error_traits(ErrorCode::kNotFound).http_status, 404);
  EXPECT_EQ(error_traits(ErrorCode::kIoError).posix_errno, EIO);
}

// What a door tells as an errno must come back as an error that callers treat alike.
TEST(ErrorTable, ErrnoRoundTrips) {
  for (int i = 0; i < kErrorCodeCount; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    const ErrorCode back = error_code_of_errno(error_traits(code).posix_errno);
    switch (code) {
      case ErrorCode::kPreconditionFailed:
        EXPECT_EQ(back, ErrorCode::kUnavailable);  // EAGAIN: look again, then retry
        break;
      case ErrorCode::kCorrupted:
        EXPECT_EQ(back, ErrorCode::kIoError);
        break;
      default:
        EXPECT_EQ(back, code) << error_traits(code).name;
    }
  }
}

TEST(ErrorTable, ErrnosOfTheSystem) {
  EXPECT_EQ(error_code_of_errno(ENOENT), ErrorCode::kNotFound);
  EXPECT_EQ(error_code_of_errno(ENOTDIR), ErrorCode::kNotFound);
  EXPECT_EQ(error_code_of_errno(EDQUOT), ErrorCode::kNoSpace);
  EXPECT_EQ(error_code_of_errno(EROFS), ErrorCode::kPermissionDenied);
  EXPECT_EQ(error_code_of_errno(EMFILE), ErrorCode::kUnavailable);
  EXPECT_EQ(error_code_of_errno(ECONNRESET), ErrorCode::kUnavailable);
  EXPECT_EQ(error_code_of_errno(EIO), ErrorCode::kIoError);
  EXPECT_EQ(error_code_of_errno(0), ErrorCode::kIoError);
  EXPECT_EQ(error_code_of_errno(99'999), ErrorCode::kIoError);
}

TEST(Error, SaysWhatHappened) {
  EXPECT_EQ(Error(ErrorCode::kBusy).message(), error_traits(ErrorCode::kBusy).name);
  const Error error = Error::from_errno(ENOENT, "open /x");
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_TRUE(error.message().starts_with("open /x: "));
  const Error outer = Error(error).within("put train/7");
  EXPECT_EQ(outer.code(), ErrorCode::kNotFound);
  EXPECT_TRUE(outer.message().starts_with("put train/7: open /x: "));
  EXPECT_EQ(Error(ErrorCode::kBusy).within("lock").message(), "lock: busy");
}

TEST(Error, CopiesAreIndependent) {
  Error original(ErrorCode::kNoSpace, "full");
  Error copy = original;
  copy = std::move(copy).within("write");
  EXPECT_EQ(original.message(), "full");
  EXPECT_EQ(copy.message(), "write: full");
  const Error& alias = original;
  original = alias;
  EXPECT_EQ(original.message(), "full");
}

}  // namespace
}  // namespace leat
