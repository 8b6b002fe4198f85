// ErrorCode and Error: why an operation failed, and what the caller may do about it.
//
// There is one enum for the whole system and one table (error.cc) that maps each code to an errno,
// an HTTP status and an S3 error code, so that every door tells the same story. Add a code here
// only with a row there, and only if a caller would act differently on it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace leat {

enum class ErrorCode : std::uint8_t {
  kNotFound,            // the named thing does not exist
  kAlreadyExists,       // it exists and should not
  kInvalidArgument,     // the request can never succeed as it is
  kPermissionDenied,    // not for this caller
  kPreconditionFailed,  // the object is not in the state that the caller asked for
  kNoSpace,             // disk or quota full
  kTooLarge,            // over a limit of the store
  kUnsupported,         // this store cannot do it (see Capabilities)
  kBusy,                // another process or operation owns it
  kUnavailable,         // the same call may succeed later
  kDeadlineExceeded,    // the Context's deadline passed
  kCancelled,           // the Context was cancelled
  kCorrupted,           // a checksum or a format check failed: the bytes are not served
  kIoError,             // the device or the system said no
};
inline constexpr int kErrorCodeCount = static_cast<int>(ErrorCode::kIoError) + 1;

// How the doors express a code. `name` is stable: it appears in logs, JSON and metrics.
struct ErrorTraits {
  std::string_view name;
  int posix_errno;
  int http_status;
  std::string_view s3_code;
};
const ErrorTraits& error_traits(ErrorCode code) noexcept;

// The code that best describes an errno of the system.
ErrorCode error_code_of_errno(int posix_errno) noexcept;

class Error {
 public:
  // A code alone allocates nothing: a miss is normal on hot paths.
  explicit Error(ErrorCode code) noexcept : code_(code) {}
  Error(ErrorCode code, std::string message)
      : code_(code), message_(std::make_unique<std::string>(std::move(message))) {}

  // Names the failed call and the system's reason: "open /data/x: No such file or directory".
  static Error from_errno(int posix_errno, std::string_view what);

  Error(const Error& other)
      : code_(other.code_),
        message_(other.message_ ? std::make_unique<std::string>(*other.message_) : nullptr) {}
  Error& operator=(const Error& other) {
    if (this != &other) *this = Error(other);
    return *this;
  }
  Error(Error&&) noexcept = default;
  Error& operator=(Error&&) noexcept = default;
  ~Error() = default;

  ErrorCode code() const noexcept { return code_; }
  // What happened; the code's name if nothing more is known.
  std::string_view message() const noexcept {
    return message_ ? std::string_view(*message_) : error_traits(code_).name;
  }

  // Adds what the caller was doing, outermost first: "put train/7: write pack 3: no space".
  Error within(std::string_view context) && {
    std::string text(context);
    text += ": ";
    text += message();
    message_ = std::make_unique<std::string>(std::move(text));
    return std::move(*this);
  }

 private:
  ErrorCode code_;
  std::unique_ptr<std::string> message_;
};

}  // namespace leat
