// S3Error: what S3 clients are told when something fails: a status, a code that they act on, and a
// message for people.
#pragma once

#include <string>
#include <string_view>

#include "leat/base/error.h"
#include "leat/doors/http/application.h"

namespace leat::doors::http::s3 {

struct S3Error {
  int status = 500;
  std::string code = "InternalError";
  std::string message;
};

// By the table of base/error.h.
S3Error s3_error(const Error& error);

// As S3 answers it. A HEAD request gets no body. `resource` is shown to people.
Answer error_answer(const S3Error& error, std::string_view resource, std::string_view request_id);

}  // namespace leat::doors::http::s3
