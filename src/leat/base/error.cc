#include "leat/base/error.h"

#include <array>
#include <cerrno>
#include <cstring>

namespace leat {
namespace {

// One row a code, in the order of the enum.
constexpr std::array<ErrorTraits, kErrorCodeCount> kTraits = {{
    {"not found", ENOENT, 404, "NoSuchKey"},
    {"already exists", EEXIST, 409, "BucketAlreadyExists"},
    {"invalid argument", EINVAL, 400, "InvalidArgument"},
    {"permission denied", EACCES, 403, "AccessDenied"},
    {"precondition failed", EAGAIN, 412, "PreconditionFailed"},
    {"no space", ENOSPC, 507, "InsufficientStorage"},
    {"too large", EFBIG, 413, "EntityTooLarge"},
    {"unsupported", ENOTSUP, 501, "NotImplemented"},
    {"busy", EBUSY, 409, "OperationAborted"},
    {"unavailable", EAGAIN, 503, "SlowDown"},
    {"deadline exceeded", ETIMEDOUT, 504, "RequestTimeout"},
    {"cancelled", ECANCELED, 499, "RequestCancelled"},
    {"corrupted", EIO, 500, "InternalError"},
    {"input/output error", EIO, 500, "InternalError"},
}};

}  // namespace

const ErrorTraits& error_traits(ErrorCode code) noexcept {
  return kTraits[static_cast<std::size_t>(code)];
}

ErrorCode error_code_of_errno(int posix_errno) noexcept {
  switch (posix_errno) {
    case ENOENT:
    case ENOTDIR:
    case ENXIO:
      return ErrorCode::kNotFound;
    case EEXIST:
    case ENOTEMPTY:
      return ErrorCode::kAlreadyExists;
    case EINVAL:
    case ENAMETOOLONG:
    case EISDIR:
    case ELOOP:
    case EXDEV:
    case EILSEQ:
      return ErrorCode::kInvalidArgument;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::kNoSpace;
    case EFBIG:
    case EOVERFLOW:
      return ErrorCode::kTooLarge;
    case ENOTSUP:
    case ENOSYS:
      return ErrorCode::kUnsupported;
    case EBUSY:
    case ETXTBSY:
      return ErrorCode::kBusy;
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
    case EHOSTUNREACH:
    case ENETUNREACH:
      return ErrorCode::kUnavailable;
    case ETIMEDOUT:
      return ErrorCode::kDeadlineExceeded;
    case ECANCELED:
      return ErrorCode::kCancelled;
    default:
      return ErrorCode::kIoError;
  }
}

Error Error::from_errno(int posix_errno, std::string_view what) {
  char buffer[128];
  std::string text(what);
  text += ": ";
  text += strerror_r(posix_errno, buffer, sizeof buffer);
  return Error(error_code_of_errno(posix_errno), std::move(text));
}

}  // namespace leat
