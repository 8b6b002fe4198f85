// Result<T>: the value of an operation that can fail, or the Error that says why it did.
//
// Every function that can fail for a reason outside the program (I/O, network, quota, bad input)
// returns a Result. Nothing under src/ throws across a function boundary; a broken invariant
// aborts (base/check.h). Member names follow std::expected where they overlap.
#pragma once

#include <cassert>
#include <utility>
#include <variant>

#include "leat/base/error.h"

namespace leat {

template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit on purpose: `return value;` and `return Error(...)` are how functions end.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}               // NOLINT
  Result(Error error) noexcept : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
  Result(ErrorCode code) noexcept : Result(Error(code)) {}                            // NOLINT

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  // REQUIRES: ok().
  T& operator*() & {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  const T& operator*() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  T&& operator*() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  T* operator->() {
    assert(ok());
    return std::get_if<0>(&state_);
  }
  const T* operator->() const {
    assert(ok());
    return std::get_if<0>(&state_);
  }

  // REQUIRES: !ok().
  const Error& error() const& {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    assert(!ok());
    return std::move(*std::get_if<1>(&state_));
  }
  bool failed_with(ErrorCode code) const noexcept { return !ok() && error().code() == code; }

 private:
  std::variant<T, Error> state_;
};

struct Unit {};
using Status = Result<Unit>;  // an operation with nothing to return
inline Status ok_status() {
  return Unit{};
}

}  // namespace leat

// The only two error macros. Both hand the Error to the caller unchanged.
#define LEAT_CONCAT_(a, b) a##b
#define LEAT_CONCAT(a, b) LEAT_CONCAT_(a, b)
#define RETURN_IF_ERROR(expr)                               \
  do {                                                      \
    auto&& status_ = (expr);                                \
    if (!status_.ok()) return ::std::move(status_).error(); \
  } while (false)
#define ASSIGN_OR_RETURN_(result, decl, expr)           \
  auto&& result = (expr);                               \
  if (!result.ok()) return ::std::move(result).error(); \
  decl = *::std::move(result)
#define ASSIGN_OR_RETURN(decl, expr) ASSIGN_OR_RETURN_(LEAT_CONCAT(result_, __LINE__), decl, expr)
