// S3Request: an HTTP request as S3 understands it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "leat/doors/http/access.h"
#include "leat/doors/http/query.h"
#include "leat/doors/http/s3/address.h"
#include "leat/doors/http/signer.h"
#include "leat/http/request_head.h"

namespace leat::doors::http::s3 {

// A decimal number and nothing else.
std::optional<std::uint32_t> parse_number(std::string_view text);

struct S3Request {
  const leat::http::RequestHead* head = nullptr;
  Address address;
  Query query;
  std::string request_id;
  Signer signer;
  const Access* access = nullptr;  // outlives the request

  // For what an operation touches beyond the address, which was checked before it.
  bool may(Right right, std::string_view bucket, std::string_view name) const {
    return access != nullptr && access->allows(signer.access_key, right, bucket, name);
  }
};

}  // namespace leat::doors::http::s3
