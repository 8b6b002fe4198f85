#include "leat/base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace leat {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return Error(ErrorCode::kInvalidArgument, "odd");
  return value / 2;
}

Result<int> quarter(int value) {
  ASSIGN_OR_RETURN(const int first, half(value));
  ASSIGN_OR_RETURN(const int second, half(first));
  return second;
}

Status check_even(int value) {
  RETURN_IF_ERROR(half(value));
  return ok_status();
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 7;
  EXPECT_TRUE(good.ok());
  EXPECT_TRUE(static_cast<bool>(good));
  EXPECT_EQ(*good, 7);
  EXPECT_FALSE(good.failed_with(ErrorCode::kNotFound));
  const Result<int> bad = ErrorCode::kNotFound;
  EXPECT_FALSE(bad.ok());
  EXPECT_TRUE(bad.failed_with(ErrorCode::kNotFound));
  EXPECT_FALSE(bad.failed_with(ErrorCode::kBusy));
}

TEST(Result, MacrosHandTheErrorOn) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(7).error().message(), "odd");
  EXPECT_EQ(quarter(6).error().message(), "odd");
  EXPECT_TRUE(check_even(2).ok());
  EXPECT_TRUE(check_even(3).failed_with(ErrorCode::kInvalidArgument));
}

TEST(Result, CarriesMoveOnlyTypes) {
  Result<std::unique_ptr<std::string>> result = std::make_unique<std::string>("x");
  EXPECT_EQ(result->get()->size(), 1u);
  const std::unique_ptr<std::string> taken = *std::move(result);
  EXPECT_EQ(*taken, "x");
}

// The value type may itself be convertible from an error code.
TEST(Result, AnErrorIsNeverTakenForAValue) {
  const Result<bool> flag = Error(ErrorCode::kBusy);
  EXPECT_FALSE(flag.ok());
  const Result<std::string> text = std::string("value");
  EXPECT_TRUE(text.ok());
}

}  // namespace
}  // namespace leat
