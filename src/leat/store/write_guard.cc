#include "leat/store/write_guard.h"

#include <string>

namespace leat {

Status WriteGuard::check_open(const Context& context) const {
  if (state_ == State::kBroken) {
    return Error(ErrorCode::kIoError, "an earlier append of this writer failed");
  }
  if (state_ == State::kEnded) {
    return Error(ErrorCode::kInvalidArgument, "this writer was committed already");
  }
  return context.check();
}

Status WriteGuard::begin_append(std::size_t count, const Context& context) {
  RETURN_IF_ERROR(check_open(context));
  if (expected_size_bytes_ && count > *expected_size_bytes_ - size_bytes_) {
    return Error(ErrorCode::kInvalidArgument,
                 "more bytes than the expected " + std::to_string(*expected_size_bytes_));
  }
  size_bytes_ += count;
  return ok_status();
}

Status WriteGuard::begin_commit(const Context& context) {
  RETURN_IF_ERROR(check_open(context));
  state_ = State::kEnded;
  if (expected_size_bytes_ && size_bytes_ != *expected_size_bytes_) {
    return Error(ErrorCode::kInvalidArgument, "the object has " + std::to_string(size_bytes_) +
                                                  " bytes, not the expected " +
                                                  std::to_string(*expected_size_bytes_));
  }
  return ok_status();
}

}  // namespace leat
